// SPDX-License-Identifier: BSD-2-Clause
// ferry upgrade: nets and solvers of Caffe's older forms in today's.
#include <filesystem>
#include <iostream>

#include "ferry/nets.hpp"
#include "inputs.hpp"
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
    solver ? UpgradeSolver() : UpgradeNet();
    std::cout << to << " has the form of today\n";
  }

  void UpgradeSolver() const {
    SolverParameter param;
    ReadProtoFromTextFile(from, &param);
    UpgradeSolverAsNeeded(from, &param);
    WriteProtoToTextFile(param, to);
  }
  void UpgradeNet() const {
    NetParameter param;
    IsText(from) ? ReadProtoFromTextFile(from, &param) : ReadProtoFromBinaryFile(from, &param);
    const bool whole = UpgradeNetAsNeeded(from, &param);
    if (!whole && AreOneFile(from, to))
      throw NetError(to +
                     " is not written: it is the source, and parts of it cannot be upgraded; warnings "
                     "name them; write to another file");
    IsText(to) ? WriteProtoToTextFile(param, to) : WriteProtoToBinaryFile(param, to);
    if (!whole)
      throw NetError(to + " was written without the parts of " + from +
                     " that cannot be upgraded; warnings name them");
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
