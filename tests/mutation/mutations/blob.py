# SPDX-License-Identifier: BSD-2-Clause
"""Blobs, their shapes and messages, and files of these."""

BLOB = "core/blob/blob.cpp"
BLOB_H = "include/ferry/blob.hpp"
BLOB_ARRAYS = "include/ferry/blob_arrays.hpp"
MATH = "core/blob/blob_math.cpp"
RESHAPING = "core/blob/reshaping.cpp"
MESSAGE = "core/blob/message.cpp"
MESSAGE_H = "include/ferry/detail/message.hpp"
SHAPE = "core/blob/shape.cpp"
SHAPE_H = "include/ferry/shape.hpp"
FILE = "core/proto/file.cpp"
FLAW = "core/proto/flaw.cpp"
KIND = "core/proto/kind.cpp"
PROTO = "core/proto/proto.cpp"

MUTATIONS = [
    # Adopted elements, and blobs that are moved from.
    (BLOB, "if (this->data()->Owns(ptr) || this->diff()->Owns(ptr))", "if (this->data()->Owns(ptr))",
     "a blob takes its own diff for its data"),
    (BLOB, "if (this->data()->Owns(ptr) || this->diff()->Owns(ptr))", "if (this->diff()->Owns(ptr))",
     "a blob departs from storage that it still uses"),
    (BLOB_H, "Blob(Blob&& other) noexcept : device_(other.device_) {", "Blob(Blob&& other) noexcept {",
     "a blob that was moved from has lost its device"),

    (BLOB, "const bool fits = shape_ == source.shape_ && HasShape() == source.HasShape();", "const bool fits = true;",
     "CopyFrom does not compare shapes"),

    # Accesses.
    (BLOB_ARRAYS, "access == Access::kOverwrite && array.size() != count() ?", "false ?",
     "who overwrites a blob in larger storage drops the rest"),

    # Shapes.
    (SHAPE_H, "if (!std::in_range<std::int64_t>(i))", "if (false)", "an index over int64 shows as a negative one"),
    (SHAPE_H, "if (num_axes_ > 4 || axis < -4 || axis >= 4)", "if (axis < -4 || axis >= 4)",
     "five axes are taken for four"),
    (SHAPE, "  if (*this != other) EndInts();\n", "", "a shape that was assigned has the old one's ints"),
    (SHAPE, "  if (*this != other) EndInts();\n", "  EndInts();\n", "iterators end where equal dims are assigned"),
    (SHAPE, "of.insert_or_assign(this,", "of.emplace(this,", "a shape has the ints of one that was at its address"),
    (SHAPE, '(bound == Bound::kInside ? " - 1" : "")', '(bound == Bound::kInside ? "" : " - 1")',
     "an error allows an index that it refuses"),

    # Slices, and storage that others share.
    (BLOB, "|| count > shape_[0] - first)", "|| first + count > shape_[0])", "a slice of a count that wraps lies within the axis"),
    (BLOB, "  slice.diff_ = diff_.template SliceAs<T>(first * row, count * row);\n", "  slice.diff_ = diff_.template SliceAs<T>(0, count * row);\n",
     "each slice has the first one's diff"),
    (BLOB, "own.memory_.use_count() != 1 && own.count_ >= this->count() &&", "own.count_ >= this->count() &&",
     "what a blob has alone stays as long as it was"),
    (BLOB, "  const bool whole = data_.first_ == 0 && this->data()->size() == bytes();", "  const bool whole = true;",
     "a slice that is given bytes gives them to all"),
    (RESHAPING, "const bool spare = room == Room::kExact && !lacks && change.sole() &&", "const bool spare = room == Room::kExact && !lacks &&",
     "ShrinkToFit departs from storage that others share"),
    (RESHAPING, "old->capacity() < first || old->capacity() - first < after;", "old->capacity() < after;", "a slice grows beyond its storage"),
    (RESHAPING, "    change.keep = std::min({change.size, first + before, first + after});\n", "    change.keep = std::min(first + before, first + after);\n",
     "a blob whose memory was made smaller keeps what is not there"),
    (RESHAPING, "    if (kept < first + after) old->PrepareGrowth(kept);\n", "", "a Reshape that cannot fail allocates"),
    (RESHAPING, "    if (change.fresh == nullptr) change.storage.memory->Resize(change.size);\n", "    (void)change;\n", "a Reshape that failed has grown the memory"),
    (RESHAPING, "      memory.Resize(change.keep);  // what", "      // what", "elements that a Reshape cut off come back"),
    (RESHAPING, "      memory.Resize(std::max(memory.size(), change.first() + after_));\n    }\n  }", "      memory.Resize(change.first() + after_);\n    }\n  }",
     "a slice that becomes smaller cuts off the others' elements"),
    (MATH, "  if (Untouched(diff)) return;\n", "", "Update subtracts a diff that nobody wrote"),
    (MATH, "PlaceFor(Untouched(data) ? diff : data, on.get())", "PlaceFor(data, on.get())", "Update of data that nobody wrote leaves the diff's side"),

    # Messages of any package.
    (MESSAGE_H, "message.has_height() || message.has_width()", "message.has_height()",
     "legacy dims of which only the width is there are overlooked"),
    (MESSAGE_H, "  message.Clear();\n", "", "what a message had before stays in it"),
    (MESSAGE_H, "return legacy ?", "return !legacy ?", "the shape wins over legacy dims"),
    (MESSAGE, "  if (shape.num_axes() > 4) return false;\n", "", "a shape of five axes is asked for legacy dims"),
    (MESSAGE, "reshape ? message_shape : shape_", "message_shape", "a blob that must not be reshaped is"),
    (MESSAGE, 'if (diff.size() != 0) diff.Require(shape, "diff");', "", "a diff that is too short is read over"),
    (MESSAGE, "if (message == nullptr)", "if (false)", "a null message is written to"),

    # Streams.
    (PROTO, "    stream.exceptions(std::ios::goodbit);\n", "", "a stream's own exceptions are thrown"),
    (PROTO, "      stream_.exceptions(exceptions_);\n", "", "a stream does not throw any more"),
    (PROTO, "  in.clear(std::ios::eofbit);", "  //", "a good read leaves a stream failed"),
    (PROTO, "if (in.rdstate() == std::ios::eofbit)", "if (false)", "a stream at its end is said to have failed"),
    (PROTO, "  RequireGood(in, where);\n", "", "a stream that had failed is read"),
    (PROTO, "  RequireGood(out, where);\n", "", "a stream that had failed is written to"),
    (PROTO, "bytes.empty() && !kMayBeEmpty<M>", "false", "an empty file is a blob"),
    (PROTO, "bytes.empty() && !kMayBeEmpty<M>", "bytes.empty()", "an empty vector cannot be read"),
    (PROTO, "if (bytes < least) throw", "if (false) throw", "a message is written that cannot be read"),
    (PROTO, "if (file.empty())", "if (false)", "an empty path is written beside"),

    # Files.
    (FILE, "if (links == kMostLinks)", "if (false)", "links that lead to each other are followed for ever"),
    (FILE, "target = target.parent_path() / led;", "target = led;", "a link is looked for in the wrong folder"),
    (FILE, "  for (NewFile* const file : files) file->TakePlace();", "  (*files.begin())->TakePlace();",
     "the second of two files is dropped"),
    (FILE, "  for (const NewFile* const file : files)\n    if (::fsync", "  for (const NewFile* const file : {*files.begin()})\n    if (::fsync",
     "a file is in its place before the disk has the one that belongs to it"),
    (FILE, "kMostLinks = 40;", "kMostLinks = 41;", "more links are followed than by the system"),
    (FILE, "kMostLinks = 40;", "kMostLinks = 39;", "fewer links are followed than by the system"),
    (FILE, "O_TMPFILE | O_WRONLY | O_CLOEXEC, 0666)", "O_TMPFILE | O_WRONLY | O_CLOEXEC, 0600)", "a new file is its owner's alone"),
    (FILE, "  if (!replaces && errno != ENOENT) ThrowSystemError(where_, \"create\", errno);  // such as too long a name\n", "", "a path that no file can have is refused after all is written"),
    (FILE, "  ::close(fd);\n#else", "#else", "without /proc a descriptor stays open"),
    (FILE, "made < 0 && errno == EEXIST", "false", "a name that is taken is an error"),
    (FILE, "O_CREAT | O_EXCL |", "O_CREAT |", "a file that is there is written over"),
    (FILE, "if (replaces && OpenFile(", "if (false && OpenFile(", "a file that may not be written is replaced"),
    (FILE, "  int fd = OpenUnnamed(target_.parent_path());\n", "  int fd = -1;\n", "a program that is killed leaves a part of a file"),
    (FILE, "    if (link(target_.c_str()) == 0) return;\n", "", "a new file has a hidden name before its own"),
    (FILE, "/proc/thread-self/fd/", "/proc/self/fd/", "a thread writes the file that another one has open"),
    (FILE, "folder.empty() ? \".\" : folder.c_str()", "folder.c_str()", "a program that is killed leaves a part of a file in the current folder"),
    (FILE, "::access(ProcPath(fd).c_str(), F_OK) == 0", "true", "a file gets no name where there is no /proc"),
    (FILE, "  if (!written_.empty()) ::unlink(written_.c_str());\n", "", "a file that cannot take its place stays beside it"),

    # Other kinds.
    (PROTO, "if (!message.unknown_fields().empty()) detail::RequireKind(bytes, type, where);", "",
     "a message of another kind is read as one without elements"),
    (FLAW, "  RequireKind(bytes, type, where);\n", "", "a file of another kind is a corrupt one"),
    (KIND, 'o.Has(100, kBytes) || ', "", "a net of today's form is not known"),
    (KIND, ' || (o.Has(2, kBytes) && !o.Has(1, kNumber))', "", "a net of the old form is not known"),
    (KIND, "o.HasNoneBetween(4, 1000) && ", "", "any message that begins like a solver's state is taken for one"),
    (KIND, "kind->type != type.name()", "true", "a broken blob is said to be a blob"),
    (KIND, "!Fits(*known, field.second)", "false", "a field of another kind is overlooked"),
    (KIND, "wire == kBytes && field.is_packable()", "false", "packed numbers are taken for another kind"),
    (KIND, "!any && !outline.fields().empty()", "false", "a message without a field of ours is read"),
    (BLOB, "shape_ == source.shape_ && HasShape() == source.HasShape()", "shape_ == source.shape_",
     "a blob without a shape copies from one of no axes"),
    (BLOB, "if (fits) return to.memory_", "if (fits && from.first_ == 0 && to.first_ == 0) return to.memory_->Assign(*from.memory_, bytes());\n"
     "  if (fits) return to.memory_", "a copy into a part of shared storage cuts the rest off"),
    ("core/proto/proto.cpp", "  const detail::WithoutWriteSignals quiet;\n", "", "a limit of files' sizes ends a program that writes a blob"),
]
