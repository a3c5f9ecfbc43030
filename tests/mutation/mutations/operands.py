# SPDX-License-Identifier: BSD-2-Clause
"""Arrays and their parts, what kernels check of their operands, and how a loop runs."""

ARRAY = "include/ferry/array.hpp"
OPERAND = "core/memory/operand.cpp"
ELEMENTWISE = "core/kernels/elementwise.cpp"
PACKS = "core/kernels/packs.hpp"
GPU_LOOP = "include/ferry/detail/kokkos/gpu_loop.hpp"
REDUCE = "core/kernels/reduce.cpp"
GEMM = "core/kernels/gemm.cpp"
PLACE = "core/kernels/kernel_place.cpp"
HOST_LOOP = "include/ferry/detail/kokkos/host_loop.hpp"
RUN = "include/ferry/detail/kokkos/run.hpp"
HOST_REDUCE = "include/ferry/detail/kokkos/reduce.hpp"

MUTATIONS = [
    # Arrays.
    (ARRAY, "|| count > count_ - first) [[unlikely]]", "|| first + count > count_) [[unlikely]]",
     "a slice of a count that wraps lies within its array"),
    (ARRAY, "start = first_ + static_cast<std::size_t>(first) * sizeof(T);", "start = static_cast<std::size_t>(first) * sizeof(T);",
     "a slice of a slice begins at the memory's"),
    (ARRAY, "memory != nullptr && first_ == 0 && memory->size() == part().range.bytes)", "memory != nullptr)",
     "a part of a memory is in place as the whole"),

    # Dims and counts.
    (OPERAND, "    if (dim < 0) refuse(\" have", "    if (false) refuse(\" have", "dims may be negative"),
    (OPERAND, "    if (__builtin_mul_overflow(count, dim, &count)) refuse(", "    if (__builtin_mul_overflow(count, dim, &count) && false) refuse(",
     "dims may be more than can be counted"),
    (OPERAND, "  if (CountOf(\"Operand\", dims) != part.count)\n", "  if (CountOf(\"Operand\", dims) > part.count)\n",
     "an operand may have dims of fewer elements"),
    (OPERAND, "  if (own && part.dims.size() != loop.size()) {\n", "  if (false) {\n", "a loop has views of other dims than the blob"),
    (OPERAND, "  if (!own && part.count != CountOf(call, loop))\n", "  if (!own && part.count < CountOf(call, loop))\n",
     "a loop runs over a part of an array's elements"),
    (OPERAND, "part.dims.data() != nullptr ? part.dims.data() : loop.data();", "loop.data();", "a blob has the loop's dims"),

    # Without elements.
    (OPERAND, "void* Reach(const Part& part, Access access, const Stream* on, const char* file, const char* function,\n            int line) {\n  if (part.count == 0) return nullptr;\n",
     "void* Reach(const Part& part, Access access, const Stream* on, const char* file, const char* function,\n            int line) {\n", "a span of an array without memory asks for it"),
    (OPERAND, "empty(requests[i]) ? nullptr : *next++;", "empty(requests[i]) ? nullptr : *next;", "an operand beside an empty one is another"),

    # Kernels.
    (ELEMENTWISE, "  RequireSameCount(\"Axpy\", {\"x\", x.part()}, {\"y\", y.part()});\n", "", "Axpy goes beyond the shorter array"),
    (ELEMENTWISE, "  RequireSameCount(\"Axpby\", {\"x\", x.part()}, {\"y\", y.part()});\n", "", "Axpby goes beyond the shorter array"),
    (REDUCE, "  RequireSameCount(\"Dot\", {\"x\", x.part()}, {\"y\", y.part()});\n", "", "Dot goes beyond the shorter array"),
    (REDUCE, "  HostWait(place.stream());\n", "", "a sum is taken before its kernel has run"),
    (PACKS, "BeginAtPacks(x...) ? n / kInPack : 0", "n / kInPack", "packs are read where arrays do not begin at one"),
    (PACKS, "BeginAtPacks(x...) ? n / kInPack : 0", "0", "no loop on a GPU is in packs"),
    (PACKS, "std::uintptr_t>(x) | ...)", "std::uintptr_t>(x) & ...)", "packs where one array of several begins at one"),
    (PACKS, "first_ + k * step_ < packs_", "true", "a thread writes behind an array"),
    (PACKS, "i = packs * kInPack + thread;", "i = thread;", "elements in packs are changed twice"),
    (PACKS, "    (held.Store(), ...);\n", "", "packs are computed and lost"),
    (PACKS, "(count + kInPack * kAtOnce - 1)", "count", "the last packs are left out"),
    (GPU_LOOP, "i < n; i += threads", "i < threads; i += threads", "a thread of a loop does one index"),
    (GPU_LOOP, "n / kEach + (n % kEach != 0 ? 1 : 0)", "n / kEach", "a thread has five indices while others have four"),
    (GPU_LOOP, "std::max(std::min(n, at_once), ", "std::max(std::int64_t{1}, ", "short loops leave threads idle"),
    (ELEMENTWISE, "place.side() == Side::kGpu && !onto_itself)", "place.side() == Side::kGpu)",
     "Copy of an array onto itself does not bring it to the place"),
    (GEMM, "  RequireSize(\"a\", a.part(), \"m x k\", m, k);\n", "", "Gemm takes a factor of another size"),
    (GEMM, "  RequireSize(\"c\", c, \"m x n\", m, n);\n", "", "Gemm takes a product of another size"),
    (GEMM, "  RequireApart(\"b\", b.part(), c);\n", "", "Gemm writes over what it reads"),
    (GEMM, "a.memory != c.memory || a.range.bytes == 0 || a.range.first != c.range.first", "a.memory != c.memory || a.range.bytes == 0",
     "Gemm takes no two slices of one array"),
    (GEMM, "  if (sizes.k == 0) return For(", "  if (sizes.k == 0) return;\n  if (sizes.k < 0) return For(",
     "Gemm of no products leaves C as it was"),
    (GEMM, "c[i / n * next + i % n];", "c[i];", "Gemm of no products scales what is between the rows of C"),
    (GEMM, "Operand<T>(c, beta == 0 ? Access::kOverwrite : Access::kReadWrite));", "Operand<T>(c, Access::kOverwrite));",
     "Gemm adds to what it does not read"),
    (PLACE, "  place_ = &cpu_.emplace(Place::Cpu(place.device()));\n", "", "a kernel that the device lacks gets the device's pointers"),

    # Loops on the host.
    (HOST_LOOP, "    for (std::size_t axis = N - 1; axis-- > 0; rest /= dims[axis]) index", "    for (std::size_t axis = N - 1; axis-- > 0; rest /= dims[N - 1]) index",
     "a worker's share of a loop of three dims begins elsewhere"),
    (HOST_LOOP, "const std::int64_t end = std::min(dims[N - 1], begin + (last - first));", "const std::int64_t end = dims[N - 1];",
     "a worker goes on to the end of its row"),
    (HOST_LOOP, "    for (; begin < end; ++begin) local(fixed", "    for (; begin + 1 < end; ++begin) local(fixed", "the last index of a row is left out"),
    (RUN, "      if (n != 0) touches.emplace_back(first, n);\n", "      touches.emplace_back(first, 1);\n", "the simulated GPU is told of the first element"),
    (RUN, "      if (place.side() == Side::kGpu) HostWait(place.stream());\n", "", "a reduction's result is taken before it is there"),
    (RUN, "    if (place.side() == Side::kGpu) HostWait(place.stream());\n    *total", "    *total", "a scan's total is taken before it is there"),
    (HOST_REDUCE, "    reducer.init(*all.total);\n", "", "a reduction begins with what its reducer does not"),
]
