// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <CLI/CLI.hpp>

/// The verbs of the program `ferry`, one source file each. Each function adds its verb, with flags named as
/// Caffe's where Caffe has them.
namespace ferry::program {

void AddTrain(CLI::App& app);
void AddTest(CLI::App& app);
void AddTime(CLI::App& app);
void AddInfo(CLI::App& app);
void AddUpgrade(CLI::App& app);
void AddConvert(CLI::App& app);

}  // namespace ferry::program
