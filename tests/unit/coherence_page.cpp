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

An array may be in several memories at once: in the host's, and in those of GPUs. Copies between them are slow, so Ferry
makes one only when somebody reads where the bytes are missing. To know when that is, it keeps one small value for each
part of the array: who holds its current bytes.

This page begins with the host and one device, and with an array that is always used as a whole. Parts and further
devices come after that; they do not change the rule.

## The head

The head is the set of sides that hold the current bytes. There are two sides, so there are four heads. Their names,
and even their numbers, are Caffe's:

| head | who holds the current bytes | value |
| --- | --- | --- |
| `UNINITIALIZED` | nobody: nothing was written, and the array reads as zeros | 0 |
| `HEAD_AT_CPU` | the host alone | 1 |
| `HEAD_AT_GPU` | the device alone | 2 |
| `SYNCED` | both | 3 |

A side counts as a holder as soon as a copy to it is queued, even while the copy is still on its way. The next access
then waits for that copy instead of making another. The head says *whether* bytes move, never *when* they have arrived:
[Order](order.md) is about that.

## The one rule

Whoever asks for a pointer says what it is for. This is the access:

- **read** looks at the bytes: `Read(x)`, and Caffe's `cpu_data()`, `gpu_data()`;
- **read-write** changes some of them, and may look at the old ones: `ReadWrite(x)`, `mutable_cpu_data()`,
  `mutable_gpu_data()`;
- **overwrite** writes every byte and looks at no old one: `Overwrite(x)`, `overwrite_cpu_data()`,
  `overwrite_gpu_data()`.

The head, the side and the access decide what must be done first, and the next head:

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
made a second time never does anything. A read-write costs as much as a read at that moment, but makes the other side
stale, so that the next access there pays for a copy: if you only read, say so.

## Why overwrite exists

Caffe has `mutable_cpu_data()` and nothing weaker. A caller who is about to fill the whole array, with a batch of
images or a matrix product, gets a copy of the old bytes first, or zeros, and then throws them away. Overwrite is the
promise that makes this unnecessary: it moves nothing and zeroes nothing, in every one of its eight rows. The caller
must keep the promise. The bytes that it has not written yet are undefined.

## Spaces: the host and any number of devices

A *space* is where bytes can be: the host, or one device. With several devices the holders are a set of spaces, and the
rule is the same, with "space" in place of "side":

1. Bytes move only when the access needs the old ones and its space lacks them. They are copied from a space that holds
   them, or zeroed where none does.
2. A read adds its space to the holders. A write leaves its space alone in them.

The stream decides on the space: an access on a stream of another device brings the bytes to that device. `Next` takes
sets of spaces. With two spaces such a set is a head, and the table above is that case.

With more spaces, what the table calls *copy* can have more than one source. The nearest one serves:

| source | how |
| --- | --- |
| a space with the same buffer | no copy: a unified device shares the host's |
| a device whose memory the target can read | one copy, on the target's stream |
| the host | one copy |
| any other device | by way of the host, which from then on holds the bytes, too |

If a copy from one source fails, the next source serves. A write makes the bytes stale in all other spaces.

## Parts

Every byte has its own set of holders. Ferry keeps these sets as *runs*: neighbours with the same holders are one run.
An array that is only used as a whole is one run. An access names a range of bytes, or all of them:

- it cuts the runs at the ends of its range, and the rule is applied to each run inside;
- neighbours that lack the bytes and get them from one source come in one copy;
- afterwards, neighbours with equal holders are one run again. A write of the whole array makes it one run.

So an access moves the bytes that are stale in its range, and no others. The table holds for each run by itself.

Bytes that nobody holds are a run like any other. They read as zeros. A new array is such a run, and so is the tail that
`Resize` adds.

`head()` speaks of the whole array. It names the sides that hold every byte that was written; all devices are one side. If neither
side has all, it is `HEAD_AT_GPU`.

## One call, several accesses

A kernel with three operands makes three accesses. It takes all of them or none: first every allocation, copy and wait,
then every change of holders, which cannot fail. Operands that are the same bytes of one array make one joint access: a
read beside an overwrite is a read-write. Were they taken one by one, the overwrite would drop the bytes that the read
needs. Operands that overlap in part are refused if one of them is written.

## What the table does not say

- *Memory.* A space gets memory by its first access, for the whole array, whatever the holders; a space that nobody
  asks for costs nothing. `Release` gives a space's memory back. Bytes that it alone holds are copied first, as for a
  read elsewhere; then the space is taken out of all sets.
- *Unified memory.* Where the host and the device share one memory, the holders are the same, but both spaces are one
  buffer and a copy has nothing to do.
- *Errors.* An access that throws takes no space out of the holders. At most it has added some, because copies had been
  started. The access can be made again, and does not copy twice.
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
