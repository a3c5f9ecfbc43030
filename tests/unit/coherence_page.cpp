// SPDX-License-Identifier: BSD-2-Clause
// Prints docs/explanation/coherence.md, its table from the rows that the rule is tested against. With a file
// as argument, says whether the file is that page.
#include <cstdio>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>

#include "coherence_rows.hpp"

namespace {

using namespace ferry;

constexpr const char* kBefore = R"(# Coherence: where the bytes are

A `SyncedMemory` is one array that may be in two places: in the host's memory and in a GPU's. Copies between the two
are slow, so Ferry makes one only when somebody reads on a side that lacks the bytes. To know when that is, it keeps
one small value, the *head*.

## The head

The head is the set of sides that hold the current bytes. There are two sides, so there are four heads. Their names,
and even their numbers, are Caffe's:

| head | who holds the current bytes | value |
| --- | --- | --- |
| `UNINITIALIZED` | nobody: nothing was written, and the array reads as zeros | 0 |
| `HEAD_AT_CPU` | the CPU alone | 1 |
| `HEAD_AT_GPU` | the GPU alone | 2 |
| `SYNCED` | both | 3 |

A side counts as a holder as soon as a copy to it is queued, even while the copy is still on its way. Whoever comes
next then waits for that copy instead of making another. How waiting works is the subject of order, not of coherence:
the head says *whether* bytes move, never *when* they have arrived.

## The one rule

Whoever asks for a pointer says what it is for. This is the access:

- **read** looks at the bytes: `cpu_data()`, `gpu_data()`;
- **mutable** changes some of them, and may look at the old ones: `mutable_cpu_data()`, `mutable_gpu_data()`;
- **overwrite** writes every byte and looks at no old one: `overwrite_cpu_data()`, `overwrite_gpu_data()`.

From the head, the side and the access follows what must be done first, and the next head:

1. Bytes move only when the access needs the old ones and its side lacks them. They are copied from the other side, or
   zeroed where nobody holds any.
2. A read adds its side to the head. A write leaves its side alone in it.

That is all. `Next` in `ferry/coherence.hpp` is these two sentences, and the table is what they come to.

## All twenty-four cases

| head | side | access | what is done first | next head |
| --- | --- | --- | --- | --- |
)";

constexpr const char* kAfter = R"(
Three things stand out. Only eight of the twenty-four rows need anything done: four zero, four copy. An access that is
made a second time never does anything. And a mutable access costs what a read costs at that moment, but takes the
bytes from the other side, so that the next access over there pays for a copy: who only reads should say so.

## Why overwrite exists

Caffe has `mutable_cpu_data()` and nothing weaker. A caller who is about to fill the whole array, with a batch of
images or a matrix product, gets a copy of the old bytes first, or zeros, and then throws them away. Overwrite is the
promise that makes this unnecessary: it moves nothing and zeroes nothing, in every one of its eight rows. The promise
is the caller's to keep. Until it has written every byte, what it has not written is undefined.

## What the table does not say

- *Memory.* A side gets memory by its first access, whatever the head; a side that nobody asks for costs nothing.
- *Unified memory.* Where the host and the device share one memory, the heads are the same, but both sides are one
  buffer and a copy has nothing to do.
- *Size.* After `Resize` has grown an array, the bytes it added read as zeros on either side, by the same rule: each
  side zeroes its tail when a read or mutable access finds it missing.
- *Errors.* An access that throws takes no side out of the head. At most it has added one, because its copy had been
  started; the access can be made again.
)";

std::string Page() {
  std::ostringstream page;
  page << kBefore;
  for (const testing::Row& row : testing::kRows)
    page << "| `" << Name(row.head) << "` | " << Name(row.side) << " | " << Name(row.access) << " | "
         << Name(row.action) << " | `" << Name(row.next) << "` |\n";
  page << kAfter;
  return page.str();
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) return std::fputs(Page().c_str(), stdout) < 0 ? 1 : 0;
  std::ifstream file(argv[1], std::ios::binary);
  if (std::string(std::istreambuf_iterator<char>(file), {}) == Page()) return 0;
  std::fprintf(stderr, "%s is not the page that the table gives: print it anew with %s > %s\n", argv[1],
               argv[0], argv[1]);
  return 1;
}
