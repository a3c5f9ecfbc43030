// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <sstream>
#include <string>
#include <vector>

#include "core/nets/solver/log_line.hpp"
#include "ferry/nets/net.hpp"
#include "ferry/transfer_guard.hpp"

namespace ferry::detail {

/// The elements of a net's output blobs, one blob after the other. That they come to the host is meant.
template <class T>
std::vector<T> OutputsOf(const Net<T>& net) {
  const TransferGuard meant(TransferPolicy::kAllow);
  std::vector<T> values;
  for (const Blob<T>* blob : net.output_blobs())
    values.insert(values.end(), blob->cpu_data(), blob->cpu_data() + blob->count());
  return values;
}

/// A line for each of them, by Caffe's words. `of` is "Train" or "Test".
template <class T>
void LogOutputs(const char* of, const Net<T>& net, const std::vector<T>& values) {
  std::size_t number = 0;
  for (std::size_t j = 0; j < net.output_blobs().size(); ++j) {
    const auto index = static_cast<std::size_t>(net.output_blob_indices()[j]);
    const T weight = net.blob_loss_weights()[index];
    for (std::int64_t k = 0; k < net.output_blobs()[j]->count() && number < values.size(); ++k, ++number) {
      std::ostringstream loss;
      if (weight != T(0)) loss << " (* " << weight << " = " << weight * values[number] << " loss)";
      LogInfo("    ", of, " net output #", number, ": ", net.blob_names()[index], " = ", values[number],
              loss.str());
    }
  }
}

}  // namespace ferry::detail
