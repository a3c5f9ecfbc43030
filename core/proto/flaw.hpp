// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <google/protobuf/descriptor.h>

#include <string>
#include <string_view>

namespace ferry::detail {

/// Throws the FormatError of `bytes`, which protobuf could not read as a message of `type`: they are of
/// another kind, or it has the first field that cannot be. `where` is what the bytes came from.
[[noreturn]] void ThrowFlaw(std::string_view bytes, const google::protobuf::Descriptor& type,
                            const std::string& where);

}  // namespace ferry::detail
