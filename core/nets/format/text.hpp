// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <google/protobuf/message.h>

#include <string>
#include <string_view>

namespace ferry::detail {

/// The message that a text is. Throws NetError, which begins with `name`, line and column, and leaves the
/// message as it was.
void ParseText(std::string_view text, const std::string& name, google::protobuf::Message* message);

}  // namespace ferry::detail
