# SPDX-License-Identifier: BSD-2-Clause
"""Work that need not be done, most of which changes no byte."""

ASSIGN = "core/memory/assign.cpp"
POOL = "core/device/pooled_device.cpp"
RESHAPING = "core/blob/reshaping.cpp"

MUTATIONS = [
    (ASSIGN, "Arrival target(*this, to, Access::kOverwrite,", "Arrival target(*this, to, Access::kReadWrite,",
     "Assign of all bytes fetches those that it replaces"),
    (POOL, "std::move(shelf->blocks.back()), shelf->on};\n  shelf->blocks.pop_back();",
     "std::move(shelf->blocks.front()), shelf->on};\n  shelf->blocks.erase(shelf->blocks.begin());",
     "the pool takes its oldest block"),
    (RESHAPING, "{change.first(), after_}, Access::kOverwrite}", "{change.first(), after_}, Access::kReadWrite}",
     "FromProto fetches elements that it replaces"),
]
