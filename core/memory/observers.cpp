// SPDX-License-Identifier: BSD-2-Clause
#include "core/memory/observers.hpp"

#include <atomic>
#include <cstdint>
#include <list>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

#include "core/device/name.hpp"
#include "ferry/detail/told_waits.hpp"
#include "ferry/error.hpp"
#include "ferry/log.hpp"
#include "ferry/synced_memory.hpp"

namespace ferry {
namespace {

struct Attached {
  Attached(std::shared_ptr<Observer> it, Told of, std::uint64_t before)
      : observer(std::move(it)), told(of), number(before) {}

  std::shared_ptr<Observer> observer;
  Told told;
  std::uint64_t number;                ///< of those that came before it, which no other has
  std::atomic<bool> detached = false;  ///< by a thread that is telling, and removes it after that
};

/// Held shared while they are told, so that one that was detached is not called any more. Never destroyed: a
/// global memory may be accessed until the very end.
struct Observers {
  std::shared_mutex mutex;
  std::list<Attached> list;
  /// Of those in the list, how many are told so, and how many of each access; counted before they arrive.
  std::atomic<int> from_start = 0, of_each_access = 0, of_each_write = 0;
  std::atomic<std::uint64_t> arrivals = 0;
};
Observers& observers() {
  static auto* const instance = new Observers;
  return *instance;
}

constinit std::atomic<bool> environment_asked{false};

/// Of a thread: how many calls of observers it is in, each within another, and whether one was detached
/// meanwhile. Until it is out of them, it has the lock.
struct Calls {
  int depth;
  bool detached;
};
thread_local constinit Calls calls{};

/// Under the lock. Before the first record, the environment may name somebody.
void ForgetWaitsIfUnwatched() noexcept {
  if (environment_asked && observers().list.empty()) detail::tell_of_waits = nullptr;
}

[[gnu::cold]] void Count(Told told, int by) noexcept {
  if (told == Told::kFromStart) observers().from_start += by;
  if (told != Told::kOfWork) observers().of_each_access += by;
  if (told == Told::kEachWrite) observers().of_each_write += by;
}

/// Removes those that are detached.
void Remove() noexcept {
  std::list<Attached> gone;  // ends without the lock
  const std::lock_guard lock(observers().mutex);
  auto& list = observers().list;
  for (auto one = list.begin(); one != list.end();) {
    const auto at = one++;
    if (!at->detached) continue;
    gone.splice(gone.end(), list, at);
    Count(at->told, -1);
    --detail::watchers;
  }
  ForgetWaitsIfUnwatched();
}

/// While a thread tells. Removes those that it detached, once it is out of all its calls.
class Telling {
 public:
  Telling() noexcept { ++calls.depth; }
  ~Telling() {
    if (--calls.depth == 0 && std::exchange(calls.detached, false)) Remove();
  }
  Telling(const Telling&) = delete;
  Telling& operator=(const Telling&) = delete;
};

void Detach(Attached& one) noexcept {
  one.detached = true;
  calls.detached = true;
}

/// Does nothing if it has been removed already, because it threw.
void MarkDetached(std::uint64_t number) noexcept {
  for (Attached& one : observers().list)
    if (one.number == number) Detach(one);
}

void Detach(std::uint64_t number) noexcept {
  if (calls.depth != 0) return MarkDetached(number);
  const Telling telling;  // before the lock: ends after it
  const std::shared_lock lock(observers().mutex);
  MarkDetached(number);
}

void Warn(std::string_view what) noexcept try {
  Log(LogLevel::kWarning, "an observer of memories threw, and is detached: " + std::string(what));
} catch (const std::bad_alloc&) {
  Log(LogLevel::kWarning, what);
}

/// Has those that the environment names told from the first record on, except for what that itself leads to.
void AskEnvironment() {
  static thread_local bool begins = false;
  if (begins) return;
  begins = true;
  struct Ends {
    ~Ends() { begins = false; }
  } const ends;
  static const bool asked = [] {
    detail::WatchForEnvironment();
    --detail::watchers;
    const std::lock_guard lock(observers().mutex);
    environment_asked = true;
    ForgetWaitsIfUnwatched();
    return true;
  }();
  static_cast<void>(asked);
}
void Begin() {
  if (!environment_asked.load(std::memory_order_acquire)) [[unlikely]]
    AskEnvironment();
}

/// Calls those that `is_told` holds for.
template <class IsTold, class Call>
void CallThose(IsTold is_told, Call call) noexcept try {
  Begin();
  const Telling telling;  // before the lock: ends after it
  Observers& all = observers();
  const std::shared_lock lock(all.mutex);
  for (Attached& one : all.list) try {
      if (is_told(one) && !one.detached) call(*one.observer);
    } catch (const std::exception& error) {
      Detach(one);
      Warn(error.what());
    } catch (...) {
      Detach(one);
      Warn("no std::exception");
    }
} catch (const std::bad_alloc&) {
  // The next record asks the environment again.
}

template <class Record>
void TellAll(const Record& record) noexcept {
  CallThose([](const Attached&) { return true; }, [&](Observer& observer) { observer.On(record); });
}

template <class Call>
void CallFromStart(Call call) noexcept try {
  Begin();
  if (observers().from_start.load(std::memory_order_relaxed) == 0) return;
  CallThose([](const Attached& one) { return one.told == Told::kFromStart; }, call);
} catch (const std::bad_alloc&) {
  // As above.
}

// Not of an observer's own waits, of which it would be told for ever.
void TellSync(const Device& device, const Stream* on, std::array<detail::PointNumber, 2> points,
              const Site& site, std::int64_t waited_ns) noexcept {
  if (calls.depth == 0) TellAll(SyncRecord{&device, on, points, site, waited_ns});
}
void TellPointWait(detail::PointNumber point, const Stream& on) noexcept {
  if (calls.depth == 0) TellAll(PointWaitRecord{point, &on});
}
detail::PointNumber TellPoint(const Stream& on) noexcept {
  if (calls.depth != 0) return 0;
  static constinit std::atomic<detail::PointNumber> points{0};
  const detail::PointNumber number = ++points;
  TellAll(PointRecord{number, &on});
  return number;
}
constexpr detail::TellOfWaits kTellOfWaits{TellSync, TellPointWait, TellPoint};

/// What Told::kOfWork is told of.
bool IsWork(Side side, Access access) noexcept { return side == Side::kGpu && access != Access::kRead; }

void LogRecord(const AccessRecord& record) {
  std::ostringstream line;
  line << "memory " << record.memory;
  if (const std::string& label = record.memory->label(); !label.empty()) line << ' ' << Quoted(label);
  line << ": " << Name(record.before) << ", " << Name(record.side) << ' ' << Name(record.access) << " -> "
       << Name(record.action);
  if (record.bytes != 0) line << ' ' << record.bytes << " bytes";
  line << ", " << Name(record.after) << ", at " << record.site.file() << ':' << record.site.line();
  Log(LogLevel::kTrace, line.str());
}

}  // namespace

// Until the first record, as the environment may name who is to be told.
constinit std::atomic<const detail::TellOfWaits*> detail::tell_of_waits{&kTellOfWaits};

Watch::Watch(std::shared_ptr<Observer> observer, Told told) : observer_(std::move(observer)) {
  if (observer_ == nullptr) throw std::invalid_argument("Watch: the observer is null");
  detail::RequireNotTelling();
  const std::lock_guard lock(observers().mutex);
  detail::tell_of_waits = &kTellOfWaits;
  number_ = observers().arrivals;
  observers().list.emplace_back(observer_, told, number_);
  Count(told, 1);
  ++observers().arrivals;
  ++detail::watchers;
}

Watch::Watch(std::function<void(const AccessRecord&)> on_access)
    : Watch(
          [&]() -> std::shared_ptr<Observer> {
            struct OfAccesses : Observer {
              using Observer::On;
              void On(const AccessRecord& access) override { call(access); }
              std::function<void(const AccessRecord&)> call;
            };
            if (!on_access) return nullptr;
            auto observer = std::make_shared<OfAccesses>();
            observer->call = std::move(on_access);
            return observer;
          }(),
          Told::kOnceDone) {}

Watch::~Watch() { Detach(number_); }

namespace detail {

void RequireNotTelling() {
  if (calls.depth != 0)
    throw std::logic_error(
        "Watch: an observer that is being told of something attaches one, and would wait for itself; attach "
        "it before or after that");
}

std::uint64_t TellBefore(const CopyRecord& copy, std::uint64_t told) {
  Begin();
  const std::uint64_t before = observers().arrivals;  // first: who arrives after this was not asked
  if (observers().from_start == 0) return before;
  const Telling telling;
  const std::shared_lock lock(observers().mutex);
  for (const Attached& one : observers().list)
    if (one.number >= told && one.told == Told::kFromStart && !one.detached) try {
        one.observer->Before(copy);
      } catch (...) {
        throw Refusal{std::current_exception()};
      }
  return observers().arrivals;
}
void TellStart(const CopyRecord& copy) noexcept {
  CallFromStart([&](Observer& observer) { observer.OnStart(copy); });
}
std::uint64_t Tell(const CopyRecord& copy) noexcept {
  std::uint64_t arrivals = 0;
  CallThose([&](const Attached& one) { return arrivals = one.number + 1, true; },
            [&](Observer& observer) { observer.On(copy); });
  return arrivals;
}
void TellFailure(const CopyRecord& copy) noexcept {
  CallFromStart([&](Observer& observer) { observer.OnFailure(copy); });
}
bool IsTold(Side side, Access access) noexcept {
  return IsWork(side, access) || observers().of_each_access.load(std::memory_order_relaxed) != 0 ||
         log_level() == LogLevel::kTrace;
}
bool IsEachWriteTold() noexcept { return observers().of_each_write.load(std::memory_order_relaxed) != 0; }
void Tell(const AccessRecord& access) noexcept {
  if (log_level() == LogLevel::kTrace && !access.in_place) try {
      LogRecord(access);
    } catch (const std::bad_alloc&) {
      // An access does not fail because there is no room for a line about it.
    }
  const bool is_work = IsWork(access.side, access.access);
  const auto is_told = [&](const Attached& one) {
    return access.in_place ? one.told == Told::kEachWrite : is_work || one.told != Told::kOfWork;
  };
  CallThose(is_told, [&](Observer& observer) { observer.On(access); });
}
void Tell(const FillRecord& fill) noexcept { TellAll(fill); }
void Tell(const OutcomeRecord& outcome, std::uint64_t arrivals) noexcept {
  CallThose([=](const Attached& one) { return one.number < arrivals; },
            [&](Observer& observer) { observer.On(outcome); });
}
void Tell(const WaitRecord& wait) noexcept { TellAll(wait); }
void Tell(const StreamWaitRecord& wait) noexcept { TellAll(wait); }
void Tell(const LifeRecord& life) noexcept { TellAll(life); }
void TellStart(const CallRecord& call) noexcept {
  CallFromStart([&](Observer& observer) { observer.OnStart(call); });
}
void Tell(const CallRecord& call) noexcept { TellAll(call); }
void TellFailure(const CallRecord& call) noexcept {
  CallFromStart([&](Observer& observer) { observer.OnFailure(call); });
}

}  // namespace detail
}  // namespace ferry
