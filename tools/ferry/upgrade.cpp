// SPDX-License-Identifier: BSD-2-Clause
// ferry upgrade: nets and solvers of Caffe's older forms in today's.
#include <filesystem>
#include <iostream>

#include "ferry/nets.hpp"
#include "verbs.hpp"

namespace ferry::program {
namespace {

struct Upgrade {
  std::string from, to;
  bool solver = false;

  static bool IsText(const std::filesystem::path& file) {
    return file.extension() == ".prototxt" || file.extension() == ".pbtxt" || file.extension() == ".txt";
  }

  void Run() const {
    if (solver) {
      SolverParameter param;
      ReadSolverParamsFromTextFileOrDie(from, &param);
      WriteProtoToTextFile(param, to);
    } else {
      NetParameter param;
      IsText(from) ? ReadNetParamsFromTextFileOrDie(from, &param)
                   : ReadNetParamsFromBinaryFileOrDie(from, &param);
      IsText(to) ? WriteProtoToTextFile(param, to) : WriteProtoToBinaryFile(param, to);
    }
    std::cout << to << " has the form of today\n";
  }
};

}  // namespace

void AddUpgrade(CLI::App& app) {
  const auto upgrade = std::make_shared<Upgrade>();
  CLI::App* const verb = app.add_subcommand("upgrade", "write a net or solver of an older form in today's");
  verb->add_option("from", upgrade->from, "a .prototxt, or a .caffemodel")->required();
  verb->add_option("to", upgrade->to, "the new file; text if its name says so")->required();
  verb->add_flag("--solver", upgrade->solver, "it is a solver");
  verb->callback([upgrade] { upgrade->Run(); });
}

}  // namespace ferry::program
