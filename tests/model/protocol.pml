/* SPDX-License-Identifier: BSD-2-Clause */
/* One array on the host and a device with two streams, used by a thread that makes any ACCESSES accesses: reads and
 * writes of the host and of either stream, with kernels that the caller queues after the access, prefetches, and once
 * bytes of the caller's, which are written outside of all accesses. Work that is queued runs at any time later, each
 * stream's in its order. What an access comes to is coherence.hpp's, in transitions.pml. Which use waits for which
 * other one is core/memory's: UseList, SyncedMemory::Prepare, Transfer and Zero, by the names that they have there.
 *
 * Every read sees the last write, whoever makes it; no byte is written while a copy or a kernel still reads it; and
 * nobody waits for ever. With FAULT, one rule is broken, and one of the three must be seen to fail. */
#include "transitions.pml"

#ifndef ACCESSES
#define ACCESSES 4
#endif
#define NO_FAULT 0
#define READ_SKIPS_COPY 1        /* a read does not wait for the write, such as a copy, on another stream */
#define WRITE_SKIPS_READERS 2    /* the host's write does not wait for what still reads */
#define WRITE_KEEPS_HOLDERS 3    /* after a write the other side still counts as holder */
#define COPY_IS_NO_READ 4        /* a copy is noted where it writes, and not where it reads */
#define ADOPTED_NOT_READ 5       /* an access returns before the caller's bytes have been read */
#define POINT_STAYS 6            /* a kernel behind a copy is not waited for: the copy's point stands for both */
#define POINT_WHEN_IT_RUNS 7     /* a stream waits for what is queued elsewhere when it gets there, not for a point */
#ifndef FAULT
#define FAULT NO_FAULT
#endif

#define HOST 0                   /* the buffers, and by number the sides' bits */
#define DEVICE 1
#define SIDE(buffer) ((buffer) + 1)
#define STREAMS 2
#define NOBODY 9                 /* stands for a stream */
#define LAZY 0                   /* the point of a use that is all its stream has queued */
#define OLD 255                  /* bytes that hold nothing */
#define TORN 254                 /* bytes that are being written */

/* What a stream does: its kinds, with what the two numbers of each are. */
mtype = {
  kCopy,                         /* from a buffer; the version that it must find */
  kFill,
  kKernelReads,                  /* the version that it must find */
  kKernelUpdates,                /* the version that it must find, and the one that it writes */
  kKernelOverwrites,             /* -, the version that it writes */
  kWait                          /* for a stream, up to a point */
}
chan queue[STREAMS] = [10] of {mtype, byte, byte};
byte queued[STREAMS];            /* how much ever was; a point is one of these numbers */
byte done[STREAMS];

byte bytes[2] = OLD;             /* which version of the array a buffer has */
byte last;                       /* the version of the last write; 0: zeros, which nobody wrote */
byte head = UNINITIALIZED;

/* The uses of each buffer: the last write, and each stream's read since. */
byte writer[2] = NOBODY;
byte write_point[2];
bool reads[4];                   /* by USE(buffer, stream) */
byte read_point[4];
#define USE(buffer, stream) (2 * (buffer) + (stream))

bool late[STREAMS];              /* the caller may still read on this stream: its kernel is not queued yet */
bool adopted;                    /* the host's bytes are the caller's */
bool landed;                     /* and a copy was made to them */
bool outside = true;             /* the caller may still use bytes of its own */

inline Queue(stream, kind, a, b) {
  assert(nfull(queue[stream]));
  queue[stream]!kind(a, b);
  queued[stream]++
}

inline StreamWait(waiter, other, point) {
  if
  :: point == LAZY -> Queue(waiter, kWait, other, queued[other])
  :: else -> Queue(waiter, kWait, other, point)
  fi
}

/* UseList::Prepare: `on` waits for the last write on another stream, and before a write for the reads, too. */
inline StreamBefore(buffer, access, on) {
  if
  :: writer[buffer] != NOBODY && writer[buffer] != on &&
     (access != READ || (!reads[USE(buffer, on)] && FAULT != READ_SKIPS_COPY)) ->
     StreamWait(on, writer[buffer], write_point[buffer])
  :: else
  fi;
  if
  :: access != READ && reads[USE(buffer, 1 - on)] -> StreamWait(on, 1 - on, read_point[USE(buffer, 1 - on)])
  :: else
  fi
}

inline ForgetRead(buffer, stream) {
  reads[USE(buffer, stream)] = false; read_point[USE(buffer, stream)] = 0
}

/* UseList::Note; `point` is that of a copy, or LAZY. */
inline Note(buffer, access, on, point) {
  if
  :: access != READ ->
     ForgetRead(buffer, 0); ForgetRead(buffer, 1);
     writer[buffer] = on; write_point[buffer] = point
  :: access == READ && writer[buffer] == on && (write_point[buffer] == LAZY || FAULT == POINT_STAYS)
  :: access == READ && !(writer[buffer] == on && (write_point[buffer] == LAZY || FAULT == POINT_STAYS)) ->
     read_point[USE(buffer, on)] = (reads[USE(buffer, on)] -> LAZY : point);
     reads[USE(buffer, on)] = true
  fi
}

inline Reach(stream, point) {
  target = (point == LAZY -> queued[stream] : point);
  done[stream] >= target;
  target = 0
}

/* The host waits for the streams that read, and forgets them: UseList::Readers, Reached. */
inline HostAfterReaders(buffer) {
  if
  :: reads[USE(buffer, 0)] -> Reach(0, read_point[USE(buffer, 0)]); ForgetRead(buffer, 0)
  :: else
  fi;
  if
  :: reads[USE(buffer, 1)] -> Reach(1, read_point[USE(buffer, 1)]); ForgetRead(buffer, 1)
  :: else
  fi
}

/* UseList::BeforeHost, Reached. A write that the host has waited for is a read from then on if its stream may get
 * reads that nobody tells of. */
inline HostBefore(buffer, access) {
  if
  :: writer[buffer] != NOBODY ->
     Reach(writer[buffer], write_point[buffer]);
     if
     :: access == READ && write_point[buffer] == LAZY ->
        reads[USE(buffer, writer[buffer])] = true; read_point[USE(buffer, writer[buffer])] = LAZY
     :: else
     fi;
     writer[buffer] = NOBODY; write_point[buffer] = 0
  :: else
  fi;
  if
  :: access != READ && FAULT != WRITE_SKIPS_READERS -> HostAfterReaders(buffer)
  :: access != READ && FAULT == WRITE_SKIPS_READERS ->
     ForgetRead(buffer, 0); ForgetRead(buffer, 1)
  :: else
  fi
}

/* SyncedMemory::Transfer: one stream's read of the one buffer and overwrite of the other. */
inline Transfer(from, to, on) {
  StreamBefore(from, READ, on);
  StreamBefore(to, OVERWRITE, on);
  Queue(on, kCopy, from, last);
  if
  :: FAULT != COPY_IS_NO_READ -> Note(from, READ, on, queued[on])
  :: else
  fi;
  Note(to, OVERWRITE, on, queued[on]);
  if
  :: to == HOST -> landed = true
  :: else
  fi
}

inline Follow(side, access) {
  head = (FAULT == WRITE_KEEPS_HOLDERS && access != READ -> head | next : next);
  action = 0; next = 0
}

/* Readers queue their work as late as the next access that is not const. */
inline QueueLate(stream) {
  if
  :: late[stream] -> Queue(stream, kKernelReads, last, 0); late[stream] = false
  :: else
  fi
}
inline QueueAllLate(access) {
  if
  :: access != READ -> QueueLate(0); QueueLate(1)
  :: else
  fi
}

/* cpu_data and the like. A copy to the host joins the last writer's stream; the main stream is the first one. */
inline AccessHost(access) {
  QueueAllLate(access);
  Next(head, CPU, access, action, next);
  if
  :: action == COPY ->
     on = (writer[DEVICE] == NOBODY -> 0 : writer[DEVICE]);
     Transfer(DEVICE, HOST, on)
  :: action == ZERO -> HostBefore(HOST, READ_WRITE); bytes[HOST] = 0
  :: action == NOTHING
  fi;
  HostBefore(HOST, access);
  assert(access == OVERWRITE || bytes[HOST] == last);
  if
  :: access != READ -> last++; bytes[HOST] = last
  :: else
  fi;
  Follow(CPU, access)
}

/* gpu_data and the like, and the caller's kernel. */
inline AccessDevice(access, on) {
  QueueAllLate(access);
  Next(head, GPU, access, action, next);
  if
  :: action == COPY -> Transfer(HOST, DEVICE, on)
  :: action == ZERO -> StreamBefore(DEVICE, READ_WRITE, on); Note(DEVICE, READ_WRITE, on, LAZY); Queue(on, kFill, 0, 0)
  :: action == NOTHING
  fi;
  if
  :: adopted && FAULT != ADOPTED_NOT_READ -> HostAfterReaders(HOST)
  :: else
  fi;
  StreamBefore(DEVICE, access, on);
  Note(DEVICE, access, on, LAZY);
  Follow(GPU, access);
  if
  :: access == READ -> late[on] = true
  :: access == READ_WRITE -> Queue(on, kKernelUpdates, last, last + 1); last++
  :: access == OVERWRITE -> last++; Queue(on, kKernelOverwrites, 0, last)
  fi
}

/* Prefetch: what a read would need is started, and nobody waits. */
inline Prefetch(side, on) {
  Next(head, side, READ, action, next);
  if
  :: action == COPY -> Transfer(2 - side, side - 1, on); Follow(side, READ)
  :: else -> action = 0; next = 0
  fi
}

/* set_cpu_data, with bytes that the caller has written. */
inline Adopt() {
  QueueAllLate(OVERWRITE);
  HostBefore(HOST, OVERWRITE);
  last++;
  bytes[HOST] = last;
  head = CPU;
  outside = false; adopted = true; landed = false
}

/* The caller uses its bytes for something else once the device alone has the array: they have been read. */
inline WriteOutside() {
  bytes[HOST] = OLD;
  adopted = false
}

/* Any access, drawn: of either side, for anything, on either stream. */
active proctype Caller() {
  byte made, side, access, on, action, next, target;
  do
  :: made < ACCESSES ->
     atomic {
       made++;
       if
       :: side = CPU
       :: side = GPU
       fi;
       select(on: 0 .. STREAMS - 1);
       select(access: READ .. OVERWRITE);
       if
       :: side == CPU -> AccessHost(access)
       :: side == GPU -> AccessDevice(access, on)
       :: access == READ -> Prefetch(side, on)
       :: outside && side == CPU -> Adopt()
       fi;
       side = 0; access = 0; on = 0
     }
  :: atomic { late[0] -> QueueLate(0) }
  :: atomic { late[1] -> QueueLate(1) }
  :: atomic { adopted && !landed && head == GPU -> WriteOutside() }
  :: made == ACCESSES -> break
  od;
  atomic { QueueLate(0); QueueLate(1) }
  done[0] == queued[0] && done[1] == queued[1];
  assert((head & SIDE(HOST)) == 0 || bytes[HOST] == last);
  assert((head & SIDE(DEVICE)) == 0 || bytes[DEVICE] == last)
}

/* A write takes two steps: whoever reads in between finds torn bytes. */
active [STREAMS] proctype Worker() {
  byte me = _pid - 1, a, b;
  mtype kind;
end:
  do
  :: atomic { queue[me]?kind(a, b);
       if
       :: kind == kCopy -> assert(bytes[a] == b); bytes[1 - a] = TORN
       :: kind == kFill -> bytes[DEVICE] = TORN
       :: kind == kKernelReads -> assert(bytes[DEVICE] == a)
       :: kind == kKernelUpdates -> assert(bytes[DEVICE] == a); bytes[DEVICE] = TORN
       :: kind == kKernelOverwrites -> bytes[DEVICE] = TORN
       :: kind == kWait
       fi
     }
     atomic {
       if
       :: kind == kCopy -> assert(bytes[a] == b && bytes[1 - a] == TORN); bytes[1 - a] = b
       :: kind == kFill -> bytes[DEVICE] = 0
       :: kind == kKernelReads
       :: kind == kKernelUpdates || kind == kKernelOverwrites -> bytes[DEVICE] = b
       :: kind == kWait && FAULT != POINT_WHEN_IT_RUNS -> done[a] >= b
       :: kind == kWait && FAULT == POINT_WHEN_IT_RUNS -> done[a] == queued[a]
       fi;
       done[me]++;
       a = 0; b = 0; kind = 0
     }
  od
}
