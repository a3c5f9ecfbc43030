// SPDX-License-Identifier: BSD-2-Clause
#include "ferry/detail/use_list.hpp"

#include <algorithm>
#include <array>
#include <tuple>
#include <utility>

#include "core/device/name.hpp"
#include "core/memory/runs.hpp"

namespace ferry::detail {
namespace {

EventHandle HandleOf(const Use& use) noexcept { return use.point ? use.point->handle() : EventHandle{}; }

bool IsQuiet(const Uses& uses, Access access) noexcept {
  return access == Access::kRead ? !uses.has_write() : uses.empty();
}

bool Before(const Use& a, const Use& b) noexcept {
  return std::pair(a.on.id(), HandleOf(a)) < std::pair(b.on.id(), HandleOf(b));
}
bool SameWork(const Use& a, const Use& b) noexcept {
  return a.on.id() == b.on.id() && HandleOf(a) == HandleOf(b);
}

/// The write that comes first among the uses, or null.
template <class Uses>
auto Write(Uses& uses) noexcept {
  return uses.empty() || !uses.front().writes ? nullptr : &uses.front();
}
/// Where a stream's read is among the others, or belongs.
template <class Uses>
auto FindRead(Uses& uses, StreamId on) noexcept {
  return std::lower_bound(uses.begin() + (Write(uses) != nullptr ? 1 : 0), uses.end(), on,
                          [](const Use& use, StreamId id) { return use.on.id() < id; });
}
template <class Uses>
auto Read(Uses& uses, StreamId on) noexcept {
  const auto read = FindRead(uses, on);
  return read == uses.end() || read->on.id() != on ? nullptr : &*read;
}

/// See UseList::Readers.
bool IsReader(const Use& use) noexcept { return !use.writes && !use.on.device().properties().unified; }

}  // namespace

bool UseList::Covers(Bytes bytes, Access access, StreamId on) const noexcept {
  return uses_.Each(bytes, [&](Bytes, const Uses& uses) {
    if (access != Access::kRead) return uses.sole() == on;
    if (uses.lazy() == on) return true;
    const Use* const read = Read(uses, on);
    return read != nullptr && !read->point;
  });
}

bool UseList::Quiet(Bytes bytes, Access access) const noexcept {
  return uses_.Each(bytes, [&](Bytes, const Uses& uses) { return IsQuiet(uses, access); });
}
bool UseList::AnyQuiet(Bytes bytes, Access access) const noexcept {
  return !uses_.Each(bytes, [&](Bytes, const Uses& uses) { return !IsQuiet(uses, access); });
}

bool UseList::Unread(Bytes bytes) const noexcept {
  return uses_.Each(bytes,
                    [](Bytes, const Uses& uses) { return std::none_of(uses.begin(), uses.end(), IsReader); });
}

/// visit(use) for those that must come before an access by `on`, once for each piece of work. What has used
/// the bytes since their last write is ordered after it.
template <class Visit>
void UseList::EachBefore(Bytes bytes, Access access, StreamId on, Visit visit) const {
  const auto each = [&](const Uses& uses, auto of) {
    if (access == Access::kRead) {
      const Use* const write = Write(uses);
      if (write != nullptr && write->on.id() != on && Read(uses, on) == nullptr) of(*write);
      return;
    }
    for (const Use& use : uses)
      if (use.on.id() != on) of(use);
  };
  if (bytes.empty()) return;
  if (uses_.whole()) return each(uses_.front(), visit);
  std::vector<const Use*> found;
  uses_.Each(bytes, [&](Bytes, const Uses& uses) {
    each(uses, [&](const Use& use) { found.push_back(&use); });
    return true;
  });
  std::sort(found.begin(), found.end(), [](const Use* a, const Use* b) { return Before(*a, *b); });
  const auto end =
      std::unique(found.begin(), found.end(), [](const Use* a, const Use* b) { return SameWork(*a, *b); });
  std::for_each(found.begin(), end, [&](const Use* use) { visit(*use); });
}

/// Of what must come before the host's access, as much as `concerns` the caller.
template <class Concerns>
std::vector<UseList::Awaited> UseList::Await(Bytes bytes, Access access, Dying& dying,
                                             Concerns concerns) const {
  std::vector<Awaited> awaited;
  EachBefore(bytes, access, StreamId::kHost, [&](const Use& use) {
    if (!concerns(use)) return;
    if (auto point = use.PointAfter(dying))
      awaited.push_back({use.on.id(), use.point.has_value(), serial_, std::move(*point)});
  });
  return awaited;
}

std::vector<UseList::Awaited> UseList::Foreign(Bytes bytes, Access access, const Stream& on,
                                               Dying& dying) const {
  return Await(bytes, access, dying,
               [&](const Use& use) { return !SameBackend(use.on.device(), on.device()); });
}
std::vector<UseList::Awaited> UseList::BeforeHost(Bytes bytes, Access access, Dying& dying) const {
  return Await(bytes, access, dying, [](const Use&) { return true; });
}
std::vector<UseList::Awaited> UseList::Readers(Bytes bytes, Dying& dying) const {
  return Await(bytes, Access::kReadWrite, dying, IsReader);
}

std::vector<UseList::Predecessor> UseList::Predecessors(Bytes bytes, Access access, StreamId on) const {
  std::vector<Predecessor> found;
  EachBefore(bytes, access, on, [&](const Use& use) {
    found.push_back({&use.on.device(), use.on.id(), use.point.has_value()});
  });
  return found;
}

/// Streams without a point are asked for together: one event each is all that it costs then.
bool UseList::Order(Bytes bytes, Access access, const Stream& on, Dying& dying) const {
  std::array<StreamHandle, 8> handles;
  std::array<std::optional<Stream>, 8> streams;  // alive until they have been waited for
  std::size_t count = 0;
  bool waits = false;
  const auto order = [&] {
    if (count != 0) on.device().Order({handles.data(), count}, on.handle());
    for (; count != 0; streams[count].reset()) Dismiss(std::move(*streams[--count]), dying);
  };
  EachBefore(bytes, access, on.id(), [&](const Use& use) {
    waits = true;
    auto stream = use.point ? std::nullopt : use.on.Alive();
    if (!stream || &stream->device() != &on.device()) {
      if (const auto point = stream ? PointOn(*stream) : use.point ? use.point : use.on.LastPoint())
        StreamWait(on, *point);
      if (stream) Dismiss(std::move(*stream), dying);
      return;
    }
    if (count == handles.size()) order();
    handles[count] = stream->handle();
    streams[count++] = std::move(stream);
  });
  order();
  return waits;
}

bool UseList::Prepare(Bytes bytes, Access access, const Stream& on, Dying& dying) {
  const bool waits = Order(bytes, access, on, dying);
  uses_.Isolate(bytes);
  const bool reads = access == Access::kRead;
  uses_.Each(bytes, [&](Bytes, Uses& uses) {
    uses.reserve(reads ? uses.size() + 1 : std::max<std::size_t>(uses.size(), 1));
    return reads;
  });
  return waits;
}

std::uint64_t UseList::Note(Bytes bytes, Access access, const Stream& on, Dying& dying) noexcept {
  const StreamNote note(on);
  if (access != Access::kRead) {
    bool first = true;
    Change(bytes, [&](std::vector<Use>& uses) {
      for (const Use& use : uses) Dismiss(use.on, dying);
      uses.clear();
      if (std::exchange(first, false)) uses.push_back(Use{note, true, std::nullopt, serial_ + 1});
    });
    uses_.Unite(bytes);
    return ++serial_;
  }
  const std::uint64_t again = ++serial_, fresh = ++serial_;
  Change(bytes, [&](std::vector<Use>& uses) {
    Use* use = Write(uses);
    if (use == nullptr || use->on.id() != note.id() || use->point) use = Read(uses, note.id());
    if (use == nullptr) {
      uses.insert(FindRead(uses, note.id()), Use{note, false, std::nullopt, fresh});
    } else {
      use->point.reset();
      use->serial = again;
    }
  });
  return fresh;
}

void UseList::SetPoint(Bytes bytes, std::uint64_t serial, const Event& point) noexcept {
  Change(bytes, [&](std::vector<Use>& uses) {
    for (Use& use : uses)
      if (use.serial == serial) use.point = point;
  });
}

void UseList::SettleMany(Bytes bytes, Dying& dying) noexcept {
  uses_.Join(bytes, [](Uses& left, const Uses& right) {
    const auto same = [](const Use& a, const Use& b) { return SameWork(a, b) && a.writes == b.writes; };
    if (!std::equal(left.begin(), left.end(), right.begin(), right.end(), same)) return false;
    left.Change([from = right.begin()](std::vector<Use>& to) mutable {
      for (Use& use : to) use.serial = std::max(use.serial, from++->serial);
    });
    return true;
  });
  std::size_t most = uses_.runs();
  uses_.Each(bytes, [&](Bytes, const Uses& uses) {
    most = std::max(most, uses.size());
    return true;
  });
  if (most > bound_) Shorten(dying);
}

/// What is over goes; then what one stream's copies did to neighbours becomes one use, up to the last of
/// them.
void UseList::Shorten(Dying& dying) noexcept {
  std::size_t most = 0;
  Change({}, [&](std::vector<Use>& uses) {
    std::erase_if(uses, [&](const Use& use) {
      const bool over = use.point ? use.point->device().Reached(use.point->handle()) : use.on.Over();
      if (over) Dismiss(use.on, dying);
      return over;
    });
    most = std::max(most, uses.size());
  });
  uses_.Join({}, [](Uses& left, const Uses& right) {
    const auto joins = [](const Use& a, const Use& b) {
      return a.on.id() == b.on.id() && a.writes == b.writes && a.point.has_value() == b.point.has_value();
    };
    if (!std::equal(left.begin(), left.end(), right.begin(), right.end(), joins)) return false;
    left.Change([from = right.begin()](std::vector<Use>& to) mutable {
      for (Use& use : to)
        if (const Use& other = *from++; use.serial < other.serial) use = other;
    });
    return true;
  });
  bound_ = 2 * std::max({kFew / 2, uses_.runs(), most});
}

void UseList::Reached(Bytes bytes, const std::vector<Awaited>& awaited, Access access, Dying& dying) {
  const auto reached = [&](const Use& use) {
    return std::any_of(awaited.begin(), awaited.end(), [&](const Awaited& a) {
      if (a.of_copy != use.point.has_value() || a.on != use.on.id()) return false;
      return a.of_copy ? a.point.handle() == use.point->handle() : use.serial <= a.serial;
    });
  };
  uses_.Isolate(bytes);
  Change(bytes, [&](std::vector<Use>& uses) {
    std::erase_if(uses, [&](const Use& use) {
      if (!reached(use) || (access == Access::kRead && !(use.writes && (use.point || use.on.Over()))))
        return false;
      Dismiss(use.on, dying);
      return true;
    });
    if (Use* const write = Write(uses); access == Access::kRead && write != nullptr && reached(*write)) {
      write->writes = false;  // its stream may still get reads, with no word to us
      const auto place = std::lower_bound(uses.begin() + 1, uses.end(), uses.front(), Before);
      std::rotate(uses.begin(), uses.begin() + 1, place);
    }
  });
  Settle(bytes, dying);
}

std::optional<Stream> UseList::Writer(Bytes bytes) const {
  const Use* last = nullptr;
  uses_.Each(bytes, [&](Bytes, const Uses& uses) {
    const Use* const write = Write(uses);
    if (write != nullptr && (last == nullptr || last->serial < write->serial)) last = write;
    return true;
  });
  return last == nullptr ? std::nullopt : last->on.Alive();
}

std::optional<Stream> UseList::Last() const {
  const Use* last = nullptr;
  uses_.Each({}, [&](Bytes, const Uses& uses) {
    for (const Use& use : uses)
      if (last == nullptr || last->serial < use.serial) last = &use;
    return true;
  });
  return last == nullptr ? std::nullopt : last->on.Alive();
}

bool UseList::empty() const noexcept {
  return uses_.Each({}, [](Bytes, const Uses& uses) { return uses.empty(); });
}

bool UseList::Has(StreamId on) const noexcept {
  return !uses_.Each({}, [&](Bytes, const Uses& uses) {
    return std::none_of(uses.begin(), uses.end(), [&](const Use& use) { return use.on.id() == on; });
  });
}

void UseList::Replace(StreamId on, const StreamNote& ended) noexcept {
  Change({}, [&](std::vector<Use>& uses) {
    for (Use& use : uses)
      if (use.on.id() == on) use.on = ended;
    std::sort(uses.begin() + (Write(uses) != nullptr ? 1 : 0), uses.end(), Before);
  });
}

/// Each piece of work once.
std::vector<Use> UseList::All() const {
  std::vector<Use> all;
  EachBefore({}, Access::kReadWrite, StreamId::kHost, [&](const Use& use) { all.push_back(use); });
  return all;
}

}  // namespace ferry::detail
