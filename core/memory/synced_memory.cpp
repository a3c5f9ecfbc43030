// SPDX-License-Identifier: BSD-2-Clause
#include "ferry/synced_memory.hpp"

#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <utility>
#include <vector>

#include "core/device/name.hpp"
#include "core/memory/call.hpp"
#include "core/memory/guard.hpp"
#include "core/memory/records.hpp"
#include "core/memory/writers.hpp"
#include "ferry/detail/kernel_guard.hpp"
#include "ferry/error.hpp"

namespace ferry {

using detail::Arrival;
using detail::Bytes;
using detail::Call;
using detail::Dependent;
using detail::Dependents;
using detail::Dying;
using detail::kDevice;
using detail::kHost;
using detail::Only;

namespace {

const char* NameOfCall(bool host, Access access) {
  constexpr const char* kNames[2][3] = {{"gpu_data", "mutable_gpu_data", "overwrite_gpu_data"},
                                        {"cpu_data", "mutable_cpu_data", "overwrite_cpu_data"}};
  return kNames[host ? 1 : 0][static_cast<unsigned>(access)];
}

/// Apart, since an Arrival is large: who finds the bytes in place needs no room for one.
[[gnu::noinline]] void* Arrive(const SyncedMemory& memory, Bytes bytes, Access access, const Stream* on,
                               const Site& site) {
  Arrival arrival(memory, bytes, access, on, site);
  Call::Perform({&arrival, 1});
  return arrival.ptr;
}

}  // namespace

SyncedMemory::SyncedMemory(std::size_t size, Device& device, std::string label, Site site)
    : ReadyWords(Stream::Main(device).id()),
      device_(device),
      size_(size),
      capacity_(size),
      unified_(device.properties().unified),
      cpu_{&device, MemoryKind::kPinnedHost},
      gpu_{&device, unified_ ? MemoryKind::kManaged : MemoryKind::kDevice} {
  if (!label.empty()) set_label(std::move(label));
  Dependents::Of(gpu_.serial).Add(Dependent::kMemory, device);
  if (detail::Watched()) detail::Records::TellLife(*this, true, 0, site);
}

SyncedMemory::~SyncedMemory() {
  std::int64_t waited_ns = 0;
  if (!Outlives()) {
    if (detail::Watched()) detail::Records::NoteLoss(*this, {});
    AnyBuffer([&](Buffer& buffer) { return waited_ns += GiveBack(buffer), false; });
  } else {
    if (cpu_.guarded) detail::HostGuard::Lose(*this, cpu_.ptr);
    AnyBuffer([](const Buffer& buffer) { return detail::KernelGuard::End(buffer.ptr), false; });
  }
  AnyBuffer([](Buffer& buffer) { return buffer.live.reset(), false; });  // they name the label
  if (label_ != nullptr) Dependents::Of(gpu_.serial).Remove(*label_);
  for (const auto& other : others_) Dependents::Of(other->serial).Remove(Dependent::kMemory);
  Dependents::Of(gpu_.serial).Remove(Dependent::kMemory);
  if (detail::Watched()) detail::Records::TellLife(*this, false, waited_ns, std::nullopt);
}

/// Work of a device that has gone cannot be waited for, so that no buffer can be given back.
bool SyncedMemory::Outlives() const noexcept {
  return AnyBuffer([&](const Buffer& buffer) {
    Dependents& dependents = Dependents::Of(buffer.serial);
    if (!dependents.gone()) return false;
    const detail::LiveNode* block = nullptr;
    AnyBuffer([&](const Buffer& one) {
      if (one.serial == buffer.serial && one.live != nullptr) block = one.live.get();
      return block != nullptr;
    });
    dependents.ReportMemory(label_ != nullptr ? &label_->text : nullptr, size_, block);
    return true;
  });
}

void* SyncedMemory::Reach(const Stream* on, Access access, const char* file, const char* function,
                          int line) const {
  return Reach(on, access, {}, Site::Caller(file, line, function));
}
void* SyncedMemory::Reach(const Stream* on, Access access, ByteRange range, const Site& site) const {
  const auto bytes = detail::Within(size_, range);
  if (!bytes) [[unlikely]]
    FailRange(range, NameOfCall(on == nullptr, access));
  if (void* const ptr = InPlace(access, on, *bytes)) return ptr;
  return Arrive(*this, *bytes, access, on, site);
}

void SyncedMemory::Prefetch(Side side, const Stream& on, ByteRange range, const Site& site) const {
  const auto bytes = detail::Within(size_, range);
  if (!bytes) FailRange(range, "Prefetch");
  Arrival arrival(*this, *bytes, Access::kRead, &on, site);
  if (side == Side::kCpu) arrival.space = kHost;
  arrival.prefetch = true;
  Call::Perform({&arrival, 1});
}

void SyncedMemory::async_gpu_push(const Stream& on, const Site& site) {
  if (head() != HEAD_AT_CPU)
    throw std::logic_error(std::string("SyncedMemory::async_gpu_push: the head") +
                           (label_ ? " of " + Named() : "") + " is " + Name(head()) +
                           ", and must be HEAD_AT_CPU; Prefetch is for any");
  Prefetch(Side::kGpu, on, {}, site);
}

void SyncedMemory::FailRange(ByteRange range, const char* call) const {
  throw std::out_of_range("SyncedMemory::" + std::string(call) + ": " +
                          (range.bytes == ByteRange::kRest ? "all" : std::to_string(range.bytes)) +
                          " bytes from byte " + std::to_string(range.first) + " on of " + Named() +
                          ", which has " + std::to_string(size_));
}

void SyncedMemory::Forget(const Stream& borrowed) {
  const std::lock_guard lock(mutex_);
  const detail::StreamId id = detail::StreamNote(borrowed).id();
  std::vector<std::pair<Buffer*, detail::StreamNote>> ends;  // all, before the first one takes effect
  AnyBuffer([&](Buffer& buffer) {
    if (buffer.uses.Has(id)) ends.emplace_back(&buffer, detail::StreamNote(detail::PointOn(borrowed)));
    return false;
  });
  for (const auto& [buffer, ended] : ends) buffer->uses.Replace(id, ended);
  ForgetReady();
}

Head SyncedMemory::head(ByteRange range) const noexcept {
  const std::lock_guard lock(mutex_);
  const bool rest = range.bytes > Bytes::kEnd - range.first;
  return HeadOf({range.first, rest ? Bytes::kEnd : range.first + range.bytes});
}

Head SyncedMemory::HeadOf(Bytes bytes) const noexcept {
  bool any = false, on_host = true, on_device = true;  // of all that somebody has; devices are one side
  holders_.Each({bytes.first, std::min(bytes.last, std::max<std::size_t>(size_, 1))},
                [&](Bytes, Spaces holders) {
                  if (holders == 0) return true;
                  any = true;
                  on_host &= (holders & Only(kHost)) != 0;
                  on_device &= holders != Only(kHost);
                  return true;
                });
  if (!any) return UNINITIALIZED;
  if (!on_host) return HEAD_AT_GPU;
  return on_device ? SYNCED : HEAD_AT_CPU;
}

void SyncedMemory::set_label(std::string label) {
  SetLabel(std::make_unique<detail::Label>(detail::Label{std::move(label)}));
}
void SyncedMemory::SetLabel(std::unique_ptr<detail::Label> next) noexcept {
  Dependents& dependents = Dependents::Of(gpu_.serial);
  if (label_ != nullptr) dependents.Remove(*label_);
  dependents.Add(*next);
  AnyBuffer([&](Buffer& buffer) {
    if (buffer.live != nullptr) buffer.live->Rename(next.get());
    return false;
  });
  label_ = std::move(next);
}
const std::string& SyncedMemory::label() const noexcept {
  if (const detail::Label* const label = label_.get()) return label->text;
  static const std::string none;
  return none;
}
std::string SyncedMemory::Named() const { return label_ != nullptr ? Quoted(label_->text) : "a memory"; }

void SyncedMemory::RethrowNamed(const Buffer* full) const try {
  throw;
} catch (const StreamCaptureError& error) {
  if (label_ == nullptr) throw;
  throw StreamCaptureError(error, label_->text);
} catch (const DeviceError& error) {
  if (label_ == nullptr) throw;
  throw DeviceError(error, label_->text);
} catch (const OutOfMemory& error) {
  if (full == nullptr) throw;
  using enum detail::LiveList::Where;
  std::optional<OutOfMemory> named;
  try {
    std::string live =
        Dependents::Of(full->serial).live().Text(full->kind == MemoryKind::kPinnedHost ? kOnHost : kOnDevice);
    if (!live.empty()) live.insert(0, "; the largest of what is live there:");
    if (label_ != nullptr || !live.empty()) named.emplace(error, label(), live);
  } catch (const std::bad_alloc&) {  // it goes on as it is then
  }
  if (!named) throw;
  throw OutOfMemory(*named);
}

void SyncedMemory::Resize(std::size_t size) {
  if (size == size_) return;
  RequireRoom(size, "Resize");
  if (size > size_) {
    RequireMutable({}, "a Resize that adds bytes to the end");
    const Bytes added{size_, Bytes::kEnd};
    holders_.Isolate(added);
    ChangeHolders(added, [](Spaces) { return Spaces{0}; });
    if (writers_ != nullptr) detail::Records::NoteZeros(*this, added);
    // What was in place may lack its tail.
    cpu_ready_ = nullptr;
    ForgetReady();
  }
  if (size < size_ && writers_ != nullptr) detail::Records::NoteLoss(*this, {size, Bytes::kEnd});
  size_ = size;
  detail::HostGuard::Refresh(*this, {});
}

void SyncedMemory::PrepareGrowth(std::size_t size) {
  RequireMutable({}, "a Resize that adds bytes to the end");
  holders_.Isolate({size, Bytes::kEnd});
}

void SyncedMemory::Release(Side side, const Site& site) {
  ReleaseSpace(side == Side::kCpu ? kHost : kDevice, site);
}
void SyncedMemory::Release(Device& device, const Site& site) {
  if (const auto space = FindSpace(device)) ReleaseSpace(*space, site);
}

void SyncedMemory::ReleaseSpace(unsigned space, const Site& site) {
  Buffer& here = BufferOf(space);
  const auto shares = [&](unsigned other) { return other != space && &BufferOf(other) == &here; };
  if (here.ptr == nullptr || shares(kHost) || shares(kDevice)) return;
  const Stream main = Stream::Main(DeviceOf(space == kHost ? kDevice : space));
  {
    const std::lock_guard lock(mutex_);
    if (busy_ != 0)
      throw std::logic_error("SyncedMemory::Release: " + Named() +
                             " is an operand of a call that is under way");
  }
  Arrival home(*this, {}, Access::kRead, &main, site);
  home.space = space == kHost ? kDevice : kHost;
  home.prefetch = true;
  home.only_of = SharersOf(space);
  Call::Perform({&home, 1});
  const std::lock_guard lock(mutex_);
  const detail::Stopwatch watch;
  EndUses(here);
  here.uses.Clear();
  const std::int64_t waited_ns = watch.Read();
  ForgetReady();
  if (space == kHost) cpu_ready_ = nullptr;
  if (writers_ != nullptr) detail::Records::NoteLoss(*this, {}, &here);
  GiveBack(here, &site, waited_ns);
  ChangeHolders({}, [gone = home.only_of](Spaces holders) { return holders & ~gone; });
  detail::HostGuard::Refresh(*this, {});
}

void SyncedMemory::RequireRoom(std::size_t size, const char* call) const {
  if (size > capacity_)
    throw std::length_error(std::string("SyncedMemory::") + call + ": " + std::to_string(size) +
                            " bytes in a capacity of " + std::to_string(capacity_) +
                            ", which is the most; make a larger memory");
}

}  // namespace ferry
