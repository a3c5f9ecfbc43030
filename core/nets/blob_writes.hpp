// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <span>
#include <string>
#include <variant>
#include <vector>

#include "ferry/blob.hpp"
#include "ferry/layers.pb.h"
#include "ferry/operand.hpp"

namespace ferry::detail {

/// What is to be written to blobs once the last check of it is done: then all of it is, or nothing.
template <class T>
class BlobWrites {
 public:
  /// The message's data, and its diff if it has one. The message must stay as it is until Make, and have no
  /// CountFlaw.
  void Add(Blob<T>& to, const BlobProto& from);
  /// As many elements as the blob has.
  void Add(Blob<T>& to, std::vector<T> data);
  /// Writes on the host. First come the memory, and the waits, for all blobs; where one of them fails, this
  /// throws what an access throws, and nothing has changed. `device` is that of the net, `site` the caller.
  void Make(Device& device, const Site& site) const;

 private:
  std::vector<Operand<T>> to_;
  std::vector<std::variant<std::span<const float>, std::span<const double>, std::vector<T>>> from_;
};

/// What is wrong with how many elements and gradients the message has for the blob; empty where nothing is.
template <class T>
std::string CountFlaw(const BlobProto& from, const Blob<T>& to);

}  // namespace ferry::detail
