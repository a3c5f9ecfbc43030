// SPDX-License-Identifier: BSD-2-Clause
// compare_weights <a> <b> <tolerance>: whether two .caffemodel files have the same weights, relative to the
// largest of each blob.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <exception>

#include "ferry/nets.hpp"

namespace {

/// The largest difference of two blobs, relative to the largest weight.
double Difference(const ferry::BlobProto& a, const ferry::BlobProto& b) {
  if (a.data_size() != b.data_size()) return HUGE_VAL;
  double largest = 0;
  double difference = 0;
  for (int i = 0; i < a.data_size(); ++i) {
    largest = std::max(largest, std::abs(static_cast<double>(a.data(i))));
    const double off = std::abs(static_cast<double>(a.data(i)) - b.data(i));
    difference = std::isnan(off) ? HUGE_VAL : std::max(difference, off);
  }
  return largest == 0 ? difference : difference / largest;
}

double Difference(const ferry::NetParameter& a, const ferry::NetParameter& b) {
  double difference = a.layer_size() == b.layer_size() ? 0 : HUGE_VAL;
  for (int i = 0; i < std::min(a.layer_size(), b.layer_size()); ++i) {
    if (a.layer(i).blobs_size() != b.layer(i).blobs_size()) return HUGE_VAL;
    for (int k = 0; k < a.layer(i).blobs_size(); ++k)
      difference = std::max(difference, Difference(a.layer(i).blobs(k), b.layer(i).blobs(k)));
  }
  return difference;
}

}  // namespace

int main(int argc, char** argv) try {
  if (argc != 4) {
    std::fprintf(stderr, "usage: compare_weights <a> <b> <tolerance>\n");
    return 2;
  }
  ferry::NetParameter a;
  ferry::NetParameter b;
  ferry::ReadNetParamsFromBinaryFileOrDie(argv[1], &a);
  ferry::ReadNetParamsFromBinaryFileOrDie(argv[2], &b);
  const double difference = Difference(a, b);
  std::printf("weights differ by %.3g\n", difference);
  return difference <= std::atof(argv[3]) ? 0 : 1;
} catch (const std::exception& error) {
  std::fprintf(stderr, "compare_weights: %s\n", error.what());
  return 2;
}
