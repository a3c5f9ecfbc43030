// SPDX-License-Identifier: BSD-2-Clause
// The program `ferry`: trains, tests, times and converts Caffe's models.
#include <cctype>
#include <csignal>
#include <cstdio>
#include <exception>
#include <iostream>
#include <string>
#include <vector>

#include "ferry/nets/error.hpp"
#include "verbs.hpp"

namespace {

/// Caffe's flags have one dash, as in -solver: each becomes one with two. A number keeps its sign. In reverse
/// order, as CLI11 wants.
std::vector<std::string> Arguments(int argc, char** argv) {
  std::vector<std::string> arguments;
  for (int i = argc - 1; i > 0; --i) {
    const char* const said = argv[i];
    const bool caffe =
        said[0] == '-' && std::isalpha(static_cast<unsigned char>(said[1])) != 0 && said[2] != 0;
    arguments.push_back(std::string(caffe ? "-" : "") + said);
  }
  return arguments;
}

/// What is mistyped comes before what is missing because of that.
std::string Mistake(const CLI::App& app, const CLI::ParseError& error) {
  const std::vector<std::string> unknown = app.remaining(true);
  const std::string what = unknown.empty() ? error.what() : "'" + unknown.front() + "' is unknown here";
  const auto verbs = app.get_subcommands();
  return what + "; `ferry " + (verbs.empty() ? "" : verbs.front()->get_name() + ' ') +
         "--help` says what there is";
}

int Run(int argc, char** argv) {
  CLI::App app("Trains, tests, times and converts Caffe's models, on any device.", "ferry");
  app.set_version_flag("--version", "ferry " FERRY_VERSION);
  app.require_subcommand(1);
  ferry::program::AddTrain(app);
  ferry::program::AddTest(app);
  ferry::program::AddTime(app);
  ferry::program::AddInfo(app);
  ferry::program::AddUpgrade(app);
  ferry::program::AddConvert(app);
  try {
    app.parse(Arguments(argc, argv));
    return 0;
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return app.exit(error);  // --help, --version
    throw ferry::NetError(Mistake(app, error));
  }
}

}  // namespace

int main(int argc, char** argv) {
  std::signal(SIGXFSZ, SIG_IGN);  // a file beyond the limit of its size is an error, with its name
  try {
    const int status = Run(argc, argv);
    if (std::fflush(stdout) != 0 || !std::cout.flush())
      throw ferry::NetError("what it prints cannot be written");
    return status;
  } catch (const std::exception& error) {
    std::cerr << "ferry: " << error.what() << '\n';
    return 1;
  }
}
