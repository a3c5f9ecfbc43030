// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <Kokkos_Core.hpp>
#include <cstdint>
#include <limits>
#include <string>

#include "ferry/blob.hpp"
#include "ferry/place.hpp"

namespace ferry::detail {

/// Not-a-number: a constant, which nvcc takes in kernels where it refuses calls of std::numeric_limits.
template <class T>
inline constexpr T kNan = std::numeric_limits<T>::quiet_NaN();

/// Which labels a layer takes: truncated to an integer, as in Caffe, 0 up to, not including, `classes`, and
/// the one that is ignored.
struct Labels {
  static constexpr std::int64_t kIgnored = -1;  ///< what Class returns for the label that is ignored
  static constexpr std::int64_t kWrong = -2;    ///< and for one that there is no class for

  std::int64_t classes;
  bool has_ignored = false;
  std::int64_t ignored = 0;

  /// The class that a label names.
  template <class T>
  KOKKOS_INLINE_FUNCTION std::int64_t Class(T label) const {
    const T limit = T(1 << 30) * 2;
    if (!(label > -limit && label < limit)) return kWrong;
    const auto value = static_cast<std::int64_t>(label);
    if (has_ignored && value == ignored) return kIgnored;
    return value >= 0 && value < classes ? value : kWrong;
  }
};

/// What a blob has: labels, of classes; or indices, of a table's rows.
struct LabelWords {
  const char* one = "label";
  const char* of = "classes";
};
/// The first label that is wrong, in words; empty if none is. Kernels make not-a-number of a wrong label.
template <class T>
std::string WrongLabel(const Blob<T>& blob, const Labels& labels, const LabelWords& words = {}) {
  std::int64_t at = 0;
  for (const T label : Place::Cpu(blob.device()).Read(blob)) {
    if (labels.Class(label) == Labels::kWrong) {
      const std::string of = blob.name().empty() ? "" : " of '" + blob.name() + "'";
      std::string text = std::string(words.one) + ' ' + std::to_string(label) + " at position " +
                         std::to_string(at) + of + "; there are " + std::to_string(labels.classes) + ' ' +
                         words.of + ", 0 to " + std::to_string(labels.classes - 1);
      if (labels.has_ignored) text += ", and ignore_label " + std::to_string(labels.ignored);
      return text;
    }
    ++at;
  }
  return {};
}

}  // namespace ferry::detail
