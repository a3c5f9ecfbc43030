// SPDX-License-Identifier: BSD-2-Clause
#include "core/nets/data/record_reader.hpp"

namespace ferry::detail {

RecordReader::RecordReader(DataParameter::DB backend, const std::filesystem::path& path)
    : database_(OpenDatabase(backend, path, DatabaseMode::kRead)),
      cursor_(database_->NewCursor()),
      size_(cursor_->size()) {
  if (!cursor_->valid()) FailDatabase(path, "has no record");
}

void RecordReader::Seek(std::uint64_t number) {
  for (;;) {
    const std::uint64_t target = size_ ? number % *size_ : number;
    if (!cursor_->valid() || target < record_) {
      cursor_->SeekToFirst();
      record_ = 0;
    }
    for (; record_ < target && cursor_->valid(); ++record_) cursor_->Next();
    if (cursor_->valid()) return;
    size_ = record_;
  }
}

}  // namespace ferry::detail
