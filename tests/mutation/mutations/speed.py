# SPDX-License-Identifier: BSD-2-Clause
"""Work that need not be done, most of which changes no byte."""

ASSIGN = "core/memory/assign.cpp"
POOL = "core/device/pooled_device.cpp"
MESSAGE = "core/blob/message.cpp"

MUTATIONS = [
    (ASSIGN, "Arrival target(*this, to, Access::kOverwrite,", "Arrival target(*this, to, Access::kReadWrite,",
     "Assign of all bytes fetches those that it replaces"),
    (POOL, "std::move(shelf->blocks.back()), shelf->on};\n  shelf->blocks.pop_back();",
     "std::move(shelf->blocks.front()), shelf->on};\n  shelf->blocks.erase(shelf->blocks.begin());",
     "the pool takes its oldest block"),
    (MESSAGE, "both ? Access::kReadWrite : Access::kOverwrite", "Access::kReadWrite",
     "FromProto fetches elements that it replaces"),
    (MESSAGE, "reshaping.Write(BlobPart::kDiff, Access::kOverwrite)", "reshaping.Write(BlobPart::kDiff, Access::kReadWrite)",
     "FromProto fetches a diff that it replaces"),
]
