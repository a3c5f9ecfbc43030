// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string_view>

#include "ferry/byte_range.hpp"
#include "ferry/coherence.hpp"
#include "ferry/device.hpp"
#include "ferry/site.hpp"

/// What happens to memories, told to whoever wants to know. A record is told on the thread that does what it
/// says. What it points to is there until the observer returns.
namespace ferry {

namespace detail {
enum class StreamId : std::uint64_t;
}
class Stream;
class SyncedMemory;

/// A write that was seen: where, and how its caller asked for the bytes.
struct Write {
  Site site;      ///< of the call
  Access access;  ///< kReadWrite or kOverwrite
};

/// Who has bytes moved.
enum class Purpose : std::uint8_t {
  kAccess,    ///< an access
  kPrefetch,  ///< a Prefetch: nobody accesses the bytes yet
  kRelease    ///< a Release, whose space alone has them
};

/// One of these, if it is of at least one byte:
/// - an access that did not find its bytes in place;
/// - a call that gives a memory bytes, such as set_gpu_data, as an overwrite of the whole;
/// - a Prefetch or a Release that moved or zeroed bytes, as a read.
struct AccessRecord {
  const SyncedMemory* memory;  ///< for its label and its address; it must not be accessed
  ByteRange range;             ///< of the memory
  const Stream* on;            ///< the stream of the access; null for the host
  Side side;                   ///< where the bytes are wanted; may be the host although `on` is a stream
  Access access;               ///< what its caller said
  Purpose purpose;             ///< which of the three it is
  Site site;                   ///< of the call
  Head before;                 ///< of the bytes of the access
  bool in_place;               ///< it was a write that found its bytes so: see Told::kEachWrite
  Action action;               ///< what had to be done
  std::size_t bytes;           ///< moved or zeroed; 0 where nothing was
  Head after;                  ///< of the bytes of the access
  std::optional<Write>
      written;             ///< what took the bytes from where they are wanted, if seen: the largest piece
  std::int64_t waited_ns;  ///< by the host, for bytes and for who used them, in nanoseconds
  /// Of an access by the host, what it gets. Of one by a device that reads and writes, the host's bytes from
  /// before it, if the host had all of them, no copy to it was under way, and the device has a buffer of its
  /// own. Else null. For reading, during the call.
  const void* bytes_on_host;
};

/// One copy on behalf of an access. A run of bytes, so that an access may need several.
struct CopyRecord {
  const SyncedMemory* memory;    ///< as above
  ByteRange range;               ///< of the memory
  const Device* from;            ///< null for the host
  const Device* to;              ///< null for the host
  const Stream* on;              ///< where it is queued
  Side side;                     ///< where the access wants the bytes, be it by way of the host
  Access access;                 ///< of the access that needs it
  Purpose purpose;               ///< of that
  bool pageable;                 ///< the host's bytes are the caller's, and not pinned; Before is told false
  const void* source;            ///< the first byte, where the bytes are the host's; else null
  Site site;                     ///< of the access that needs it
  std::optional<Write> written;  ///< what made it necessary, if it was seen: the write of the largest piece
  std::int64_t took_ns;  ///< once it is queued: the call that queued it, on this thread, in nanoseconds
};

/// Bytes that nobody had became zeros on behalf of an access. A run of bytes, so that an access may need
/// several. They stay zeros where the access fails after that.
struct FillRecord {
  const SyncedMemory* memory;  ///< as above
  ByteRange range;             ///< of the memory
  const Stream* on;            ///< where it is queued; null for the host, which has done it
  Access access;               ///< of the access that needs it
  Purpose purpose;             ///< of that
  Site site;                   ///< of that
  std::int64_t took_ns;        ///< the filling, or the call that queued it; this thread's, in nanoseconds
};

/// What became of bytes that a Prefetch or a Release copied: somebody read one of them there, or all of them
/// were overwritten or given back before that. Two kinds of copies are told as read at once, since nobody can
/// know: those to bytes that the program gave, which it may read without an access, and those made while 64
/// copies of the memory are still unread. Nothing is told where the memory outlives a device.
struct OutcomeRecord {
  const CopyRecord* copy;  ///< its stream and its source may be gone, and are null
  std::string_view label;  ///< of the memory when it was copied
  bool read;               ///< else it was made in vain
};

/// The host waited for work on devices.
struct WaitRecord {
  const SyncedMemory* memory;    ///< as above
  ByteRange range;               ///< of the memory
  Side side;                     ///< of the access that had to wait
  Access access;                 ///< what its caller said
  Site site;                     ///< of its call
  std::optional<Write> written;  ///< the last one to these bytes, if it was seen
  std::int64_t waited_ns;        ///< how long, in nanoseconds
};

/// A stream waits for work of another one that uses the same bytes: before an access, or before a copy or a
/// fill that the access needs. The host does not wait. Where an access has the host wait for something else
/// in between, the same wait may be told again. Not told is what a pool has streams wait for, nor what the
/// end of a block waits for.
struct StreamWaitRecord {
  const SyncedMemory* memory;  ///< as above
  ByteRange range;             ///< of the memory
  const Stream* on;            ///< the stream that waits
  const Device* other;         ///< whose stream it waits for
  /// Stream::id of that one, which may be gone; nobody's after SyncedMemory::Forget.
  detail::StreamId waits_for;
  /// It waits up to one point there: after a copy of these bytes, or after their block was allocated. Else
  /// for all that the other stream was given so far.
  bool for_point;
  Access access;  ///< what the work that waits does with the bytes
  Site site;      ///< of the call
};

/// The program made an Event of a Stream. Not told is one of a bare handle, one of Event::OfCopy, and one
/// that is made in a call of an observer.
struct PointRecord {
  std::uint64_t number;  ///< of the point, by which waits for it are told; no other point has it
  const Stream* on;      ///< all that it was given so far comes before the point
};

/// A stream waits for an Event because the program said so, by Event::StreamWait. The host does not wait.
struct PointWaitRecord {
  /// PointRecord::number, of which an observer that came later was not told; 0 where there was no record.
  std::uint64_t point;
  const Stream* on;  ///< the stream that waits
};

/// The host waited for a device because the program said so, by Stream::Synchronize, Event::HostWait, Elapsed
/// or Overlap::End. Calls of a Device are not told, nor are waits that throw.
struct SyncRecord {
  const Device* device;  ///< whose work it waited for
  const Stream* on;      ///< the stream; null for events
  /// PointRecord::number of the events, one by Event::HostWait, and two by Elapsed; else 0.
  std::array<std::uint64_t, 2> points;
  Site site;               ///< of the call
  std::int64_t waited_ns;  ///< how long, in nanoseconds
};

/// A memory begins or ends, or a block of bytes that it has on the host or on a device, which it has
/// allocated or was given.
struct LifeRecord {
  enum class What : std::uint8_t { kMemory, kBlock };
  const SyncedMemory* memory;  ///< as above
  What what;                   ///< which of the two
  bool begins;                 ///< else it ends
  bool evicted;                ///< a block that Release gives back, while the memory goes on
  bool adopted;                ///< a block of the program's, given by set_cpu_data or its like
  const Device* device;        ///< of a block; null for the host, and for a memory
  const void* first;           ///< of a block, where its device or the host finds it; else null
  std::size_t bytes;           ///< the block's; the memory's capacity then, of it and of adopted blocks
  /// In nanoseconds. Of a block that begins, to allocate it. Of one that a Release gives back, and of a
  /// memory that ends, for all its blocks, the host's wait for who used them; not what a device waits for to
  /// free a block. Else 0.
  std::int64_t took_ns;
  /// Of the constructor, of the access that needs the block, of the call that gave it, or of the Release.
  std::optional<Site> site;
};

/// A call that Ferry runs itself: on a stream its work is queued, on the CPU it is done. Work that a program
/// queues by a pointer is not told.
struct CallRecord {
  enum class Kind : std::uint8_t {
    kKernel,  ///< of typed operands: kernels, loops and launches
    kCopy     ///< within the host or within one device; what changes space is a CopyRecord
  };
  struct Operand {
    const SyncedMemory* memory;  ///< as above
    ByteRange range;             ///< of the memory
    Access access;               ///< what the call does with it
  };
  Kind kind;                          ///< which of the two
  const Stream* on;                   ///< of the work; null for the CPU
  std::span<const Operand> operands;  ///< those that have bytes
  Site site;                          ///< of the call
  bool waits;            ///< the host waited for its result, within took_ns; known when it is over
  std::int64_t took_ns;  ///< when it is over: since it started, on the calling thread, in nanoseconds
};

/// Is told what happens. All calls are made from any thread, several at once, and most of them under the lock
/// of the memory: an observer locks what it keeps, accesses no memory (or waits for itself forever), and
/// attaches nobody. What it waits for itself is not told. One whose On… throws is detached, with a warning in
/// the log.
class Observer {
 public:
  virtual ~Observer() = default;
  /// A copy is about to be queued. An exception refuses it: the access throws that, and loses nothing. Of an
  /// access that needs several, the copies before it stay.
  virtual void Before(const CopyRecord& /*copy*/) {}
  /// The copy is queued next: what its stream has to wait for is queued, and nothing else can refuse it. On
  /// or OnFailure follows unless the watch ends, on the same thread and of the same object.
  virtual void OnStart(const CopyRecord& /*copy*/) {}
  /// The copy was queued.
  virtual void On(const CopyRecord& /*copy*/) {}
  /// The copy that was told as started could not be queued.
  virtual void OnFailure(const CopyRecord& /*copy*/) {}
  /// The call has all its operands; next its work is queued, or done. On or OnFailure follows, as of a copy;
  /// before that may come whole other calls, which the work makes.
  virtual void OnStart(const CallRecord& /*call*/) {}
  virtual void On(const CallRecord& /*call*/) {}         ///< it is over
  virtual void OnFailure(const CallRecord& /*call*/) {}  ///< an exception ended it
  virtual void On(const FillRecord& /*fill*/) {}         ///< it was done, or queued
  virtual void On(const AccessRecord& /*access*/) {}     ///< it was made
  virtual void On(const OutcomeRecord& /*outcome*/) {}   ///< it is certain
  virtual void On(const WaitRecord& /*wait*/) {}         ///< it is over
  virtual void On(const StreamWaitRecord& /*wait*/) {}   ///< it is queued
  virtual void On(const PointRecord& /*point*/) {}       ///< it was made
  virtual void On(const PointWaitRecord& /*wait*/) {}    ///< it is queued
  virtual void On(const SyncRecord& /*sync*/) {}         ///< it is over
  virtual void On(const LifeRecord& /*life*/) {}         ///< it has begun, or ends

 protected:
  Observer() = default;
  Observer(const Observer&) = default;
  Observer& operator=(const Observer&) = default;
};

/// When an observer is told of copies and calls, and of which accesses.
enum class Told : std::uint8_t {
  kFromStart,  ///< Before a copy, which it may refuse; at the start; and when it is over
  kOnceDone,   ///< by On alone, which costs less: it is told of no failure, and can refuse nothing
  /// As kOnceDone, and of accesses for writing that find their bytes in place, once one for writing that did
  /// not has been told of the same memory. While somebody is told so, accesses for writing in place are as
  /// slow as others.
  kEachWrite,
  /// As kOnceDone, and of an access only if a device may write the bytes from now on, or is given them. Of
  /// the others there are the records of the copies, fills and waits that they needed. Costs least.
  kOfWork
};

/// Has an observer told while it lives. Several are told in the order in which they came.
class [[nodiscard]] Watch {
 public:
  /// Throws std::invalid_argument for null, and std::logic_error in a call of an observer.
  explicit Watch(std::shared_ptr<Observer> observer, Told told = Told::kFromStart);
  /// An observer of accesses alone.
  explicit Watch(std::function<void(const AccessRecord&)> on_access);
  /// Returns when no call of the observer is under way. In a call of an observer it returns at once, and the
  /// one that it ends is told nothing more after that call.
  ~Watch();
  Watch(const Watch&) = delete;
  Watch& operator=(const Watch&) = delete;

 private:
  std::shared_ptr<Observer> observer_;
  std::uint64_t number_ = 0;
};

}  // namespace ferry
