// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <random>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "ferry/ferry.hpp"
#include "idx_file.hpp"

namespace fashion {

inline constexpr std::int64_t kClasses = 10;

/// Images as they are in the files, one byte a pixel.
struct Dataset {
  std::int64_t images;
  std::int64_t pixels;  ///< of one image
  std::vector<std::uint8_t> values;
  std::vector<std::uint8_t> labels;
};

/// Reads "`part`-images-idx3-ubyte" and its labels, with ".gz" or without. Throws ferry::Error.
inline Dataset ReadDataset(const std::filesystem::path& folder, const std::string& part) {
  const auto read = [&](const std::string& name, std::size_t axes) {
    const std::filesystem::path plain = folder / (part + name);
    const std::filesystem::path zipped = plain.string() + ".gz";
    const std::string path = exists(zipped) ? zipped : plain;
    if (path == plain && !exists(plain))
      throw ferry::Error(path + ": no such file; --data names the folder with Fashion-MNIST " +
                         "(Debian: package dataset-fashion-mnist)");
    IdxFile file = ReadIdx(path);
    if (file.shape.size() != axes)
      throw ferry::FormatError(
          path, 3, std::to_string(axes) + " axes expected, not " + std::to_string(file.shape.size()));
    return file;
  };
  IdxFile values = read("-images-idx3-ubyte", 3);
  IdxFile labels = read("-labels-idx1-ubyte", 1);
  const std::string where = (folder / part).string();
  if (values.shape[0] == 0 || values.shape[0] != labels.shape[0])
    throw ferry::Error(where + ": " + std::to_string(values.shape[0]) + " images with " +
                       std::to_string(labels.shape[0]) + " labels");
  if (*std::max_element(labels.bytes.begin(), labels.bytes.end()) >= kClasses)
    throw ferry::Error(where + ": a label that is not below " + std::to_string(kClasses));
  return {values.shape[0], values.shape[1] * values.shape[2], std::move(values.bytes),
          std::move(labels.bytes)};
}

/// What goes to the device in one step.
struct Batch {
  /// Of at most `images` images.
  Batch(std::int64_t images, std::int64_t pixels, ferry::Device& device)
      : inputs({images, pixels + 1}, device), labels({images}, device) {}

  ferry::Blob<float> inputs;         ///< {images, pixels + 1}: from 0 to 1, and a 1 for the bias
  ferry::Blob<std::uint8_t> labels;  ///< {images}
};

/// Fills the batch with the chosen images. Every byte is written, so nothing is fetched or zeroed first.
inline void Load(const Dataset& data, std::span<const std::uint32_t> chosen, Batch& batch) {
  const auto images = static_cast<std::int64_t>(chosen.size());
  batch.inputs.Reshape({images, data.pixels + 1});
  batch.labels.Reshape({images});
  const ferry::Place cpu = ferry::Place::Cpu(batch.inputs.device());
  auto input = cpu.Overwrite(batch.inputs).begin();
  auto label = cpu.Overwrite(batch.labels).begin();
  for (const std::uint32_t i : chosen) {
    const auto image = data.values.begin() + i * data.pixels;
    input = std::transform(image, image + data.pixels, input,
                           [](std::uint8_t value) { return static_cast<float>(value) / 255; });
    *input++ = 1;
    *label++ = data.labels[i];
  }
}

/// Fisher-Yates by hand: what std::shuffle does with a generator is each standard library's own affair.
inline void Shuffle(std::vector<std::uint32_t>& order, std::mt19937& random) {
  for (std::size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[random() % i]);
}

}  // namespace fashion
