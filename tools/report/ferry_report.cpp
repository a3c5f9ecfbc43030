// SPDX-License-Identifier: BSD-2-Clause
// Makes one HTML page of a trace that FERRY_TRACE or ferry::Trace has written.
#include <cerrno>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <new>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>

#include "core/write_signals.hpp"
#include "tools/report/page.hpp"

namespace {

namespace fs = std::filesystem;
using ferry::report::BadTrace;

constexpr const char* kUsage = "usage: ferry-report <trace.json> [-o <page.html>]\n";

struct Arguments {
  std::string trace, page;
};

/// False where that is no way to call the program.
bool Parse(int argc, char** argv, Arguments& arguments) {
  for (int i = 1; i < argc; ++i) {
    const std::string_view argument = argv[i];
    if (argument == "-o" && i + 1 < argc && arguments.page.empty())
      arguments.page = argv[++i];
    else if (!argument.empty() && argument.front() != '-' && arguments.trace.empty())
      arguments.trace = argument;
    else
      return false;
  }
  return !arguments.trace.empty();
}

std::string Why() { return std::generic_category().message(errno); }

ferry::report::Trace Read(const std::string& path) {
  constexpr std::uintmax_t kMost = std::uintmax_t{2} << 30;
  std::error_code error;
  if (fs::is_directory(path, error)) throw BadTrace("is a directory");
  const std::uintmax_t size = fs::file_size(path, error);
  if (!error && size > kMost)
    throw BadTrace("has " + std::to_string(size) + " bytes; at most 2 GiB are read: trace fewer steps");
  std::ifstream in(path, std::ios::binary);
  if (!in) throw BadTrace("cannot be read: " + Why());
  return ferry::report::ReadTrace(in);
}

void Write(const std::string& path, const std::string& page) {
  std::ofstream out(path, std::ios::binary);
  if (out) out << page;
  if (!out.flush()) throw std::runtime_error(path + " cannot be written: " + Why());
}

void Report(const Arguments& arguments) {
  const fs::path trace_path(arguments.trace);
  const fs::path page =
      arguments.page.empty() ? fs::path(trace_path).replace_extension(".html") : fs::path(arguments.page);
  std::error_code none;
  if (page == trace_path || fs::equivalent(page, trace_path, none))
    throw BadTrace("would be replaced by the page; say where that goes by -o");
  const auto trace = Read(arguments.trace);
  if (trace.truncated)
    std::cerr << "ferry-report: " << arguments.trace
              << " ends too early: the program died, or the disk was full; the page has what is there\n";
  Write(page.string(), PageOf(trace, trace_path.filename().string()));
}

}  // namespace

int main(int argc, char** argv) {
  const ferry::detail::WithoutWriteSignals quiet;  // a write that fails is said
  Arguments arguments;
  const bool help = argc == 2 && std::string_view(argv[1]) == "--help";
  if (help || !Parse(argc, argv, arguments)) {
    (help ? std::cout : std::cerr) << kUsage;
    return help && std::cout.flush() ? 0 : 2;
  }
  try {
    Report(arguments);
  } catch (const BadTrace& error) {
    std::cerr << "ferry-report: " << arguments.trace << ' ' << error.what() << '\n';
    return 1;
  } catch (const std::bad_alloc&) {
    std::cerr << "ferry-report: " << arguments.trace
              << " needs more memory than there is: trace fewer steps\n";
    return 1;
  } catch (const std::exception& error) {
    std::cerr << "ferry-report: " << error.what() << '\n';
    return 1;
  }
}
