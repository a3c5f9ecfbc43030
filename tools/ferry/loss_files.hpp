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

/// iteration,loss,rate,seconds; with a line of names. Throws NetError where the file can't be written.
void WriteCsv(const std::filesystem::path& file, const std::vector<LossRow>& rows);
/// The loss over the iterations as an SVG picture; the loss's axis is logarithmic where it spans a factor of
/// ten. Throws NetError where the file can't be written.
void WritePlot(const std::filesystem::path& file, const std::vector<LossRow>& rows);

}  // namespace ferry::program
