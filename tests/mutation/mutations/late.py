# SPDX-License-Identifier: BSD-2-Clause
"""What only shows where work is late, a call fails in the middle or somebody comes in between."""

ADOPT = "core/memory/adopt.cpp"
ARRIVE = "core/memory/arrival.cpp"
ASSIGN = "core/memory/assign.cpp"
CALL = "core/memory/call.cpp"
USES = "core/memory/use_list.cpp"
LIST = "core/memory/uses.cpp"
GPU = "backends/gpu/gpu_device.hpp"

MUTATIONS = [
    (CALL, "  if (wait.access != Access::kRead) arrival.memory->ForgetReady();", "  ",
     "a stream that the host has waited for is in place after a call that failed"),
    (ADOPT, "    return EndUses(buffer), false;\n", "    return EndUses(buffer), buffer.uses.Clear(), false;\n",
     "the uses of one device's bytes are forgotten although another's cannot end"),
    (USES, "return !use.writes && !use.on", "return false && !use.on", "the caller's bytes are read after an access returns"),
    (USES, " && !use.on.device().properties().unified; }", "; }", "a unified device's kernels are forgotten as another device reads"),
    (ARRIVE, "if (Buffer& host = BufferOf(kHost); host.adopted()", "if (Buffer& host = cpu_; host.adopted()",
     "the caller's bytes of a unified device are read after an access returns"),
    ("core/memory/arrival.hpp", "  const Buffer& host = BufferOf(detail::kHost);\n", "  const Buffer& host = cpu_;\n",
     "an access is in place while the caller's bytes of a unified device are read"),
    (ASSIGN, " || shared.kind == MemoryKind::kPinnedHost);", ");", "a unified device copies what another one has pinned"),
    (ASSIGN, "detail::PageableFor(shared, device) || shared.kind", "shared.kind", "a unified device copies what the caller has"),
    (ASSIGN, "detail::PageableFor(shared, device)", "shared.adopted()", "a unified device copies what the host device has"),
    (ASSIGN, "      ++memory.busy_;\n", "", "a handler releases the source of an Assign"),
    (ASSIGN, "      --memory.busy_;\n", "", "the source of an Assign is never released again"),
    (CALL, "        if (again && !error.beyond_limit()) TrimAsFarAsPossible(device);\n      });\n", "      });\n    if (again && !error.beyond_limit()) TrimAsFarAsPossible(device);\n",
     "pools trim under the memories' locks"),
    (CALL, "    if (!again) at->memory->RethrowNamed(&full);", "    if (!again) throw;", "an array that finds no memory is not named"),
    (CALL, "  } catch (const DeviceError&) {\n    at->memory->RethrowNamed();", "  } catch (const DeviceError&) {\n    throw;",
     "the array of an access that fails is not named"),
    (ASSIGN, "} catch (const DeviceError&) {\n  RethrowNamed();", "} catch (const DeviceError&) {\n  throw;",
     "the array of an Assign that fails is not named"),
    (ADOPT, "} catch (const DeviceError&) {\n  RethrowNamed();", "} catch (const DeviceError&) {\n  throw;",
     "the array of a Release that fails is not named"),
    (LIST, "  list_->reserve(other.list_->capacity());\n", "", "a run that is cut loses its room"),
    (GPU, "    if (error == Runtime::kSuccess) error = Runtime::EventSynchronize(Queues<Runtime>::Native(event));\n", "",
     "the host does not see what it has asked for"),
    (ARRIVE, "      if (!direct) throw;\n      return BringFrom(source, false, bytes, arrival, dying);\n", "      throw;\n",
     "a device that cannot be read directly after all is lost"),
]
