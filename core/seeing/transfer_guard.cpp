// SPDX-License-Identifier: BSD-2-Clause
#include "core/seeing/transfer_guard.hpp"

#include <optional>
#include <string>
#include <utility>

#include "core/seeing/words.hpp"
#include "ferry/log.hpp"

namespace ferry {
namespace {

std::string Described(const CopyRecord& copy) {
  using detail::NameOf;
  std::string text = NameOf(*copy.memory) + ": " + std::to_string(copy.range.bytes) + " bytes from byte " +
                     std::to_string(copy.range.first) + " on would go from " +
                     detail::NameOfSpace(copy.from) + " to " + detail::NameOfSpace(copy.to) + " for a " +
                     (copy.purpose == Purpose::kAccess     ? Name(copy.access)
                      : copy.purpose == Purpose::kPrefetch ? "Prefetch"
                                                           : "Release") +
                     " by " + NameOf(copy.site);
  if (copy.written)
    text += ", since " + NameOf(copy.written->site) + " asked for them " +
            (copy.written->access == Access::kOverwrite ? "to overwrite" : "mutable");
  return text;
}

void Apply(TransferPolicy policy, const CopyRecord& copy, const char* who) {
  if (policy == TransferPolicy::kAllow) return;
  const std::string text = std::string(who) + ": " + Described(copy);
  if (policy == TransferPolicy::kLog) return Log(LogLevel::kWarning, text);
  throw TransferRefused(text + "; where it is meant, put it under TransferGuard(TransferPolicy::kAllow)",
                        copy.site);
}

/// Guards of a thread, from the outermost to the innermost; null where there is none.
thread_local const void* innermost = nullptr;

class ProgramGuard : public Observer {
 public:
  explicit ProgramGuard(TransferPolicy policy) : policy_(policy) {}
  void Before(const CopyRecord& copy) override {
    if (innermost == nullptr) Apply(policy_, copy, "FERRY_TRANSFERS");
  }

 private:
  TransferPolicy policy_;
};

}  // namespace

class TransferGuard::Innermost {
 public:
  explicit Innermost(TransferPolicy policy) : outer_(std::exchange(innermost, this)) {
    if (policy == TransferPolicy::kAllow) return;  // whoever else watches asks who is the innermost
    try {
      watch_.emplace(std::make_shared<Judge>(policy, this));
    } catch (...) {
      innermost = outer_;
      throw;
    }
  }
  ~Innermost() { innermost = outer_; }
  Innermost(const Innermost&) = delete;
  Innermost& operator=(const Innermost&) = delete;

 private:
  class Judge : public Observer {
   public:
    Judge(TransferPolicy policy, const Innermost* guard) : policy_(policy), guard_(guard) {}
    void Before(const CopyRecord& copy) override {
      if (innermost == guard_) Apply(policy_, copy, "TransferGuard");
    }

   private:
    TransferPolicy policy_;
    const Innermost* guard_;
  };

  const void* outer_;
  std::optional<Watch> watch_;
};

TransferGuard::TransferGuard(TransferPolicy policy) : guard_(std::make_unique<Innermost>(policy)) {}
TransferGuard::~TransferGuard() = default;

std::shared_ptr<Observer> detail::GuardOfProgram(TransferPolicy policy) {
  return std::make_shared<ProgramGuard>(policy);
}

}  // namespace ferry
