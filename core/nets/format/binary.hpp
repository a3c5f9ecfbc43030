// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <google/protobuf/message.h>

#include <cstddef>
#include <filesystem>
#include <limits>
#include <string>
#include <string_view>

namespace ferry::detail {

/// The most bytes of a message: protobuf counts them in int.
constexpr std::size_t kMostBytes = std::numeric_limits<int>::max();

/// The message that the bytes are. Throws FormatError, or NetError for a required field that is missing, and
/// leaves the message as it was. `where` is what the text of an error or a warning begins with.
void ParseBinary(std::string_view bytes, const std::string& where, google::protobuf::Message* message);

/// The same from a file, whose bytes are never all in memory unless it has a flaw.
void ReadBinary(const std::filesystem::path& file, const std::string& where,
                google::protobuf::Message* message);

/// Throws NetError for a file of 2 GiB or more.
void RequireReadable(const std::filesystem::path& file, const std::string& where);

}  // namespace ferry::detail
