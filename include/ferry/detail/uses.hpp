// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "ferry/coherence.hpp"
#include "ferry/detail/stream_note.hpp"

namespace ferry::detail {

/// Work on a stream that uses bytes of a buffer. With no point, it is all that is queued there by the time
/// that somebody must wait for it: the caller's kernels, queued after we handed out the pointer.
struct Use {
  StreamNote on;
  bool writes;
  std::optional<Event> point{};
  std::uint64_t serial = 0;  ///< changes whenever the note comes to stand for more work

  /// The point after the work as it is known by now; nothing where none of it can be left.
  std::optional<Event> PointAfter(Dying& dying) const;
};

/// The uses of one run of bytes: the write, if there is one, then the reads since, by stream.
///
/// The list is behind a pointer: where there are many runs, to look at it is a cache miss. What an access in
/// place asks is kept beside the pointer, and brought up to date after each change.
class Uses {
 public:
  Uses() = default;
  explicit Uses(std::vector<Use> all);
  /// A copy has the room of its original: a run that is cut keeps on both sides what was reserved.
  Uses(const Uses& other);
  Uses(Uses&& other) noexcept : list_(std::move(other.list_)), brief_(std::exchange(other.brief_, {})) {}
  Uses& operator=(Uses&& other) noexcept {
    list_ = std::move(other.list_);
    brief_ = std::exchange(other.brief_, {});
    return *this;
  }
  Uses& operator=(const Uses&) = delete;
  ~Uses() = default;

  std::size_t size() const noexcept { return list_ == nullptr ? 0 : list_->size(); }
  bool empty() const noexcept { return size() == 0; }
  const Use* begin() const noexcept { return list_ == nullptr ? nullptr : list_->data(); }
  const Use* end() const noexcept { return begin() + size(); }
  const Use& front() const noexcept { return *begin(); }

  /// Whether the first one is a write.
  bool has_write() const noexcept { return brief_.write; }
  /// The stream of the first one without a point, or kNone.
  StreamId lazy() const noexcept { return brief_.lazy; }
  /// The same, if it is a write and no other use is there; else kNone.
  StreamId sole() const noexcept { return brief_.write && brief_.alone ? brief_.lazy : StreamId::kNone; }

  /// After it, a Change to at most that many uses does not allocate. Throws std::bad_alloc.
  void reserve(std::size_t count);
  /// change(std::vector<Use>&).
  template <class Changer>
  void Change(Changer change) noexcept {
    std::vector<Use> none;
    change(list_ == nullptr ? none : *list_);
    if (!none.empty()) list_ = std::make_unique<std::vector<Use>>(std::move(none));
    Summarize();
  }

 private:
  struct Brief {
    StreamId lazy = StreamId::kNone;
    bool write = false;  ///< the first one is
    bool alone = false;  ///< there is one
  };
  void Summarize() noexcept;

  std::unique_ptr<std::vector<Use>> list_{};
  Brief brief_{};  ///< of the list
};

}  // namespace ferry::detail
