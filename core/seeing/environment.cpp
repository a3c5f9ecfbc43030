// SPDX-License-Identifier: BSD-2-Clause
// Which observers a program has before it says so itself.
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <deque>
#include <fstream>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "core/memory/observers.hpp"
#include "core/seeing/ranges.hpp"
#include "core/seeing/trace.hpp"
#include "core/seeing/transfer_guard.hpp"
#include "ferry/error.hpp"
#include "ferry/ledger.hpp"
#include "ferry/log.hpp"
#include "ferry/pointer_guard.hpp"
#include "ferry/trace.hpp"

namespace ferry::detail {
namespace {

std::string Environment(const char* name) {
  const char* const value = std::getenv(name);  // NOLINT(concurrency-mt-unsafe): before anybody sets it
  return value != nullptr ? value : "";
}

/// `%p` stands for the process, as in the names of LLVM's profiles.
std::string WithProcessId(std::string file) {
  for (auto at = file.find("%p"); at != std::string::npos; at = file.find("%p", at))
    file.replace(at, 2, std::to_string(getpid()));
  return file;
}

/// Never destroyed: told of global memories, too, until the program has printed it.
const Ledger* ledger_of_program = nullptr;
pid_t ledger_process = 0;
std::string& ledger_file() {
  static auto* const file = new std::string;
  return *file;
}

/// A process that was forked since leaves its parent's file alone.
void PrintLedger() {
  if (getpid() != ledger_process) return;
  try {
    if (ledger_file().empty()) {
      const std::string table = ledger_of_program->Table();
      std::fwrite(table.data(), 1, table.size(), stderr);
    } else {
      ledger_of_program->Write(ledger_file());
    }
  } catch (const std::exception& error) {
    Log(LogLevel::kWarning, std::string("FERRY_LEDGER: ") + error.what());
  }
}

/// FERRY_LEDGER=[verify or 1][,][file]
void KeepLedger(std::string_view wanted) {
  auto detail = Ledger::Detail::kRecords;
  if (wanted.substr(0, 6) == "verify" && (wanted.size() == 6 || wanted[6] == ',')) {
    detail = Ledger::Detail::kVerify;
    wanted.remove_prefix(wanted.size() == 6 ? 6 : 7);
  }
  if (wanted == "0") return;
  if (wanted == "1") wanted = {};
  const std::string file = WithProcessId(std::string(wanted));
  if (!file.empty() && !std::ofstream(file, std::ios::app)) {
    Log(LogLevel::kWarning,
        "FERRY_LEDGER: the file " + file + " cannot be written; say 1, or verify, for a table on stderr");
    return;
  }
  ledger_file() = file;
  ledger_process = getpid();
  ledger_of_program = new Ledger(detail);
  std::atexit(PrintLedger);
}

/// FERRY_TRACE=file. The trace is never destroyed: it may end while it is told of something.
void KeepTrace(const std::string& wanted) try {
  if (wanted == "0") return;
  if (wanted == "1") return Log(LogLevel::kWarning, "FERRY_TRACE=1 is not a file; say trace.json");
  static const Trace* trace = nullptr;
  trace = new Trace(WithProcessId(wanted));
  std::atexit([] { EndTrace(*trace); });
} catch (const Error& error) {
  Log(LogLevel::kWarning, std::string("FERRY_TRACE: ") + error.what());
}

/// For as long as the program runs.
void WatchForGood(std::shared_ptr<Observer> observer) {
  static auto* const watches = new std::deque<Watch>;
  watches->emplace_back(std::move(observer));
}

void GuardTransfers(const std::string& wanted) {
  if (wanted == "allow") return;
  if (wanted != "log" && wanted != "throw") {
    Log(LogLevel::kWarning, "FERRY_TRANSFERS=" + wanted + " is not a policy: allow, log, throw");
    return;
  }
  WatchForGood(GuardOfProgram(wanted == "log" ? TransferPolicy::kLog : TransferPolicy::kThrow));
}

void GuardPointers(const std::string& wanted) {
  if (wanted == "0") return;
  if (wanted == "1") return static_cast<void>(SetPointerGuard(PointerGuard::kOn));
  Log(LogLevel::kWarning, "FERRY_GUARD=" + wanted + " is neither 0 nor 1; pointers are not guarded");
}

void ShowRanges(const std::string& wanted) {
  if (auto ranges = RangesOfProgram(wanted, Backends())) WatchForGood(std::move(ranges));
}

}  // namespace

void WatchForEnvironment() {
  if (const std::string wanted = Environment("FERRY_GUARD"); !wanted.empty()) GuardPointers(wanted);
  if (const std::string wanted = Environment("FERRY_TRANSFERS"); !wanted.empty()) GuardTransfers(wanted);
  if (const std::string wanted = Environment("FERRY_LEDGER"); !wanted.empty()) KeepLedger(wanted);
  if (const std::string wanted = Environment("FERRY_TRACE"); !wanted.empty()) KeepTrace(wanted);
  if (const std::string wanted = Environment("FERRY_RANGES"); !wanted.empty()) ShowRanges(wanted);
  if (ObserverOfKernels != nullptr)
    if (auto observer = ObserverOfKernels()) WatchForGood(std::move(observer));
}

}  // namespace ferry::detail
