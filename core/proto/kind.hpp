// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <google/protobuf/descriptor.h>

#include <string>
#include <string_view>

namespace ferry::detail {

/// Throws a FormatError where `bytes` are plainly of another kind than `type`, and names the kind if it is
/// one that Caffe writes. For bytes in which protobuf found what it does not know, or found nothing: it takes
/// those of any message for one without the fields that it looks for. `where` is what they came from.
void RequireKind(std::string_view bytes, const google::protobuf::Descriptor& type, const std::string& where);

}  // namespace ferry::detail
