// SPDX-License-Identifier: BSD-2-Clause
// Who is told that a copy was in vain, and what.
#include <array>
#include <catch2/catch_test_macros.hpp>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "ledger_fixture.hpp"

namespace ferry::testing {
namespace {

/// Counts the copies in vain that it is told of, and the others.
struct InVain : Observer {
  using Observer::On;
  void On(const OutcomeRecord& outcome) override {
    ++(outcome.read ? read : count);
    lent = lent || outcome.copy->on != nullptr || outcome.copy->source != nullptr;
  }
  int count = 0, read = 0;
  bool lent = false;  ///< what may be gone
};

/// Keeps what it is told of copies in vain, except what ends with the record.
struct Vain : Observer {
  using Observer::On;
  void On(const OutcomeRecord& outcome) override {
    if (!outcome.read) copies.push_back(*outcome.copy);
  }
  std::vector<CopyRecord> copies;
};

TEST_CASE("Of a copy in vain the record has all except its stream and its source, which may be gone") {
  LedgerFixture f;
  const auto vain = std::make_shared<Vain>();
  const Watch watch(vain);
  SyncedMemory x(40, *f.device, "x");
  x.overwrite_cpu_data();
  {
    const Stream on(*f.device);
    x.Prefetch(Side::kGpu, on, {8, 16});
  }
  x.overwrite_cpu_data();
  REQUIRE(vain->copies.size() == 1);
  const CopyRecord& copy = vain->copies[0];
  CHECK((copy.range.first == 8 && copy.range.bytes == 16 && copy.purpose == Purpose::kPrefetch));
  CHECK((copy.from == nullptr && copy.to == f.device.get() && copy.written));
  CHECK((copy.on == nullptr && copy.source == nullptr));
}

TEST_CASE(
    "Of a copy that is read, whoever was there from the copy on is told once, under its label of then") {
  struct Labels : Observer {
    using Observer::On;
    void On(const OutcomeRecord& outcome) override {
      if (outcome.read) labels.emplace_back(outcome.label);
    }
    std::vector<std::string> labels;
  };
  LedgerFixture f;
  const auto stays = std::make_shared<Labels>(), comes = std::make_shared<Labels>();
  const Watch watch(stays);
  SyncedMemory x(40, *f.device, "x");
  x.overwrite_cpu_data();
  Fetch(x, Side::kGpu);
  const Watch late(comes);
  x.set_label("y");
  for (int i = 0; i < 2; ++i) x.gpu_data();
  CHECK((stays->labels == std::vector<std::string>{"x"} && comes->labels.empty()));

  std::array<char, 40> bytes{};
  x.set_cpu_data(bytes.data());
  x.mutable_gpu_data();
  Fetch(x, Side::kCpu);  // where the program may read it without an access
  CHECK((stays->labels == std::vector<std::string>{"x", "y"} && comes->labels.size() == 1));
}

TEST_CASE(
    "What a Release brought, and was overwritten in place, was made in vain, though new bytes are read") {
  constexpr std::size_t kParts = 32;
  LedgerFixture f;
  const auto vain = std::make_shared<InVain>();
  const Watch watch(vain);
  const Stream on = Stream::Main(*f.device);
  SyncedMemory x(2 * kParts, *f.device, "x");
  x.overwrite_gpu_data({}, on);
  for (std::size_t i = 0; i < kParts; ++i) x.overwrite_cpu_data({2 * i + 1, 1});
  x.Release(Side::kGpu);
  on.Synchronize();
  for (std::size_t i = 0; i < kParts; i += 2) x.cpu_data({2 * i, 1});
  CHECK((vain->count == 0 && vain->read == kParts / 2));
  for (int pass = 0; pass < 2; ++pass) {
    for (std::size_t i = 0; i < kParts; ++i) x.overwrite_cpu_data({2 * i, 1});
    for (std::size_t i = 0; i < kParts; ++i) x.cpu_data({2 * i, 1});
    CHECK((vain->count == kParts / 2 && vain->read == kParts / 2));
  }
}

TEST_CASE("Of more than 64 copies at a time that nobody has used, the first 64 are known") {
  LedgerFixture f;
  const auto vain = std::make_shared<InVain>();
  const Watch watch(vain);
  SyncedMemory x(130, *f.device, "x");
  const auto prefetch = [&](std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) x.Prefetch(Side::kGpu, Stream::Main(*f.device), {2 * i, 1});
  };
  x.overwrite_cpu_data();
  prefetch(65);
  x.overwrite_cpu_data();
  CHECK((vain->count == 64 && vain->read == 1));
  prefetch(1);  // there is room again
  x.overwrite_cpu_data();
  CHECK((vain->count == 65 && vain->read == 1));
  CHECK_FALSE(vain->lent);
}

TEST_CASE("Of a copy in vain those are told who were there from the copy on, whoever else came and went") {
  LedgerFixture f;
  SyncedMemory x(40, *f.device, "x");
  const auto all = std::make_shared<InVain>(), before = std::make_shared<InVain>(),
             after = std::make_shared<InVain>();
  std::optional<Watch> goes(before);
  {
    const Watch stays(all);
    x.overwrite_cpu_data();
    Fetch(x, Side::kGpu);
    const Watch comes(after);
    goes.reset();
    x.overwrite_cpu_data();
    Fetch(x, Side::kGpu);
  }
  x.gpu_data();  // unseen
  const auto later = std::make_shared<InVain>();
  const Watch comes(later);
  x.overwrite_cpu_data();
  CHECK((all->count == 1 && before->count == 0 && after->count == 0 && later->count == 0));
}

TEST_CASE("Who comes while memory for a copy is made is told of the copy, and of what becomes of it") {
  struct Allocating : ForwardingDevice {
    using ForwardingDevice::ForwardingDevice;
    void* Allocate(MemoryKind kind, std::size_t bytes, StreamHandle on) override {
      if (kind == MemoryKind::kDevice && meanwhile) std::exchange(meanwhile, {})();
      return ForwardingDevice::Allocate(kind, bytes, on);
    }
    std::function<void()> meanwhile;
  };
  LedgerFixture f;
  Allocating device(MakeDevice("sim:0"));
  const auto late = std::make_shared<InVain>();
  const Watch watch(std::make_shared<InVain>());
  std::optional<Watch> comes;
  std::optional<Ledger> ledger;
  device.meanwhile = [&] { comes.emplace(late), ledger.emplace(); };
  {
    SyncedMemory x(40, device, "x");
    x.overwrite_cpu_data();
    Fetch(x, Side::kGpu);
    CHECK(Total(*ledger, &LedgerEntry::pending) == 1);
    x.gpu_data();
  }
  CHECK((late->count == 0 && late->read == 1));
  CHECK(Total(*ledger, &LedgerEntry::pending) == 0);
}

TEST_CASE("What a Release gave back unwatched leaves room to follow other copies") {
  LedgerFixture f;
  const auto vain = std::make_shared<InVain>();
  SyncedMemory x(130, *f.device, "x");
  std::optional<Watch> watch(vain);
  x.overwrite_cpu_data();
  for (std::size_t i = 0; i < 64; ++i) x.Prefetch(Side::kGpu, Stream::Main(*f.device), {2 * i, 1});
  watch.reset();
  x.Release(Side::kGpu);
  watch.emplace(vain);
  Fetch(x, Side::kGpu);
  x.overwrite_cpu_data();
  CHECK((vain->count == 1 && vain->read == 0));
}

TEST_CASE("Who comes right after a copy was told is not told that it was in vain") {
  struct Leaves : Observer {
    explicit Leaves(std::function<void()> at_end) : then(std::move(at_end)) {}
    ~Leaves() override { then(); }
    using Observer::On;
    void On(const CopyRecord&) override { watch.reset(); }
    std::optional<Watch> watch;
    std::function<void()> then;
  };
  LedgerFixture f;
  const auto stays = std::make_shared<InVain>(), comes = std::make_shared<InVain>();
  const Watch watch(stays);
  std::optional<Watch> late;
  {
    auto leaves = std::make_shared<Leaves>([&] { late.emplace(comes); });
    Leaves& it = *leaves;
    it.watch.emplace(std::move(leaves));  // which is alone to have it
  }
  SyncedMemory x(40, *f.device, "x");
  x.overwrite_cpu_data();
  Fetch(x, Side::kGpu);
  REQUIRE(late);
  x.overwrite_cpu_data();
  CHECK((stays->count == 1 && comes->count == 0));
}

}  // namespace
}  // namespace ferry::testing
