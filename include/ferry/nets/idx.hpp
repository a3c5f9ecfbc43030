// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <vector>

#include "ferry/data.pb.h"
#include "ferry/detail/language.hpp"

namespace ferry {

/// Unsigned bytes of some shape, row-major: the format of MNIST's files and of those that followed it.
struct IdxArray {
  std::vector<std::int64_t> dims;
  std::vector<std::uint8_t> bytes;
};

/// A plain file or one of gzip. Throws NetError with the path for one that is not whole, or not of unsigned
/// bytes.
IdxArray ReadIdx(const std::filesystem::path& path);

/// What ConvertIdx reads: `images` has the dims (n, height, width) or (n, channels, height, width), and
/// `labels` n.
struct IdxFiles {
  std::filesystem::path images, labels;
};

/// A new database of a Datum for each image, with keys 00000000, 00000001 and so on. Returns how many. Throws
/// NetError, also for a database that is there. It is beside its place, with `.unfinished` in its name, until
/// it is whole. `stop` is asked before anything is written and before each image: true ends the conversion by
/// a NetError, and nothing of it stays.
std::int64_t ConvertIdxToDatabase(const IdxFiles& from, DataParameter::DB backend,
                                  const std::filesystem::path& to, const std::function<bool()>& stop = {});
/// A file of HDF5 with "data", n x channels x height x width, each byte times `scale`, and "label", n.
/// Returns n. A file that is there is replaced. `stop` is asked before the file is made and before it takes
/// its place, as above. Throws NetError, also in a build without HDF5.
std::int64_t ConvertIdxToHdf5(const IdxFiles& from, const std::filesystem::path& to, float scale = 1,
                              const std::function<bool()>& stop = {});

}  // namespace ferry
