// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <google/protobuf/message.h>

#include <string>
#include <vector>

namespace ferry::detail {

/// The path of the first required field that is missing, such as "layer[2].clip_param.min"; "" if none is.
std::string MissingField(const google::protobuf::Message& message);

/// The fields of a message and of all in it that their types do not have, such as
/// "LayerParameter field 149 (3 times)".
std::vector<std::string> UnknownFields(const google::protobuf::Message& message);

/// Says in one warning which those are, and what is done with them; says nothing where there are none.
void WarnOfUnknownFields(const google::protobuf::Message& message, const std::string& where,
                         const char* what_is_done);

}  // namespace ferry::detail
