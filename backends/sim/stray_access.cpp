// SPDX-License-Identifier: BSD-2-Clause
#include "stray_access.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstdint>
#include <ctime>
#include <string_view>

#include "machine.hpp"

namespace ferry::sim {
namespace {

Machine* watched = nullptr;
struct sigaction previous;  // whom the handler passes the signal on to

/// One line, made without allocating: it is for a signal's handler.
class Line {
 public:
  Line& operator<<(std::string_view text) {
    const std::size_t n = std::min(text.size(), buffer_.size() - size_);
    std::copy_n(text.data(), n, buffer_.data() + size_);
    size_ += n;
    return *this;
  }
  template <class Integer>
  Line& Number(Integer value, int base = 10) {
    std::array<char, 24> digits;
    const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value, base).ptr;
    return *this << std::string_view(digits.data(), static_cast<std::size_t>(end - digits.data()));
  }
  Line& Bytes(std::ptrdiff_t count) { return Number(count) << (count == 1 ? " byte" : " bytes"); }
  void Write() const {
    if (write(STDERR_FILENO, buffer_.data(), size_) < 0) return;  // nobody listens
  }

 private:
  std::array<char, 512> buffer_;
  std::size_t size_ = 0;
};

void DescribePlace(Line& line, const Block& block, const std::byte* at) {
  if (block.contains(at))
    (line << "byte ").Number(at - block.address) << " of ";
  else if (at < block.address)
    line.Bytes(block.address - at) << " in front of ";
  else
    line.Bytes(at - block.end() + 1) << " behind the end of ";
}

void DescribeBlock(Line& line, const Block& block) {
  line.Bytes(static_cast<std::ptrdiff_t>(block.bytes)) << " of ";
  if (block.kind == MemoryKind::kPinnedHost)
    line << "pinned host memory";
  else
    (line << (block.kind == MemoryKind::kDevice ? "device" : "managed") << " memory of sim:")
        .Number(block.device);
  (line << ", made by " << block.made.name << " (call ").Number(block.made.number) << ")";
}

const char* Advice(const Block& block, const std::byte* at) {
  if (block.freed) return " and freed since.";
  if (!block.contains(at) || block.kind != MemoryKind::kDevice) return ".";
  return InKernel() ? ". Its launch did not name this block, or named it for reading alone."
                    : ". The host can only use what cpu_data returns.";
}

void Describe(Line& line, const Memory& memory, const std::byte* at) {
  constexpr std::ptrdiff_t kNear = 4096;  // so far from a block an access may still be meant for it
  const Block* const block = memory.Nearest(at);
  if (block == nullptr || block->address - at > kNear || at - block->end() > kNear) {
    line << "memory of the simulated GPU that was freed long ago, or never allocated.";
    return;
  }
  DescribePlace(line, *block, at);
  DescribeBlock(line, *block);
  line << Advice(*block, at);
}

/// Not for long: the thread at fault may itself be in the simulator.
bool TryLock(std::mutex& mutex) {
  for (int tries = 0; tries < 1000; ++tries) {
    if (mutex.try_lock()) return true;
    const timespec pause{0, 1'000'000};
    (void)nanosleep(&pause, nullptr);
  }
  return false;
}

void Report(const void* address) {
  Line line;
  (line << "[ferry] [error] sim: " << (InKernel() ? "a kernel" : "host code") << " touched 0x")
      .Number(reinterpret_cast<std::uintptr_t>(address), 16);
  line << ": ";
  if (TryLock(watched->mutex)) {
    Describe(line, watched->memory, static_cast<const std::byte*>(address));
    watched->mutex.unlock();
  } else {
    line << "memory of the simulated GPU; whose cannot be told while the simulator is at work.";
  }
  line << "\n";
  line.Write();
}

/// To the default action by way of the instruction, which does it again when the handler returns: then the
/// process ends there, by the same signal. One that was sent, and is no instruction's, is sent again.
void PassOn(int signal, siginfo_t* info, void* context) {
  const bool sent = info->si_code <= 0;
  if ((previous.sa_flags & SA_SIGINFO) != 0) return previous.sa_sigaction(signal, info, context);
  if (previous.sa_handler == SIG_IGN && sent) return;
  if (previous.sa_handler != SIG_DFL && previous.sa_handler != SIG_IGN) return previous.sa_handler(signal);
  (void)std::signal(signal, SIG_DFL);
  if (sent) (void)raise(signal);
}

void OnSignal(int signal, siginfo_t* info, void* context) {
  const int error = errno;
  if (info->si_code > 0 && watched->memory.Owns(info->si_addr)) Report(info->si_addr);
  errno = error;
  PassOn(signal, info, context);
}

}  // namespace

void ReportStrayAccesses(Machine& machine) noexcept {
  struct sigaction now {};
  if (sigaction(SIGSEGV, nullptr, &now) != 0) return;
  const auto handles = [&](const struct sigaction& action) {
    return now.sa_sigaction == action.sa_sigaction;
  };
  struct sigaction ours = now;  // with the mask and the flags that the next handler expects
  ours.sa_sigaction = OnSignal;
  ours.sa_flags |= SA_SIGINFO | SA_ONSTACK;
  const bool set_since = watched != nullptr && now.sa_handler != SIG_DFL && !handles(previous);
  if (handles(ours) || set_since) return;
  watched = &machine;
  previous = now;
  (void)sigaction(SIGSEGV, &ours, nullptr);
}

}  // namespace ferry::sim
