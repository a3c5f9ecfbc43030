// SPDX-License-Identifier: BSD-2-Clause
// Which observers a program has before it says so itself.
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include "core/memory/observers.hpp"
#include "core/seeing/output_file.hpp"
#include "core/seeing/ranges.hpp"
#include "core/seeing/trace.hpp"
#include "core/seeing/transfer_guard.hpp"
#include "core/write_signals.hpp"
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
Ledger* ledger_of_program = nullptr;
pid_t ledger_process = 0;
std::string& ledger_file() {
  static auto* const file = new std::string;
  return *file;
}

/// A process that was forked since leaves its parent's file alone.
void PrintLedger() {
  if (getpid() != ledger_process) return;
  const WithoutWriteSignals quiet;
  try {
    ledger_of_program->CountPendingAsUnread();
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

/// A word is more likely one that we don't know.
bool NamesFile(std::string_view value) { return value.find_first_of("./") != std::string_view::npos; }

/// Takes the word off the value's begin, with its comma, if it is there.
bool TakeWord(std::string_view& value, std::string_view word) {
  if (!value.starts_with(word) || (value.size() != word.size() && value[word.size()] != ',')) return false;
  value.remove_prefix(std::min(value.size(), word.size() + 1));
  return true;
}

/// FERRY_LEDGER=file, or 0, 1 or verify, with a file behind a comma or without.
void KeepLedger(std::string_view wanted) {
  const std::string all(wanted);
  if (TakeWord(wanted, "0")) return;
  const bool verifies = TakeWord(wanted, "verify");
  const bool mistakable = !verifies && !TakeWord(wanted, "1") && wanted.find(',') != std::string_view::npos;
  if (!wanted.empty() && (!NamesFile(wanted) || mistakable)) {
    Log(LogLevel::kWarning, "FERRY_LEDGER=" + all +
                                " is neither 0, 1, verify nor a file; say 1, verify, a file with a dot or a "
                                "slash in its name, or 1,<file> or verify,<file>, which may have a comma");
    return;
  }
  const std::string named = WithProcessId(std::string(wanted));
  std::error_code none;  // the program may go to another folder before its end
  const std::string file = named.empty() ? named : std::filesystem::absolute(named, none).string();
  if (!file.empty() && !MayBeWritten(file)) {
    Log(LogLevel::kWarning, "FERRY_LEDGER: the file " + file + " cannot be written: " + WhyNotWritten() +
                                "; say 1, or verify, for a table on stderr");
    return;
  }
  ledger_file() = file;
  ledger_process = getpid();
  ledger_of_program = new Ledger(verifies ? Ledger::Detail::kVerify : Ledger::Detail::kRecords);
  std::atexit(PrintLedger);
}

/// FERRY_TRACE=file. The trace is never destroyed: it may end while it is told of something.
void KeepTrace(const std::string& wanted) try {
  if (wanted == "0") return;
  if (!NamesFile(wanted))
    return Log(LogLevel::kWarning,
               "FERRY_TRACE=" + wanted +
                   " is not a file; say trace.json, or a file with a dot or a slash in its "
                   "name");
  const std::string file = WithProcessId(wanted);
  if (!ledger_file().empty() && AreOne(file, ledger_file()))  // it is there by now
    return Log(LogLevel::kWarning, "FERRY_TRACE: the file " + file +
                                       " is that of FERRY_LEDGER, too, and gets no trace; name two files");
  static const Trace* trace = nullptr;
  trace = new Trace(file);
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

/// Does the step once: if a later one throws, the next try leaves out those that were done.
template <class Step>
void Ask(const char* name, bool& done, Step step) {
  if (done) return;
  if (const std::string wanted = Environment(name); !wanted.empty()) step(wanted);
  done = true;
}

}  // namespace

void WatchForEnvironment() {
  static_cast<void>(log_level());  // FERRY_LOG=trace is for whoever is told of accesses
  static bool done[5];
  Ask("FERRY_GUARD", done[0], GuardPointers);
  Ask("FERRY_TRANSFERS", done[1], GuardTransfers);
  Ask("FERRY_LEDGER", done[2], KeepLedger);
  Ask("FERRY_TRACE", done[3], KeepTrace);
  Ask("FERRY_RANGES", done[4], ShowRanges);
  if (ObserverOfKernels != nullptr)
    if (auto observer = ObserverOfKernels()) WatchForGood(std::move(observer));
}

}  // namespace ferry::detail
