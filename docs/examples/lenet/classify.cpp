// SPDX-License-Identifier: BSD-2-Clause
// classify <deploy.prototxt> <weights> <images> <labels> <count>: how many of the first images of a data set,
// in idx files, the trained LeNet gets right, one at a time, at the default place.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>

#include "ferry/ferry.hpp"
#include "ferry/nets.hpp"

namespace {

constexpr float kScale = 0.00390625F;  // as transform_param of train_test.prototxt

/// The class that the net finds most likely.
std::ptrdiff_t ClassOf(ferry::Net<float>& net, const std::uint8_t* pixels) {
  ferry::Blob<float>& input = *net.input_blobs()[0];
  std::transform(pixels, pixels + input.count(), input.overwrite_cpu_data(),
                 [](std::uint8_t pixel) { return kScale * static_cast<float>(pixel); });
  {
    const ferry::TransferGuard meant(ferry::TransferPolicy::kAllow);  // the image goes there
    input.Prefetch(ferry::Side::kGpu);
  }
  const ferry::Blob<float>& likely = *net.Forward()[0];
  const ferry::TransferGuard meant(ferry::TransferPolicy::kAllow);  // what the net finds comes back
  const float* const first = likely.cpu_data();
  return std::max_element(first, first + likely.count()) - first;
}

}  // namespace

int main(int argc, char** argv) try {
  if (argc != 6) {
    std::fprintf(stderr, "usage: classify <deploy.prototxt> <weights> <images> <labels> <count>\n");
    return 2;
  }
  ferry::Net<float> net(argv[1], ferry::TEST);
  net.CopyTrainedLayersFrom(argv[2]);
  {
    const ferry::TransferGuard meant(ferry::TransferPolicy::kAllow);  // the weights go there, once
    net.PrefetchParams();
  }
  const ferry::IdxArray images = ferry::ReadIdx(argv[3]);
  const ferry::IdxArray labels = ferry::ReadIdx(argv[4]);
  char* end = nullptr;
  const std::int64_t count = std::strtoll(argv[5], &end, 10);
  const std::int64_t pixels = net.input_blobs()[0]->count();
  const auto there = static_cast<std::int64_t>(labels.bytes.size());
  if (*end != '\0' || count < 1 || count > there ||
      static_cast<std::int64_t>(images.bytes.size()) != there * pixels)
    throw ferry::Error("there must be as many images as labels, of the net's size, and 1 or more to look at");

  std::int64_t right = 0;
  for (std::int64_t i = 0; i < count; ++i)
    if (ClassOf(net, images.bytes.data() + i * pixels) == labels.bytes[static_cast<std::size_t>(i)]) ++right;
  std::printf("%lld of %lld images are right\n", static_cast<long long>(right),
              static_cast<long long>(count));
} catch (const std::exception& error) {
  std::fprintf(stderr, "classify: %s\n", error.what());
  return 2;
}
