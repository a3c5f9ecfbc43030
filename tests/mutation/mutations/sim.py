# SPDX-License-Identifier: BSD-2-Clause
"""The simulated GPU: what it no longer notices, or takes for wrong."""

RACE = "backends/sim/race.cpp"
QUEUE = "backends/sim/queue.cpp"
MACHINE = "backends/sim/machine.cpp"
MACHINE_H = "backends/sim/machine.hpp"
COPY = "backends/sim/sim_copy.cpp"
MEMORY = "backends/sim/memory.cpp"
SIM = "backends/sim/sim.cpp"
RUNTIME = "backends/sim/sim_runtime.cpp"

MUTATIONS = [
    # Times.
    ("backends/sim/sim_event.cpp", "[time = found->time, of = queue.get()] { *time = of->time; }", "[time = found->time, now = HostTime()] { *time = now; }",
     "an event is reached when it is recorded"),
    # Peers.
    (COPY, "    const bool between = direction == kDeviceToDevice;\n", "    const bool between = true;\n",
     "a device copies a peer's memory to the host"),
    (COPY, "  else if (!peer.pool_readers.contains(here))\n", "  else if (false)\n", "a peer reads a pool that is not open to it"),
    (COPY, "readable.contains(found->device) ? 0 : 1;", "readable.contains(found->device) ? 0 : 0;",
     "a copy that a vendor would stage is not counted"),
    (COPY, "  if (!machine().Peers(here, found->device)) return misuse(\"memory of another device\");\n", "",
     "memory of a device that is no peer is read"),
    (RUNTIME, "    if (!machine().Peers(CurrentDevice(), peer)) return machine().Misuse(call, \"no peer\", kInvalidDevice);\n", "",
     "access to a device that is no peer is enabled"),
    (RUNTIME, "    if (!machine().Peers(reader, index)) return machine().Misuse(call, \"no peer\", kInvalidDevice);\n", "",
     "a pool is opened to a device that is no peer"),
    (RUNTIME, ".insert(peer).second ? kSuccess : kPeerAccessAlreadyEnabled;", ".insert(peer).second ? kSuccess : kSuccess;",
     "access is enabled twice without a word"),
    (MACHINE_H, "options.peers && reader != device && Has(device) && !Unified(device)", "reader != device && Has(device) && !Unified(device)",
     "devices that are no peers are"),
    (MACHINE_H, "Has(device) && !Unified(device)", "Has(device)", "a unified device is a peer"),
    (MACHINE_H, "options.peers && reader != device &&", "options.peers &&", "a device is its own peer"),
    # Streams and handles.
    (SIM, "properties.launch != LaunchHostCode", "false", "a stream that is not simulated is taken for one that is"),
    (QUEUE, "i < 2 && unfinished_.size() > kMostUnfinished", "i < 0",
     "destroyed streams with work left pile up"),
    (QUEUE, "return !queue.destroyed; };", "return queue.destroyed && false; };", "where a stream is made, a kernel of one that lives is waited for"),
    (QUEUE, "    std::rotate(unfinished_.begin(), unfinished_.begin() + 1, unfinished_.end());\n", "", "one destroyed stream that must wait keeps all others"),
    (QUEUE, "    std::erase(unfinished_, queue);\n", "", "destroyed streams that have no work left pile up"),
    (QUEUE, "    std::erase(queues_, it->second);\n", "    (void)it;\n", "destroyed streams stay"),
    ("backends/sim/sim_event.cpp", "event_handles_.Make(Random() % 2 == 0)", "event_handles_.Make(false)",
     "no handle of an event comes again"),
    (QUEUE, "  if (stream == kMainHandle) return state.main;", "  if (stream == kMainHandle) return devices[0].main;",
     "all devices share a main stream"),
    (QUEUE, "      if (other->kind == QueueKind::kBlocking && other->device == queue->device) wait(other);\n", "",
     "a main stream does not wait for blocking ones"),
    (QUEUE, "    wait(state.main);\n", "", "a blocking stream does not wait for the main one"),
    (QUEUE, "    queue->before.Join(state.blocking);\n", "", "work that the main stream waited for races with its own"),
    ("include/ferry/stream.hpp", "waiter.device().StreamWait(", "device_->StreamWait(",
     "the main stream of another device waits"),

    # Faults.
    (MACHINE, "  ++report.faults;\n", "", "a report says of no fault that it came"),
    (MACHINE, "         : which == \"any\"        ? true\n", "         : which == \"any\"        ? call.counted\n",
     "queries are no calls of any kind"),
    (SIM, "  RequireCalls(options.fail_call);\n", "", "a fault in a call that there is not is taken"),
    (SIM, "Enter(\"Launch\", Faults::kLaunch,", "Enter(\"Launch\", Faults::kQuery,",
     "a launch that reports an error has never run"),

    # Touches.
    (MEMORY, "writes ? Pages::Access::kReadWrite : Pages::Access::kRead", "Pages::Access::kReadWrite",
     "a kernel writes to what it said that it reads"),
    (MACHINE, "    return Unified(device) ? SimRuntime::kSuccess\n", "    return true ? SimRuntime::kSuccess\n",
     "kernels touch memory of nobody's"),

    # Races.
    (RACE, "(old.writes || use.writes) && old.of != of", "old.writes && old.of != of", "a write after a read is no race"),
    (RACE, "old.first < use.last && use.first < old.last", "use.first < old.last", "disjoint parts race"),
    (RACE, "use.first <= old.first && old.last <= use.last && (use.writes || !old.writes)", "true",
     "a smaller access makes a larger one forgotten"),
    (RACE, "entry.until >= number", "true", "a wait orders what came after its point"),
    (QUEUE, "  point.before.ShowToHost();\n", "", "a wait of the host orders nothing"),
    (QUEUE, "    if (!device || i == *device) races.ShowToHost(i);\n", "", "a wait for the device orders nothing"),
    (QUEUE, "  queue->before.Join(point.before);  // first", "  // first", "an event orders nothing"),
    (RUNTIME, "    Point(queue).before.ShowToHost();\n", "", "a stream that says it is done orders nothing"),
    (MACHINE, "  races.Forget(*found);\n", "", "a new block has the races of the old one"),

    # Early and late.
    (QUEUE, "  if (order_ == Order::kLate) return;\n", "", "a late machine runs work early"),
    (MACHINE, "(options.seed == 0 || Random() % 2 == 0)", "true", "no machine runs work early"),
    (MACHINE_H, "m.RunEarly(Machine::Early::kNoKernels, lock);", "m.RunEarly(Machine::Early::kAll, lock);",
     "kernels run under Ferry's locks"),
    (QUEUE, "  if (!running_) RunFront(NeededFor({queue, queue->done + 1}), lock);\n", "", "who polls a stream polls for ever"),

    # What is legal.
    (COPY, "    if (block == nullptr && !machine().Unified(CurrentDevice()))\n", "    if (block == nullptr)\n",
     "no fill of adopted heap"),
    (COPY, "from == nullptr && direction == kHostToDevice;", "from == nullptr;",
     "a copy reads adopted heap out of its stream's order"),
    (QUEUE, "  queue->before.Join(point.before);  // first: a main stream comes after what a blocking one has waited for\n  Push(queue, {OpKind::kOrder, call, {}, {}, point.position});\n",
     "  Push(queue, {OpKind::kOrder, call, {}, {}, point.position});\n  queue->before.Join(point.before);\n", "what a blocking stream waits for races with the main stream"),
    (QUEUE, "queue->capture_invalidated = ended = true;", "ended = true;", "a capture survives a wait for its device"),
    (SIM, "          if (queue->capturing) return ++m.report.captured, SimRuntime::kSuccess;\n", "",
     "kernels of a graph run at once"),
    (SIM, "          if (!queue->capturing)\n            return Machine::The().Misuse(call, \"a stream that is not under capture\",\n                                         SimRuntime::kIllegalState);\n", "",
     "a capture that has not begun can be ended"),
    ("backends/sim/queue.cpp", "queue->time += HostTime() - begin;", "queue->time += 0 * (HostTime() - begin);", "work on the simulated GPU takes no time"),
    ("backends/sim/queue.cpp", "op.wait ? op.wait->queue->TimeOf(op.wait->index) : 0", "std::int64_t{0}", "a wait for another stream takes no time"),
    ("backends/sim/queue.cpp", "  op.queued_at = HostTime();\n", "", "work was done before it was queued"),
]
