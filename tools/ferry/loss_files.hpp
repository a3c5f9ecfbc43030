// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <filesystem>
#include <vector>

namespace ferry::program {

/// A row of a training run.
struct LossRow {
  int iteration;
  double loss;
  double rate;     ///< the learning rate
  double seconds;  ///< since the start
};

/// Throws Error where a file cannot be written, and leaves all as it is.
void RequireWritable(const std::filesystem::path& file);

/// The rows of a file that WriteCsv wrote; none for a missing or empty file, a pipe or a device. Throws Error
/// for any other file.
std::vector<LossRow> ReadCsv(const std::filesystem::path& file);

/// iteration,loss,rate,seconds; with a line of names. The file appears whole or not at all, here and below.
/// Throws Error where it cannot be written.
void WriteCsv(const std::filesystem::path& file, const std::vector<LossRow>& rows);
/// The loss over the iterations as an SVG picture; the loss's axis is logarithmic where it spans a factor of
/// ten.
void WritePlot(const std::filesystem::path& file, const std::vector<LossRow>& rows);

}  // namespace ferry::program
