# SPDX-License-Identifier: BSD-2-Clause
"""The devices of GetDevice, what refers to a device, the machine behind it, and bytes that are const."""

CHOOSE = "core/device/backend.cpp"
DEPENDENTS = "core/device/dependents.cpp"
DEVICES = "core/device/device.cpp"
LIVE = "core/device/live_list.cpp"
STREAM = "core/device/stream.cpp"
BUFFER = "core/memory/buffer.cpp"
MEMORY = "core/memory/synced_memory.cpp"
ADOPT = "core/memory/adopt.cpp"
ASSIGN = "core/memory/assign.cpp"
ARRIVE = "core/memory/arrival.cpp"
CALL = "core/memory/call.cpp"
GPU = "backends/gpu/gpu_device.hpp"
DEVICE = "backends/sim/sim_device.cpp"
SIM = "backends/sim/sim.cpp"
MACHINE = "backends/sim/machine.cpp"

MUTATIONS = [
    # GetDevice.
    (CHOOSE, "  if (device == nullptr) device = Make(found);", "  device = Make(found);", "each GetDevice makes a device"),
    (CHOOSE, "  const std::lock_guard lock(mutex_);\n  auto& device", "  auto& device", "two threads make two devices of one name"),
    (CHOOSE, "devices_[found.backend.name + (':' + std::to_string(found.index))]", "devices_[std::string(name)]",
     "a device has one for each spelling of its name"),
    (CHOOSE, "  if (digits.starts_with('-')) return std::nullopt;", "", "a device may have a negative number"),
    (CHOOSE, " || end != digits.data() + digits.size()", "", "what follows a device's number is overlooked"),
    (CHOOSE, "  if (*index >= count)\n", "  if (*index > count)\n", "the device behind the last one is made"),
    (CHOOSE, "wanted != nullptr && *wanted != '\\0'", "wanted != nullptr", "an empty FERRY_DEVICE names a device"),

    # What refers to a device.
    (DEVICES, "Device::~Device() { detail::Dependents::Of(serial_).Close(); }", "Device::~Device() {}", "a device that has gone is used"),
    (DEPENDENTS, "!here->Idle()) continue;", "!here->gone()) continue;",
     "a device's number comes again while something outlives it"),
    (DEPENDENTS, "if (here->gone() || ", "if (", "what outlives its device keeps the machine"),
    (DEPENDENTS, "  if (reported_.exchange(true)) return;\n", "", "each event of a device that has gone is reported"),
    (DEPENDENTS, "  reported_ = true;\n", "", "a memory that outlives its device is reported again with its events"),
    (DEPENDENTS, "here->named_ = here->reported_ = false;", "here->named_ = false;", "the second device of a number is not reported"),
    (DEPENDENTS, "  if (label.next != nullptr) label.next->previous = label.previous;\n", "",
     "a label stays on its list"),
    (DEPENDENTS, "  (label.previous != nullptr ? label.previous->next : labels_) = label.next;\n", "  if (label.previous == nullptr) labels_ = label.next;\n",
     "a label behind others stays on its list"),
    (DEPENDENTS, "  if (labels_ != nullptr) labels_->previous = &label;\n", "", "a label that goes takes those before it along"),
    (DEPENDENTS, " || name.substr(0, name.find(':')) != backend) continue;", ") continue;", "what is on one backend's devices keeps the machine of another's"),
    (DEPENDENTS, "label != nullptr && alive.shown < kShown;", "label != nullptr || kShown == 0;", "an error lists all labels there are"),
    (DEPENDENTS, "    here->live_.SetLimit(0);\n", "", "a device has the limit of the one before it"),
    (DEPENDENTS, "!live.empty())\n      Log(", "live.empty())\n      Log(", "a device ends without a word about its memories"),

    # What is live on a device.
    (LIVE, "(used > limit || bytes > limit - used)", "bytes > limit - used", "a limit below what is live is none"),
    (LIVE, "bytes > limit - used)", "bytes >= limit - used)", "the last bytes of a limit cannot be had"),
    (LIVE, "limit = OnHost(kind) ? 0 : list.limit_;", "limit = list.limit_;", "the host's memory is limited"),
    (LIVE, "  if (!OnHost(kind)) list.used_ += bytes;\n", "  list.used_ += bytes;\n", "the host's memory counts"),
    (LIVE, "    node->next_ = std::exchange(list.spare_, node);\n", "", "what a limit refuses loses a node"),
    (LIVE, "  node->previous_ = nullptr;\n", "", "a node that comes again has its old neighbour"),
    (LIVE, "  node.next_ = std::exchange(spare_, &node);\n", "", "each block has a new node"),
    (LIVE, "  if (!OnHost(node.kind_)) used_ -= node.bytes_;\n", "", "what was given back counts"),
    (LIVE, "  if (node.next_ != nullptr) node.next_->previous_ = node.previous_;\n", "", "a block that ended stays on its list"),
    (LIVE, "return a.bytes > b.bytes;", "return a.bytes < b.bytes;", "the smallest blocks are listed"),
    (LIVE, "  label_ = label;\n", "", "a block has the name that its memory had"),
    (STREAM, "dependents.gone() ? dependents.Report(Dependent::kEvent)", "false ? dependents.Report(Dependent::kEvent)",
     "an event is given back to a device that has gone"),
    (STREAM, "    if (dependents.gone())\n", "    if (false)\n", "a stream is given back to a device that has gone"),
    (MEMORY, "  if (!Outlives()) {", "  {", "a memory is given back to a device that has gone"),
    (MEMORY, "  if (label_ != nullptr) Dependents::Of(gpu_.serial).Remove(*label_);\n", "", "the label of a memory outlives it"),
    (MEMORY, "  if (label_ != nullptr) dependents.Remove(*label_);\n", "", "a label that was replaced stays on the list"),
    (MEMORY, "  for (const auto& other : others_) Dependents::Of(other->serial).Remove(Dependent::kMemory);\n", "",
     "a memory keeps the machine of another device that it has been on"),
    (ARRIVE, "  detail::Dependents::Of(others_.back()->serial).Add(detail::Dependent::kMemory, device);\n",
     "  detail::Dependents::Of(gpu_.serial).Add(detail::Dependent::kMemory, device);\n",
     "a memory on another device does not count there"),

    # A new machine behind the same devices.
    (SIM, "  if (!alive.empty())\n", "  if (false)\n", "a machine is renewed under memories"),
    (DEVICE, "device->Renew();", "(void)device;", "a device speaks of the old machine"),
    (DEVICE, "if (device->properties().index < std::max(1, options.devices)) ", "",
     "a device that the machine lacks cannot be renewed"),
    (DEVICE, "    faultless.fail_at = 0;\n", "", "a device that is renewed meets the machine's faults"),
    (DEVICE, "    ResetMachine(options);\n  });", "    if (devices.empty()) ResetMachine(options);\n  });", "a device that is renewed costs calls"),
    (GPU, "block : kept_.TakeAll())\n      for (const EventHandle point : block.points) static_cast", "block : std::list<KeptBlocks::Block>())\n      for (const EventHandle point : block.points) static_cast", "a block of the old machine is freed on the new one"),
    (GPU, "    queues_.Lose();\n", "", "an event of the old machine is used on the new one"),
    (MACHINE, "    if (!kept.events.contains(handle)) ", "    ", "events that a device keeps are leaks"),
    (MACHINE, "    if (!kept.streams.contains(handle)) ", "    ", "streams that follow others are leaks"),

    # Const bytes.
    (ADOPT, "  if (here.constant) sole_ = StreamId::kNone;", "  if (false) sole_ = StreamId::kNone;",
     "const bytes are in place for a write"),
    (ADOPT, "return &buffer == &here || buffer.constant;", "return &buffer == &here;", "const bytes are copied to"),
    (ADOPT, "constness == Constness::kConstant;", "constness == Constness::kConstant && space != kHost;", "const bytes of the host are written"),
    (CALL, "    if (arrival.access != Access::kRead) arrival.memory->RequireMutable(", "    if (false) arrival.memory->RequireMutable(",
     "an access for writing of const bytes is granted"),
    (CALL, "    if (arrival.access != Access::kRead) arrival.memory->RequireMutable(", "    arrival.memory->RequireMutable(",
     "const bytes cannot be read"),
    (MEMORY, "    RequireMutable({}, \"a Resize that adds bytes to the end\");\n", "", "const bytes are zeroed"),
    (ASSIGN, "  RequireMutable({}, \"Assign\");\n", "", "an Assign to const bytes drops them"),
    (ASSIGN, "  RequireMutable(here, \"Assign\");\n", "", "an Assign to a part of const bytes drops them"),
    (BUFFER, "  buffer.constant = buffer.guarded = false;\n", "  buffer.guarded = false;\n", "a memory stays constant without its const bytes"),

    # Words at the program's end, and without a stderr.
    (CHOOSE, " || getpid() != process_", "", "a forked process tells of its parent's memories"),
    (DEVICES, "\", in an access of \" + Quoted(label)", "\", in an access of \\\"\" + label + '\"'", "a label of two lines makes an error of two"),
    ("core/memory/adopt.cpp", "' ' + Quoted(memory.label())", "\" \\\"\" + memory.label() + '\"'", "a label of two lines makes a warning of two"),
    ("core/memory/array.cpp", "\" for \" + Quoted(label)", "\" for \\\"\" + label + '\"'", "a label of two lines makes an array's error of two"),
    ("core/proto/file.cpp", "BeyondStandard(::open(folder.empty() ? \".\" : folder.c_str(), O_TMPFILE | O_WRONLY | O_CLOEXEC, 0666))",
     "::open(folder.empty() ? \".\" : folder.c_str(), O_TMPFILE | O_WRONLY | O_CLOEXEC, 0666)", "what a program says without a stderr is written into a message's file"),
    ("core/proto/file.cpp", "BeyondStandard(::open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666))",
     "::open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666)", "what a program says without a stderr is written into a message's file that has a name"),
]
