// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cmath>
#include <cstddef>

namespace ferry::testing {

/// The largest of differences, and where it is. What is no number is larger than all numbers: std::max and
/// comparisons pass it over, and so would a test.
class Worst {
 public:
  void Take(double difference, std::size_t at = 0) {
    if (std::isnan(difference_) || difference <= difference_) return;
    difference_ = difference;
    at_ = at;
  }
  double difference() const { return difference_; }
  std::size_t at() const { return at_; }

 private:
  double difference_ = 0;
  std::size_t at_ = 0;
};

}  // namespace ferry::testing
