// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <Kokkos_Core.hpp>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "ferry/detail/kernel_place.hpp"
#include "ferry/detail/kokkos/bound.hpp"
#include "ferry/detail/kokkos/execution_space.hpp"
#include "ferry/detail/kokkos/extents.hpp"
#include "ferry/detail/kokkos/gpu_loop.hpp"
#include "ferry/detail/kokkos/host_loop.hpp"
#include "ferry/detail/kokkos/reduce.hpp"
#include "ferry/detail/stream_note.hpp"
#include "ferry/kokkos_view.hpp"
#include "ferry/operand.hpp"
#include "ferry/place.hpp"

/// How kernels get to where they run.
namespace ferry::detail {

/// Runs host code at a place that has no DeviceSpace: now, or in the order of its stream. touches() are
/// what it uses of the device's memory.
template <class Touches, class Code>
void RunHostCode(const Place& place, const Touches& touches, Code code) {
  const DeviceProperties& device = place.device().properties();
  if (place.side() == Side::kCpu || device.launch == nullptr) return code();
  device.launch(device.index, place.stream().handle(), touches(), std::move(code));
}

inline bool IsOnDeviceSpace(const Place& place) noexcept {
  return place.side() == Side::kGpu && OnDeviceSpace(place.device().properties());
}

/// Before the operands of a kernel are taken: where Kokkos is over they are left alone. Most kernels of the
/// host do without it. Throws as RequireKokkos.
inline void RequireKokkosFor(const Place& place, bool on_host_too = false) {
  if (on_host_too || IsOnDeviceSpace(place)) RequireKokkos(GpuOf(place.device().properties()));
}

/// Runs body(space) on the place's DeviceSpace, or returns false where it has none.
template <class Body>
bool RunOnDeviceSpace(const Place& place, const Body& body) {
  if constexpr (kHasDeviceSpace) {
    if (IsOnDeviceSpace(place)) {
      RequireKokkosFor(place);
      static std::atomic<std::uint64_t> launched_on{0};
      RunOnGpu(place.stream(), launched_on, [&](const DeviceSpace& space) { body(space); });
      return true;
    }
  }
  return false;
}

/// Operands, taken for one kernel, all or none.
template <class... Operands>
class Taken {
 public:
  explicit Taken(const At& at, const Operands&... operands)
      : operands_(operands...),
        call_(at, std::array<Request, sizeof...(Operands)>{operands.request()...}, ptrs_) {}

  /// Where the kernel runs.
  const Place& place() const noexcept { return call_.place(); }
  void* raw(std::size_t number) const noexcept { return ptrs_[number]; }
  template <std::size_t I>
  auto* get() const noexcept {
    return static_cast<typename std::tuple_element_t<I, std::tuple<Operands...>>::Element*>(ptrs_[I]);
  }
  /// See KernelCall.
  void NoteWait() noexcept { call_.NoteWait(); }
  /// What the kernel uses of the device's memory.
  std::vector<Touch> Touches() const {
    std::vector<Touch> touches;
    touches.reserve(ptrs_.size());
    const auto add = [&](auto* first, std::int64_t n) {
      if (n != 0) touches.emplace_back(first, n);
    };
    [&]<std::size_t... I>(std::index_sequence<I...>) { (add(get<I>(), std::get<I>(operands_).count()), ...); }
    (std::index_sequence_for<Operands...>());
    return touches;
  }

 private:
  std::tuple<const Operands&...> operands_;
  std::array<void*, sizeof...(Operands)> ptrs_{};
  KernelCall call_;
};

template <std::size_t N, class Body, std::size_t... I, class... Operands>
BoundTo<N, Body, Operands...> Bind(const Body& body, const std::int64_t (&dims)[N],
                                   std::index_sequence<I...> /*numbers*/, const Taken<Operands...>& taken,
                                   const Operands&... operands) {
  return BoundTo<N, Body, Operands...>(body, MakeArgument(operands, dims, taken.raw(I))...);
}

/// Takes the operands and calls kernel(place, bound, touches), where bound is the body with what it gets for
/// them. Throws before, where an operand does not fit a loop of these dims.
template <std::size_t N, class Body, class Kernel, class... Operands>
void WithOperands([[maybe_unused]] const char* call, const At& at, const Extents<N>& extents,
                  const Body& body, const Kernel& kernel, const Operands&... operands) {
  constexpr bool takes = Kernel::template kTakes<Body, typename ArgumentOf<Operands, N>::Type...>;
  static_assert(
      takes,
      "ferry: the body does not take the indices, then for each operand a pointer or a View, of const "
      "where it reads, and what it adds to");
  if constexpr (takes) {
    (RequireArgument(call, operands, extents.dims), ...);
    if (extents.count == 0) return;
    RequireKokkosFor(at.place(), Kernel::kHostNeedsKokkos);
    Taken<Operands...> taken(at, operands...);
    if (kernel.waits()) taken.NoteWait();
    kernel(taken.place(),
           Bind<N>(body, extents.dims, std::index_sequence_for<Operands...>(), taken, operands...),
           [&] { return taken.Touches(); });
  }
}

/// A loop at a place: what WithOperands calls.
template <std::size_t N, template <class> class Share = ThreadsShare>
struct RunLoop {
  template <class Body, class... Arguments>
  static constexpr bool kTakes = Takes<Body, std::make_index_sequence<N>, Arguments...>::value;

  const Extents<N>& extents;

  static constexpr bool kHostNeedsKokkos = false;
  static constexpr bool waits() noexcept { return false; }
  template <class Functor, class Touches>
  void operator()(const Place& place, const Functor& functor, const Touches& touches) const {
    if (RunOnDeviceSpace(place, LoopOn<Functor, N, Share>{extents, functor})) return;
    EachOf<Functor, N> range{functor, {}};
    for (std::size_t axis = 0; axis < N; ++axis) range.dims[axis] = extents.dims[axis];
    RunHostCode(place, touches, [gpu = GpuOf(place.device().properties()), n = extents.count, range] {
      RunOnHost(gpu, n, range);
    });
  }
};

/// On a device space; returns when the result is there.
template <class Functor, std::size_t N, class Reducer>
struct ReduceOn {
  Extents<N> extents;
  Functor functor;
  Reducer reducer;

  template <class Space>
  void operator()(const Space& space) const {
    using Value = typename Reducer::value_type;
    Kokkos::parallel_reduce(PolicyOn(space, extents.dims),
                            Reducing<Functor, Value, std::make_index_sequence<N>>{functor}, reducer);
  }
};

/// A reduction at a place, with its result for whatever wants it.
template <std::size_t N, class Reducer>
struct RunReduction {
  using Value = typename Reducer::value_type;
  template <class Body, class... Arguments>
  static constexpr bool kTakes = Takes<Body, std::make_index_sequence<N>, Arguments..., Value&>::value;

  const Extents<N>& extents;
  Value& result;

  static constexpr bool kHostNeedsKokkos = false;
  static constexpr bool waits() noexcept { return true; }
  template <class Functor, class Touches>
  void operator()(const Place& place, const Functor& functor, const Touches& touches) const {
    // Shared with the queued work, which still runs if the wait fails.
    const auto value = std::make_shared<Value>();
    if (!RunOnDeviceSpace(place, ReduceOn<Functor, N, Reducer>{extents, functor, Reducer(*value)})) {
      RunHostCode(place, touches,
                  [gpu = GpuOf(place.device().properties()), extents = extents, functor, value] {
                    ReduceOnHost(gpu, functor, extents.dims, extents.count, Reducer(*value));
                  });
      if (place.side() == Side::kGpu) HostWait(place.stream());
    }
    result = *value;
  }
};

template <class Functor, class Value>
struct ScanOn {
  std::int64_t n;
  Functor functor;
  Value* total;  ///< null where nobody wants it, and the call then does not wait

  template <class Space>
  void operator()(const Space& space) const {
    const Scanning<Functor, Value> scanning{functor};
    const std::int64_t dims[] = {n};
    if (total != nullptr)
      Kokkos::parallel_scan(PolicyOn(space, dims), scanning, *total);
    else
      Kokkos::parallel_scan(PolicyOn(space, dims), scanning);
  }
};

template <class Value>
struct RunScan {
  template <class Body, class... Arguments>
  static constexpr bool kTakes = Takes<Body, std::index_sequence<0>, Arguments..., Value&, bool>::value;

  std::int64_t n;
  Value* total;

  static constexpr bool kHostNeedsKokkos = false;
  bool waits() const noexcept { return total != nullptr; }
  template <class Functor, class Touches>
  void operator()(const Place& place, const Functor& functor, const Touches& touches) const {
    if (RunOnDeviceSpace(place, ScanOn<Functor, Value>{n, functor, total})) return;
    const auto value = std::make_shared<Value>();
    RunHostCode(place, touches, [gpu = GpuOf(place.device().properties()), n = n, functor, value] {
      *value = ScanOnHost<Value>(gpu, functor, n);
    });
    if (total == nullptr) return;
    if (place.side() == Side::kGpu) HostWait(place.stream());
    *total = *value;
  }
};

/// A body of Launch, with what it gets for its operands.
template <class Bound>
struct LaunchBody;
template <class Body, std::size_t... K, std::size_t... I, class... Arguments>
struct LaunchBody<BoundBody<Body, std::index_sequence<K...>, std::index_sequence<I...>, Arguments...>> {
  BoundBody<Body, std::index_sequence<K...>, std::index_sequence<I...>, Arguments...> bound;
  template <class Space>
  void operator()(const Space& space) const {
    bound.body(space, static_cast<const Leaf<I, Arguments>&>(bound).value...);
  }
};

struct RunLaunch {
  template <class Body, class... Arguments>
  static constexpr bool kTakes = true;  // as its space may be any

  static constexpr bool kHostNeedsKokkos = true;
  static constexpr bool waits() noexcept { return false; }
  template <class Bound, class Touches>
  void operator()(const Place& place, const Bound& bound, const Touches& touches) const {
    const LaunchBody<Bound> body{bound};
    if (RunOnDeviceSpace(place, body)) return;
    RunHostCode(place, touches, [gpu = GpuOf(place.device().properties()), body] {
      RequireKokkos(gpu);  // what was queued may run after the end
      body(HostSpace());
    });
  }
};

/// The argument that is `kFromEnd` before the last.
template <std::size_t kFromEnd, class All>
auto& FromEnd(const All& all) {
  return std::get<std::tuple_size_v<All> - 1 - kFromEnd>(all);
}

/// That the last argument is something to keep a result in.
template <class All>
constexpr void RequireVariable() {
  using Tuple = std::remove_cvref_t<All>;
  using Last = std::tuple_element_t<std::tuple_size_v<Tuple> - 1, Tuple>;
  static_assert(std::is_lvalue_reference_v<Last>,
                "ferry: the last argument takes the result, which a temporary would lose; give a variable");
}

/// Calls use(all, operands...) for arguments of which the last kTail are no operands; `all` is a tuple of
/// references to each.
template <std::size_t kTail, class Use, class... Arguments>
void Split(const Use& use, Arguments&&... arguments) {
  constexpr std::size_t kOperands = sizeof...(Arguments) >= kTail ? sizeof...(Arguments) - kTail : 0;
  static_assert(sizeof...(Arguments) >= kTail, "ferry: the last argument is the body");
  const auto all = std::forward_as_tuple(std::forward<Arguments>(arguments)...);
  [&]<std::size_t... I>(std::index_sequence<I...>) {
    constexpr bool operands =
        (kIsOperand<std::remove_cvref_t<std::tuple_element_t<I, decltype(all)>>> && ...);
    static_assert(operands, "ferry: what stands before the body is Read(x), ReadWrite(x) or Overwrite(x)");
    if constexpr (operands && sizeof...(Arguments) >= kTail) use(all, std::get<I>(all)...);
  }
  (std::make_index_sequence<kOperands>());
}

}  // namespace ferry::detail
