// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <sys/types.h>
#include <unistd.h>

#include <cstdint>
#include <deque>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "core/memory/guard.hpp"
#include "ferry/detail/fault.hpp"
#include "ferry/detail/pages.hpp"
#include "ferry/site.hpp"

namespace ferry::detail {

/// All guarded blocks, and the words about those that were touched. Never destroyed.
class HostGuard::Table final : public FaultReporter {
 public:
  static constexpr std::size_t kMost = 8192;  ///< live blocks: each needs two of the system's mappings

  /// By a call that took the bytes from the memory, or the memory from its blob.
  struct Taken {
    Site by;
    const char* how;  ///< what is said behind the site
  };

  static Table& instance();

  void* Make(const SyncedMemory& owner, std::size_t bytes);
  void GiveBack(void* ptr, const std::string& label, const Site* released) noexcept;
  void NoteTaken(void* ptr, const Taken& taken) noexcept;
  std::byte* Reach(const void* ptr) const noexcept { return pages_.Work(ptr); }
  void Lose(void* ptr, const std::string& label) noexcept;
  void Refresh(const SyncedMemory& memory, Bytes bytes) noexcept;

  /// Whether nothing is guarded any more, which has been said.
  bool open() noexcept {
    const std::lock_guard lock(mutex_);
    return open_;
  }
  bool Owns(const void* address) const noexcept override { return pages_.Owns(address); }
  bool Report(const void* address, FaultAccess access) noexcept override;

 private:
  using Access = Pages::Access;
  struct Block {
    const SyncedMemory* owner;   ///< null after it was given back
    std::string label;           ///< then
    std::optional<Taken> taken;  ///< if it was so, rather than given back at the memory's end
    std::byte* begin;
    std::size_t bytes;
    std::vector<Access> pages;  ///< within whose reach each one is

    bool Allows(const void* address, FaultAccess access) const noexcept;
  };
  using Blocks = std::map<const std::byte*, Block>;

  Table() : pages_("guarded host memory", kReserved) {}
  std::byte* Room(std::size_t span);
  void End(Block& block, const std::string& label) noexcept;
  Blocks::iterator Find(const void* address) noexcept;
  void Apply(Block& block, std::size_t from, std::size_t to, Access access) noexcept;
  void OpenAll() noexcept;
  void ForgetOldest() noexcept;

  /// Returns whether the whole of it could be told, for which the memory must not be locked.
  static bool Describe(FaultLine& line, const Block& block, const std::byte* at, FaultAccess access) noexcept;

  static constexpr std::size_t kReserved = std::size_t{64} << 30;
  static constexpr std::size_t kKept = 4096;  ///< blocks that were given back
  Pages pages_;
  std::mutex mutex_;
  Blocks blocks_;                      ///< by address; live ones, and those in gone_
  std::deque<const std::byte*> gone_;  ///< the oldest first
  std::size_t live_ = 0;
  std::byte* next_ = pages_.seen();  ///< where room is looked for
  bool open_ = false;                ///< for good: nobody is guarded any more
  bool within_reach_ = false;        ///< of an open one, whether the system has done so
  const pid_t process_ = getpid();
};

}  // namespace ferry::detail
