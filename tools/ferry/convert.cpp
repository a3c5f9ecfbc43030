// SPDX-License-Identifier: BSD-2-Clause
// ferry convert: a data set in files of the idx format, MNIST's, for data layers.
#include <cstdio>
#include <filesystem>
#include <system_error>

#include "ferry/nets/error.hpp"
#include "ferry/nets/idx.hpp"
#include "verbs.hpp"

namespace ferry::program {
namespace {

struct Convert {
  std::string images, labels, to;
  std::string backend = "lmdb";

  /// `said`: --backend is not the default.
  void Run(bool said) const {
    std::error_code error;  // what cannot be looked up is told by who makes it
    if (std::filesystem::exists(to, error))
      throw NetError(to + " is there already; name a new file or folder");
    const bool hdf5 = std::filesystem::path(to).extension() == ".h5";
    if (hdf5 && said) throw NetError("--backend " + backend + " and " + to + ", an HDF5 file: say one");
    const auto database = backend == "lmdb" ? DataParameter::LMDB : DataParameter::LEVELDB;
    const std::int64_t count =
        hdf5 ? ConvertIdxToHdf5({images, labels}, to) : ConvertIdxToDatabase({images, labels}, database, to);
    std::printf("%s has %lld images\n", to.c_str(), static_cast<long long>(count));
  }
};

}  // namespace

void AddConvert(CLI::App& app) {
  const auto convert = std::make_shared<Convert>();
  CLI::App* const verb =
      app.add_subcommand("convert", "turn a data set of idx files into a database or HDF5");
  verb->add_option("images", convert->images, "the images, an idx file, .gz or plain")->required();
  verb->add_option("labels", convert->labels, "their labels, an idx file, .gz or plain")->required();
  verb->add_option("to", convert->to, "a new database, or an HDF5 file if the name ends in .h5")->required();
  verb->add_option("--backend", convert->backend, "of a database")
      ->capture_default_str()
      ->check(CLI::IsMember({"lmdb", "leveldb"}));
  verb->callback([convert, verb] { convert->Run(verb->count("--backend") != 0); });
}

}  // namespace ferry::program
