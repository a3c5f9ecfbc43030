# SPDX-License-Identifier: BSD-2-Clause
"""Work that need not be done, most of which changes no byte."""

MEMORY = "core/memory/synced_memory.cpp"
POOL = "core/device/pooled_device.cpp"
MESSAGE = "core/blob/message.cpp"
BLOB = "core/blob/blob.cpp"

MUTATIONS = [
    (MEMORY, "all, Access::kOverwrite, on_gpu ?", "all, Access::kReadWrite, on_gpu ?",
     "Assign of all bytes fetches those that it replaces"),
    (POOL, "std::move(shelf->blocks.back()), shelf->on};\n  shelf->blocks.pop_back();",
     "std::move(shelf->blocks.front()), shelf->on};\n  shelf->blocks.erase(shelf->blocks.begin());",
     "the pool takes its oldest block"),
    (BLOB, "if (fits && data_->size() == bytes() && diff_->size() == bytes())", "if (fits)",
     "a copy into a part of shared storage cuts the rest off"),
    (BLOB, "if (&from != &to) to.Assign", "to.Assign", "a blob copies its own storage onto itself"),
    (MESSAGE, "both ? Access::kReadWrite : Access::kOverwrite", "Access::kReadWrite",
     "FromProto fetches elements that it replaces"),
    (MESSAGE, "Reshaping::Part::kDiff, Access::kOverwrite", "Reshaping::Part::kDiff, Access::kReadWrite",
     "FromProto fetches a diff that it replaces"),
]
