# SPDX-License-Identifier: BSD-2-Clause
"""The device's adaptors."""

POOL = "core/device/pooled_device.cpp"
CHECKED = "core/device/checked_device.cpp"
CHOOSE = "core/device/backend.cpp"
STATISTICS = "core/device/statistics_device.cpp"
REGISTRY = "include/ferry/detail/registry.hpp"
FORWARDING = "core/device/forwarding_device.cpp"

MUTATIONS = [
    # The pool.
    (POOL, "    next().StreamWait(on, taken.block.idle->handle());", "    (void)on;",
     "a block of a stream that may be gone is handed out with work on it"),
    (POOL, "    next().Order({&taken.from, 1}, on);", "    (void)on;", "a block is handed out with another stream's work on it"),
    (POOL, "    if (!ordered) Keep(kind, size, taken->block, taken->from);\n", "", "a block that cannot be waited for is lost"),
    (POOL, "  auto shelf = Find(shelves, on);\n  if (shelf == shelves.end() || !usable(*shelf)) shelf =",
     "  auto shelf =", "a stream waits for another one while it has a block of its own"),
    (POOL, "{ptr, std::make_shared<Event>(Stream::Borrow(next(), on))}", "{ptr, nullptr}",
     "a block freed on a borrowed stream has no point to wait for"),
    (POOL, "  return stream == properties().main_stream || notes_->own.contains(stream);", "  return stream != StreamHandle::kNone;",
     "a borrowed stream is asked when it may be gone"),
    (POOL, "    notes_->own.try_emplace(stream);\n", "    (void)stream;\n", "a free on a stream of our own makes an event"),
    (POOL, "TakeShelf(MemoryKind::kDevice, size, stream)) {", "std::vector<Block>()) {",
     "the blocks of a stream that is gone wait for it"),
    (POOL, "      if (own->second.users != 0) return;\n", "", "a stream ends while another thread orders by it"),
    (POOL, "  if (own->second.ended) return false;\n", "", "the blocks of a stream that ends are taken"),
    (POOL, "    if (taken->from != shelf) LetGo(taken->from);\n", "", "a stream whose block was taken never ends"),
    (POOL, "        if (idle == nullptr) idle = ", "        idle = ", "the end of a stream makes an event for each block"),
    (POOL, "    detail::TrimAsFarAsPossible(*this);\n  }\n  try", "  }\n  try", "memory runs out while blocks lie free"),
    (POOL, "    return AllocateExactly(kind, bytes, on);", "    throw;", "the pool refuses what fits without it"),
    (POOL, "    notes_->exact.insert(ptr);\n", "    (void)ptr;\n", "a block is kept for larger than it is"),
    (POOL, "    const std::lock_guard lock(trimming_);\n", "", "memory runs out while another thread gives it back"),
    (POOL, "  next().Trim();\n", "", "what the pool gives up stays in the vendor's"),
    (POOL, "const bool ordered = OrderBefore(main, {{nullptr, nullptr}, on});", "const bool ordered = true;",
     "blocks are given back with work on them"),
    (POOL, "ordered ? main : on", "main", "a block whose stream is under capture goes back in another's order"),
    (POOL, "    if (!block.idle || OrderBefore(main, {block, on}))\n",
     "    if (!block.idle || OrderBefore(main, {block, on}) || true)\n",
     "a block that cannot be ordered is given back with work on it"),
    (POOL, "    own.emplace(next());\n", "    throw 0;\n", "the host waits for a point of a stream that may be gone"),
    (POOL, "rounded ? ClassOf(bytes).bytes : bytes, users", "bytes, users", "an abandoned block goes back smaller than it is"),

    # Checks and statistics.
    (CHECKED, "if (offset >= it->second.bytes) return std::nullopt;", "if (offset > it->second.bytes) return std::nullopt;",
     "memory right behind a block is taken for a part of it"),
    (CHECKED, "it->second.bytes - offset}", "it->second.bytes}", "a copy may end behind its block"),
    (CHECKED, "known_->streams.erase(stream) != 0", "known_->streams.contains(stream)", "a stream may be destroyed twice"),
    (CHECKED, "  Require(stream < StreamHandle::kHost,", "  Require(stream <= StreamHandle::kNone,",
     "what is no stream passes"),
    (CHECKED, "      if (!SameGpu(other)) owner = Name(other);\n", "", "another device's memory is taken for the device's own"),
    (CHECKED, "      if (!SameGpu(other)) owner", "      owner", "another stack on the same GPU is taken for another GPU"),
    (CHECKED, "    Require(role == Role::kSource, call, its.c_str());\n", "", "a peer's memory is written to"),
    (CHECKED, "    Require(peer, call, (its", "    Require(true, call, (its", "memory of a device that is no peer is copied from"),
    ("core/device/name.hpp", "return SameBackend(device, other) &&", "return",
     "a device of another backend is a peer by its number"),
    (CHECKED, "  ForOthers(ask);\n", "", "an event of another backend is waited for"),
    (CHECKED, "  if (known) return;\n  Require(!released, call", "  Require(!released, call",
     "an event that comes again is taken for the one that was released"),
    (REGISTRY, "    std::erase(devices_, &device);\n", "    (void)device;\n", "a device that is gone is asked"),
    (CHOOSE, "make_unique<CheckedDevice>(std::move(device));",
     "make_unique<StatisticsDevice>(std::make_unique<CheckedDevice>(std::move(device)));",
     "what is refused is counted"),
    (STATISTICS, "  statistics_.live_bytes -= std::min<std::uint64_t>(statistics_.live_bytes, bytes);", "  (void)bytes;", "live bytes never fall"),
    (STATISTICS, "std::min<std::uint64_t>(statistics_.live_bytes, bytes)", "bytes", "what is given back twice leaves more than all live"),

    # No host memory.
    (CHECKED, "    unmake();\n", "    (void)unmake;\n", "what cannot be noted is lost"),
    (POOL, "  GiveBack(kind, size, {&block, 1}, on);\n", "", "a block that cannot be kept is lost"),

    # What they have in common.
    (FORWARDING, "  if (next_ == nullptr)\n", "  if (false)\n", "an adaptor is made around no device"),
]
