// SPDX-License-Identifier: BSD-2-Clause
// ferry convert: a data set in files of the idx format, MNIST's, for data layers.
#include <atomic>
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <optional>
#include <system_error>

#include "ferry/nets/error.hpp"
#include "ferry/nets/idx.hpp"
#include "verbs.hpp"

namespace ferry::program {
namespace {

// What a handler of signals may touch.
static_assert(std::atomic<int>::is_always_lock_free);
std::atomic<int> g_signal{0};

void NoteSignal(int signal) { g_signal = signal; }

/// While it lives, signals that end the program have the conversion stop, so that nothing half done stays.
/// Then it ends the program by the signal.
class EndsBySignal {
 public:
  EndsBySignal() {
    for (const int signal : kSignals)
      if (std::signal(signal, NoteSignal) == SIG_IGN) std::signal(signal, SIG_IGN);
  }
  ~EndsBySignal() {
    if (g_signal == 0) return;
    std::signal(g_signal, SIG_DFL);
    std::raise(g_signal);
  }
  EndsBySignal(const EndsBySignal&) = delete;
  EndsBySignal& operator=(const EndsBySignal&) = delete;
  static bool Came() { return g_signal != 0; }

 private:
  static constexpr int kSignals[] = {SIGHUP, SIGINT, SIGTERM};
};

struct Convert {
  std::string images, labels, to;
  std::string backend = "lmdb";

  /// `said`: --backend is not the default.
  void Run(bool said) const {
    std::error_code error;  // what cannot be looked up is told by who makes it
    if (std::filesystem::exists(to, error))
      throw NetError(to + " is there already; name a new file or folder");
    const std::filesystem::path extension = std::filesystem::path(to).extension();
    const bool hdf5 = extension == ".h5" || extension == ".hdf5";
    if (hdf5 && said) throw NetError("--backend " + backend + " and " + to + ", an HDF5 file: say one");
    const auto database = backend == "lmdb" ? DataParameter::LMDB : DataParameter::LEVELDB;
    std::optional<EndsBySignal> ends;
    const auto stop = [&] {
      if (!ends) ends.emplace();  // all is read, and next something is written
      return EndsBySignal::Came();
    };
    const std::int64_t count = hdf5 ? ConvertIdxToHdf5({images, labels}, to, 1, stop)
                                    : ConvertIdxToDatabase({images, labels}, database, to, stop);
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
  verb->add_option("to", convert->to, "a new database, or an HDF5 file if the name ends in .h5 or .hdf5")
      ->required();
  verb->add_option("--backend", convert->backend, "of a database")
      ->capture_default_str()
      ->check(CLI::IsMember({"lmdb", "leveldb"}));
  verb->callback([convert, verb] { convert->Run(verb->count("--backend") != 0); });
}

}  // namespace ferry::program
