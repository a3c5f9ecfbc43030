// SPDX-License-Identifier: BSD-2-Clause
#include "inputs.hpp"

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string_view>
#include <system_error>
#include <utility>

#include "core/nets/hdf5/hdf5_file.hpp"
#include "core/proto/file.hpp"
#include "ferry/error.hpp"
#include "ferry/log.hpp"

namespace ferry::program {
namespace {

namespace fs = std::filesystem;

/// The log says nothing while it lives: what is read here is read again, and told then.
class Unlogged {
 public:
  Unlogged() {
    SetLogSink([](LogLevel, std::string_view) {});
  }
  ~Unlogged() { SetLogSink({}); }
  Unlogged(const Unlogged&) = delete;
  Unlogged& operator=(const Unlogged&) = delete;
};

fs::path FolderOf(const fs::path& file) {
  return file.has_parent_path() ? file.parent_path() : fs::path(".");
}

/// A pipe can be read only once, and not here.
bool IsRegular(const std::string& file) {
  std::error_code error;
  return fs::is_regular_file(file, error);
}

template <class Read>
void Try(const Read& read) {
  try {
    read();
  } catch (const Error&) {  // the run itself says what is wrong
    return;
  }
}

void AddOfNet(NetParameter net, std::vector<std::string>& files) {
  UpgradeNetAsNeeded("", &net);
  for (const LayerParameter& layer : net.layer()) {
    files.push_back(layer.data_param().source());
    files.push_back(layer.image_data_param().source());
    files.push_back(layer.infogain_loss_param().source());
    files.push_back(layer.transform_param().mean_file());
    const std::string& list = layer.hdf5_data_param().source();
    files.push_back(list);
    if (!IsRegular(list) || detail::IsHdf5(list)) continue;
    std::ifstream in(list);
    for (std::string file; in >> file;) files.push_back(file);
  }
}

void AddNet(const std::string& file, std::vector<std::string>& files) {
  files.push_back(file);
  if (!IsRegular(file)) return;
  Try([&] {
    NetParameter net;
    ReadProtoFromTextFile(file, &net);
    AddOfNet(std::move(net), files);
  });
}

void AddState(const std::string& file, std::vector<std::string>& files) {
  files.push_back(file);
  if (!IsRegular(file)) return;
  Try([&] {
    if (detail::IsHdf5(file)) {
      files.push_back(detail::Hdf5File::Open(file).ReadString("learned_net"));
      return;
    }
    SolverState state;
    ReadProtoFromBinaryFile(file, &state);
    files.push_back(state.learned_net());
  });
}

}  // namespace

std::vector<std::string> InputsOf(const std::string& solver_file, const SolverParameter& solver,
                                  const std::string& snapshot) {
  const Unlogged again;
  std::vector<std::string> files = {solver_file};
  AddState(snapshot, files);
  for (const std::string& list : solver.weights()) {
    std::istringstream in(list);
    for (std::string file; std::getline(in >> std::ws, file, ',');)
      files.push_back(file.substr(0, file.find_last_not_of(" \t\r\n") + 1));
  }
  AddNet(solver.net(), files);
  AddNet(solver.train_net(), files);
  for (const std::string& net : solver.test_net()) AddNet(net, files);
  Try([&] { AddOfNet(solver.net_param(), files); });
  Try([&] { AddOfNet(solver.train_net_param(), files); });
  for (const NetParameter& net : solver.test_net_param()) Try([&] { AddOfNet(net, files); });
  return files;
}

bool IsRead(const std::string& file, const std::string& input) {
  std::error_code error;
  if (fs::equivalent(file, input, error)) return true;
  return fs::is_directory(input, error) && fs::exists(file, error) &&
         fs::equivalent(FolderOf(file), input, error);
}

bool IsSnapshot(const std::string& file, const std::string& prefix) {
  std::error_code error;
  const fs::path led = detail::WhereLinksLead(file, file), snapshots(prefix + "_iter_");
  const std::string name = led.filename().string();
  if (!name.starts_with(snapshots.filename().string())) return false;
  const std::string kind =
      fs::path(name.ends_with(".h5") ? name.substr(0, name.size() - 3) : name).extension();
  return (kind == ".caffemodel" || kind == ".solverstate") &&
         fs::equivalent(FolderOf(led), FolderOf(snapshots), error);
}

bool AreOneFile(const std::string& a, const std::string& b) {
  std::error_code error;
  if (fs::exists(a, error) && fs::exists(b, error)) return fs::equivalent(a, b, error);
  const fs::path first = detail::WhereLinksLead(a, a), second = detail::WhereLinksLead(b, b);
  return first.filename() == second.filename() && fs::equivalent(FolderOf(first), FolderOf(second), error);
}

}  // namespace ferry::program
