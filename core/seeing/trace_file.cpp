// SPDX-License-Identifier: BSD-2-Clause
#include "core/seeing/trace_file.hpp"

#include <cerrno>
#include <new>
#include <utility>

#include "core/write_signals.hpp"
#include "ferry/error.hpp"

namespace ferry::detail {
namespace {

std::string NotWritten(const std::string& path, const std::string& why) {
  return "Trace: the file " + path + " cannot be written: " + why;
}

}  // namespace

TraceFile::TraceFile(std::string path) : path_(std::move(path)) {
  if (PrintedTo(path_) != nullptr) throw Error(NotWritten(path_, "the program prints to it"));
  file_ = OpenToWrite(path_);
  if (file_ == nullptr) throw Error(NotWritten(path_, WhyNotWritten()));
  fstat(fileno(file_.get()), &opened_);
  std::setvbuf(file_.get(), nullptr, _IONBF,
               0);  // text_ is the buffer: a program that dies leaves whole events
  text_.reserve(kEnough + kEnough / 4);
}

void TraceFile::End() {
  if (file_ == nullptr) return;
  text_ += empty_ ? "[]\n" : "\n]\n";
  Write();
  if (file_ != nullptr && !Close(std::move(file_))) Fail();
}

std::string& TraceFile::Next() {
  text_ += empty_ ? "[\n" : ",\n";
  empty_ = false;
  return text_;
}

void TraceFile::WriteSome() noexcept {
  const auto now = Clock::now();
  if (text_.size() < kEnough && now - written_ < std::chrono::seconds(1)) return;
  written_ = now;
  Write();
}

bool TraceFile::IsOpen() const noexcept {
  struct stat now {};
  const int file = fileno(file_.get());
  if (fstat(file, &now) != 0 || now.st_dev != opened_.st_dev || now.st_ino != opened_.st_ino) return false;
  return !S_ISREG(now.st_mode) || lseek(file, 0, SEEK_CUR) == bytes_;
}

void TraceFile::Write() noexcept {
  const WithoutWriteSignals quiet;
  if (file_ != nullptr && !IsOpen()) {
    errno = EBADF;
    Fail();
    static_cast<void>(file_.release());
  }
  if (file_ != nullptr && std::fwrite(text_.data(), 1, text_.size(), file_.get()) != text_.size()) {
    Fail();
    Close(std::move(file_));
  }
  bytes_ += static_cast<off_t>(text_.size());
  text_.clear();
  Keep();
}

void TraceFile::Fail() noexcept try {
  warning_ = NotWritten(path_, WhyNotWritten()) + "; the program goes on, and the trace ends here";
} catch (const std::bad_alloc&) {
  // The program goes on without the warning, too.
}

}  // namespace ferry::detail
