# SPDX-License-Identifier: BSD-2-Clause
"""Blobs, their shapes and messages, and files of these."""

BLOB = "core/blob/blob.cpp"
BLOB_H = "include/ferry/blob.hpp"
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
    (BLOB, "if (data_->Owns(ptr) || diff_->Owns(ptr))", "if (data_->Owns(ptr))",
     "a blob takes its own diff for its data"),
    (BLOB, "if (data_->Owns(ptr) || diff_->Owns(ptr))", "if (diff_->Owns(ptr))",
     "a blob departs from storage that it still uses"),
    (BLOB_H, "Blob(Blob&& other) noexcept : device_(other.device_) {", "Blob(Blob&& other) noexcept {",
     "a blob that was moved from has lost its device"),

    # Shapes.
    (SHAPE_H, "if (!std::in_range<std::int64_t>(i))", "if (false)", "an index over int64 shows as a negative one"),
    (SHAPE_H, "if (num_axes_ > 4 || axis < -4 || axis >= 4)", "if (axis < -4 || axis >= 4)",
     "five axes are taken for four"),
    (SHAPE, '(bound == Bound::kInside ? " - 1" : "")', '(bound == Bound::kInside ? "" : " - 1")',
     "an error allows an index that it refuses"),

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
    (FILE, "if (replaces && Descriptor(", "if (false && Descriptor(", "a file that may not be written is replaced"),

    # Other kinds.
    (PROTO, "if (!message.unknown_fields().empty()) detail::RequireKind(bytes, type, where);", "",
     "a message of another kind is read as one without elements"),
    (FLAW, "  RequireKind(bytes, type, where);\n", "", "a file of another kind is a corrupt one"),
    (KIND, 'o.Has(100, kBytes) || ', "", "a net of today's form is not known"),
    (KIND, ' || (o.Has(2, kBytes) && !o.Has(1, kNumber))', "", "a net of the old form is not known"),
    (KIND, "o.HasNoneOver(4) && ", "", "any message that begins like a solver's state is taken for one"),
    (KIND, "kind->type != type.name()", "true", "a broken blob is said to be a blob"),
    (KIND, "!Fits(*known, field.second)", "false", "a field of another kind is overlooked"),
    (KIND, "wire == kBytes && field.is_packable()", "false", "packed numbers are taken for another kind"),
    (KIND, "!any && !outline.fields().empty()", "false", "a message without a field of ours is read"),
    (BLOB, "shape_ == source.shape_ && count_ == source.count_", "shape_ == source.shape_",
     "a blob without a shape copies from one of no axes"),
]
