// SPDX-License-Identifier: BSD-2-Clause
#include "world.hpp"

#include <algorithm>
#include <cstring>
#include <new>
#include <sstream>
#include <string_view>
#include <utility>

#include "ferry/backend.hpp"
#include "ferry/error.hpp"

namespace ferry::testing {
namespace {

constexpr std::size_t kStreams = 5;
constexpr int kNobodys = 0x77;  // what bytes hold when they are given back

void* Ask(SyncedMemory& memory, Verb verb, Side side, const Stream& on) {
  const InFerry in_ferry;
  const bool host = side == Side::kCpu;
  if (verb == Verb::kRead) return const_cast<void*>(host ? memory.cpu_data() : memory.gpu_data(on));
  if (verb == Verb::kReadWrite) return host ? memory.mutable_cpu_data() : memory.mutable_gpu_data(on);
  return host ? memory.overwrite_cpu_data() : memory.overwrite_gpu_data(on);
}

bool LostASide(Head before, Head after) {
  return (static_cast<unsigned>(before) & ~static_cast<unsigned>(after)) != 0;
}

}  // namespace

std::unique_ptr<Device> MakeSim(bool stacked) {
  if (stacked) return MakeDevice("sim");
  const auto backends = Backends();
  return std::find_if(backends.begin(), backends.end(),
                      [](const Backend& backend) { return backend.name == std::string_view("sim"); })
      ->make(0);
}

std::string Complaint() {
  sim::Drain();
  const sim::Report report = sim::Inspect();
  for (const auto* list : {&report.misuse, &report.kernel_errors, &report.leaks})
    if (!list->empty()) return list->front();
  return {};
}

void Model::Resize(std::size_t next) {
  for (std::size_t i = size; i < next; ++i) bytes[i] = 0;
  size = next;
}
void Model::Write(Verb verb, std::uint8_t version) {
  const bool all = verb != Verb::kReadWrite;
  for (std::size_t i = all ? 0 : version % 2; i < size; i += all ? 1 : 2) bytes[i] = version;
}

World::World(const Options& options) : options_(options) {
  sim::Reset(options.machine);
  device_ = std::make_unique<Watch>(options.make(options.stacked));
  streams_.push_back(Stream::Main(*device_));
  Apply({Verb::kNewStream});
  slots_.resize(options.memories);
  for (Slot& slot : slots_) Renew(slot, Model::kCapacity);
}
World::~World() { Finish(); }

void World::Wrong(std::string what) {
  if (wrong_.empty()) wrong_ = std::move(what);
}

/// A fault strikes once, so that the second time is good.
void World::Apply(const Step& step) {
  const auto head = [&] {
    return slots_.empty() ? Head{} : slots_[step.memory % slots_.size()].memory->head();
  };
  const Head before = head();
  try {
    return Try(step);
  } catch (const Error&) {
  } catch (const std::bad_alloc&) {
  }
  // An Assign may cost both sides that of the gpu, and where there is but one buffer, its bytes.
  const bool assigns = step.verb == Verb::kAssign;
  const bool mixed = !slots_.empty() && slots_[step.memory % slots_.size()].mixed;
  const bool may_lose = mixed || (assigns && before == Head::SYNCED && head() == Head::HEAD_AT_CPU);
  if (LostASide(before, head()) && !may_lose) Wrong("a failed access took a side away");
  const bool spoilt = assigns && (head() == Head::HEAD_AT_GPU || device_->properties().unified);
  if (options_.again || spoilt) Try(step);
}

void World::Try(const Step& step) {
  switch (step.verb) {
    case Verb::kNewStream:
      if (streams_.size() < kStreams) streams_.push_back(NewStream());
      return;
    case Verb::kDropStream:
      if (const auto at = step.stream % streams_.size(); at != 0) {
        const InFerry in_ferry;
        streams_.erase(streams_.begin() + static_cast<std::ptrdiff_t>(at));
      }
      return;
    default:
      break;
  }
  Slot& slot = slots_[step.memory % slots_.size()];
  switch (step.verb) {
    case Verb::kPrefetch: {
      const InFerry in_ferry;
      return slot.memory->Prefetch(step.side, stream(step.stream));
    }
    case Verb::kResize: {
      Flush(slot);
      const std::size_t size = step.amount % (slot.memory->capacity() + 1);
      slot.mixed |= size > slot.model.size;
      slot.memory->Resize(size);
      return slot.model.Resize(size);
    }
    case Verb::kAdopt:
      return Adopt(step, slot);
    case Verb::kAssign:
      return Assign(step, slot);
    case Verb::kRenew:
      return Renew(slot, step.amount % (Model::kCapacity + 1));
    default:
      return Access(step, slot);
  }
}

Stream World::NewStream() {
  const InFerry in_ferry;
  return Stream(*device_);
}

void World::Access(const Step& step, Slot& slot) {
  const bool reads = step.verb == Verb::kRead, host = step.side == Side::kCpu;
  const Stream on = stream(step.stream);
  if (!reads) Flush(slot);
  const long waited = device_->host_waits;
  void* const ptr = Ask(*slot.memory, step.verb, step.side, on);
  if (!host && !slot.adopted && device_->host_waits != waited) Wrong("a gpu access waited on the host");
  if (slot.model.size == 0) return;
  const Model before = slot.model;
  if (!reads) slot.model.Write(step.verb, ++version_);
  auto body = [this, ptr, before, after = slot.model, verb = step.verb] {
    if (verb != Verb::kOverwrite && std::memcmp(ptr, before.bytes.data(), before.size) != 0)
      Wrong("the bytes are not current");
    if (verb != Verb::kRead) std::memcpy(ptr, after.bytes.data(), after.size);
  };
  if (host) return body();
  const Touch touch = reads ? Touch(static_cast<const void*>(ptr)) : Touch(ptr);
  slot.late.emplace_back([on, touch, body = std::move(body)] { sim::Launch(on, {touch}, body); });
  if (!reads || !options_.late_kernels) Flush(slot);
}

void World::Flush(Slot& slot) {
  for (const auto& launch : std::exchange(slot.late, {})) launch();
}

void World::Adopt(const Step& step, Slot& slot) {
  if (slot.model.size == 0) return;
  Flush(slot);
  const bool host = step.side == Side::kCpu, unified = device_->properties().unified;
  const bool pageable = host && step.amount % 2 == 0, gives = step.amount % 4 < 2;
  const Stream on = stream(step.stream);
  auto bytes = pageable ? BringPageable()
                        : Bring(unified ? MemoryKind::kManaged
                                : host  ? MemoryKind::kPinnedHost
                                        : MemoryKind::kDevice,
                                slot.model.size, on);
  void* const ptr = bytes.get();
  Model written = slot.model;
  written.Write(Verb::kOverwrite, ++version_);
  const auto write = [ptr, written] { std::memcpy(ptr, written.bytes.data(), written.size); };
  host || unified ? write() : sim::Launch(on, {ptr}, write);
  auto& lent = slot.lent[host || unified];
  SyncedMemory::Deleter deleter;
  if (gives) deleter = [mine = bytes](void*) mutable { mine.reset(); };
  try {
    const InFerry in_ferry;
    host ? slot.memory->set_cpu_data(ptr, std::move(deleter))
         : slot.memory->set_gpu_data(ptr, on, std::move(deleter));
  } catch (...) {
    sim::Drain();  // they are ours, and about to go
    throw;
  }
  slot.model = written;
  slot.adopted |= host;
  if (gives) bytes.reset();
  lent = std::move(bytes);
}

void World::Assign(const Step& step, Slot& slot) {
  Slot& source = slots_[(step.memory + 1) % slots_.size()];
  if (&source == &slot) return;
  Flush(slot);
  const std::size_t most = std::min(slot.memory->capacity(), source.model.size);
  const std::size_t size = step.amount % (most + 1);
  const bool keeps = step.amount / 64 % 2 == 1;
  slot.mixed |= keeps && size < slot.model.size;
  {
    const InFerry in_ferry;
    slot.memory->Assign(*source.memory, size,
                        keeps ? SyncedMemory::Rest::kKept : SyncedMemory::Rest::kDropped);
  }
  slot.model.size = keeps ? std::max(size, slot.model.size) : size;
  std::copy_n(source.model.bytes.begin(), size, slot.model.bytes.begin());
}

std::shared_ptr<void> World::Bring(MemoryKind kind, std::size_t size, const Stream& on) {
  Device* const device = device_.get();
  return {device->Allocate(kind, size, on.handle()), [=](void* ptr) {
            if (kind != MemoryKind::kDevice) std::memset(ptr, kNobodys, size);
            device->Deallocate(kind, ptr, size, device->properties().main_stream);
          }};
}
std::shared_ptr<void> World::BringPageable() {
  using Bytes = std::array<std::uint8_t, Model::kCapacity>;
  return {new Bytes, [](void* ptr) {
            std::memset(ptr, kNobodys, sizeof(Bytes));
            delete static_cast<Bytes*>(ptr);
          }};
}

void World::Drop(Slot& slot) {
  Flush(slot);
  {
    const InFerry in_ferry;
    slot.memory.reset();
  }
  slot = {};
}

void World::Renew(Slot& slot, std::size_t size) {
  Drop(slot);
  slot.memory = std::make_unique<SyncedMemory>(size, *device_);
  slot.model.size = size;
}

std::string World::Finish() {
  if (device_ == nullptr) return wrong_;
  for (Slot& slot : slots_) Flush(slot);
  for (Slot& slot : slots_) Drop(slot);
  slots_.clear();
  {
    const InFerry in_ferry;
    streams_.clear();
    device_.reset();
  }
  if (auto complaint = Complaint(); !complaint.empty()) Wrong(std::move(complaint));
  return wrong_;
}

std::string Run(const World::Options& options, const std::vector<Step>& steps) {
  World world(options);
  for (const Step& step : steps) world.Apply(step);
  return world.Finish();
}

std::vector<Step> Shrink(const World::Options& options, std::vector<Step> steps) {
  for (std::size_t length = steps.size() / 2; length != 0; length /= 2)
    for (std::size_t at = 0; at + length <= steps.size();) {
      auto fewer = steps;
      const auto first = fewer.begin() + static_cast<std::ptrdiff_t>(at);
      fewer.erase(first, first + static_cast<std::ptrdiff_t>(length));
      if (Run(options, fewer).empty())
        at += length;
      else
        steps = std::move(fewer);
    }
  return steps;
}

std::string Describe(const std::vector<Step>& steps) {
  constexpr const char* kVerbs[] = {"read",  "read-write", "overwrite", "prefetch",   "resize",
                                    "adopt", "assign",     "renew",     "new stream", "drop stream"};
  std::ostringstream text;
  for (const Step& step : steps)
    text << "  " << kVerbs[static_cast<unsigned>(step.verb)] << ' ' << Name(step.side) << ", stream "
         << step.stream << ", memory " << step.memory << ", amount " << step.amount << '\n';
  return text.str();
}

}  // namespace ferry::testing
