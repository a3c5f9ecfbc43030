// SPDX-License-Identifier: BSD-2-Clause
// compare_blobs A B TOLERANCE: how far two BlobProto files are from each other, and whether that is too far.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <limits>

#include "ferry/ferry.hpp"
#include "ferry/proto.hpp"

namespace {

ferry::Blob<double> Read(const char* path, ferry::Device& device) {
  ferry::Blob<double> blob(device);
  blob.FromProto(ferry::ReadBlobProto(path));
  return blob;
}

/// The greatest difference of two elements; NaN if one is.
double Distance(const ferry::Blob<double>& a, const ferry::Blob<double>& b) {
  if (a.shape() != b.shape())
    throw ferry::ShapeError("the shapes differ: " + a.shape_string() + " and " + b.shape_string());
  double distance = 0;
  for (std::int64_t i = 0; i < a.count(); ++i) {
    const double apart = std::abs(a.cpu_data()[i] - b.cpu_data()[i]);
    if (!(apart <= distance)) distance = apart;
  }
  return distance;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) {
    std::fputs("usage: compare_blobs A B TOLERANCE\n", stderr);
    return 2;
  }
  try {
    ferry::Device& device = ferry::GetDevice("host");
    const double distance = Distance(Read(argv[1], device), Read(argv[2], device));
    std::printf("the greatest difference is %g\n", distance);
    return distance <= std::atof(argv[3]) ? 0 : 1;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "compare_blobs: %s\n", error.what());
    return 1;
  }
}
