// SPDX-License-Identifier: BSD-2-Clause
// Random programs on two devices: what a ledger claims of them is true, and what a trace shows is in order.
#include <algorithm>
#include <array>
#include <catch2/catch_test_macros.hpp>
#include <cstdint>
#include <cstdio>
#include <limits>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "ferry/ferry.hpp"
#include "tests/property/scale.hpp"
#include "tests/property/unread.hpp"
#include "tests/unit/trace_fixture.hpp"

namespace ferry::testing {
namespace {

constexpr std::int64_t kElements = 96;
constexpr int kSteps = 80;

/// The elements of an array as they should be, and as each device, or the host, last had them; those that one
/// cannot have are not numbers.
struct Model {
  std::vector<float> now = std::vector<float>(kElements);
  std::map<const Device*, std::vector<float>> there{};

  std::vector<float>& On(const Device* device) {
    return there.try_emplace(device, kElements, std::numeric_limits<float>::quiet_NaN()).first->second;
  }
};

/// Follows all copies. Counts those whose bytes were there already, of which one side is the host: no more of
/// them are in vain.
class Follower : public Observer {
 public:
  using Observer::On;
  void On(const CopyRecord& copy) override {
    ++copies;
    bytes += copy.range.bytes;
    unread.Read(copy.memory, copy.from, copy.range);
    if (copy.purpose != Purpose::kAccess) unread.Add(copy);
    Model& model = *models.at(copy.memory);
    std::vector<float>& there = model.On(copy.to);
    const auto first = copy.range.first / sizeof(float), last = first + copy.range.bytes / sizeof(float);
    bool same = copy.from == nullptr || copy.to == nullptr;
    for (std::size_t i = first; i < last; ++i) {
      same = same && there[i] == model.now[i];
      there[i] = model.now[i];
    }
    in_vain += same ? 1 : 0;
  }
  void On(const CallRecord& call) override {
    if (call.kind != CallRecord::Kind::kCopy) return;
    ++copies;
    bytes += call.operands[1].range.bytes;
  }
  void On(const LifeRecord& life) override {
    if (life.what == LifeRecord::What::kBlock && life.device != nullptr)
      models.at(life.memory)->there.erase(life.device);
  }

  std::map<const SyncedMemory*, Model*> models;
  Unread unread;
  std::uint64_t copies = 0, bytes = 0, in_vain = 0;
};

class Program {
 public:
  explicit Program(unsigned seed) : random_(seed) {
    for (std::size_t k = 0; k < models_.size(); ++k) {
      arrays_.emplace_back(kElements, first_, k == 0 ? "x" : "y");
      follower_->models[arrays_[k].memory().get()] = &models_[k];
    }
  }
  void Run() {
    const Watch watch(follower_);
    for (Array<float>& array : arrays_) Set(cpu_, 0.0F, array);
    for (Model& model : models_) model.On(nullptr) = model.now;
    for (int step = 0; step < kSteps; ++step) Step();
    for (const Place& gpu : gpus_) gpu.stream().Synchronize();
  }
  const Follower& follower() const { return *follower_; }

 private:
  using Draw = std::uniform_int_distribution<std::int64_t>;
  std::int64_t Number(std::int64_t below) { return Draw(0, below - 1)(random_); }
  /// A quarter, all, or any part.
  std::pair<std::int64_t, std::int64_t> Range() {
    if (Number(5) == 0) {
      const std::int64_t first = Number(kElements);
      return {first, 1 + Number(kElements - first)};
    }
    if (Number(3) == 0) return {0, kElements};
    return {kElements / 4 * Number(4), kElements / 4};
  }
  void Step() {
    const auto k = static_cast<std::size_t>(Number(2));
    const auto range = Range();
    const std::int64_t first = range.first, count = range.second;
    Array<float> part = arrays_[k].Slice(first, count);
    const std::span<float> now = std::span(models_[k].now).subspan(Index(first), Index(count));
    const Place& gpu = gpus_[Index(Number(4))];
    const auto done = [&](std::size_t to, const Device* at, Access access) {
      Unread& unread = follower_->unread;
      const SyncedMemory* const memory = arrays_[to].memory().get();
      const ByteRange bytes{Index(first) * sizeof(float), Index(count) * sizeof(float)};
      if (access != Access::kOverwrite) unread.Read(memory, at, bytes);
      if (access == Access::kRead) return;
      unread.Lose(memory, bytes);
      const auto values = models_[to].now.begin();
      std::copy(values + first, values + first + count, models_[to].On(at).begin() + first);
    };
    const auto written = [&](Access access) { done(k, &gpu.device(), access); };
    switch (Number(10)) {
      case 0: {
        const auto host = cpu_.ReadWrite(part);
        if (Number(3) == 0) host[Index(count - 1)] = now.back() += 1;
        done(k, nullptr, Access::kReadWrite);
        break;
      }
      case 1: {
        const auto host = cpu_.Read(part);
        REQUIRE(std::equal(now.begin(), now.end(), host.begin()));
        done(k, nullptr, Access::kRead);
        break;
      }
      case 2:
        Axpy(gpu, 0.0F, part, part), written(Access::kReadWrite);
        break;  // which changes nothing
      case 3: {
        const bool in_turn = Number(8) == 0;  // with the host
        for (int round = 0; round < (in_turn ? 3 : 1); ++round) {
          if (in_turn) {
            cpu_.ReadWrite(part)[Index(count - 1)] = now.back() += 1;
            done(k, nullptr, Access::kReadWrite);
          }
          ferry::Scale(gpu, 0.5F, part);
          for (float& one : now) one *= 0.5F;
          written(Access::kReadWrite);
        }
        break;
      }
      case 4:
        part.Prefetch(Side::kGpu, gpu.stream());
        break;
      case 5:
        part.Prefetch(Side::kCpu, gpu.stream());
        break;
      case 6:
        static_cast<void>(Asum(gpu, part));
        written(Access::kRead);
        break;
      case 7:
        if (Number(3) != 0) break;
        arrays_[k].memory()->Release(Side::kGpu);
        follower_->unread.LoseAllAt(arrays_[k].memory().get(), &first_);
        break;
      case 8: {
        Array<float> other = arrays_[1 - k].Slice(first, count);
        Copy(gpu, part, other);
        std::copy(now.begin(), now.end(), models_[1 - k].now.begin() + first);
        written(Access::kRead);
        done(1 - k, &gpu.device(), Access::kOverwrite);
        break;
      }
      default:
        Set(gpu, 3.0F, part);
        std::fill(now.begin(), now.end(), 3.0F);
        written(Access::kOverwrite);
    }
  }
  static std::size_t Index(std::int64_t i) { return static_cast<std::size_t>(i); }

  std::mt19937 random_;
  Device &first_ = GetDevice("sim:0"), &second_ = GetDevice("sim:1");
  const Place cpu_ = Place::Cpu(first_);
  const std::array<Place, 4> gpus_{Place(first_), Place(Stream(first_)), Place(second_),
                                   Place(Stream(second_))};
  std::array<Model, 2> models_;
  std::shared_ptr<Follower> follower_ = std::make_shared<Follower>();
  std::vector<Array<float>> arrays_;  // the last, so that its memories die before what follows them
};

/// Two devices that reach each other, or not, and that have the host's memory: none, one, or both.
const std::array kMachines{sim::Options{.devices = 2}, sim::Options{.devices = 2, .peers = false},
                           sim::Options{.devices = 2, .unified = true},
                           sim::Options{.devices = 2, .unified_devices = 1}};

int Programs(int all) { return std::max(1, static_cast<int>(all * Scale())); }

TEST_CASE(
    "A ledger of any program counts its copies and those that nobody read, and claims none in vain that was "
    "not") {
  std::uint64_t claimed = 0, from_devices = 0, unread = 0, returned = 0;
  for (const sim::Options& machine : kMachines) {
    for (int seed = 0; seed < Programs(1500); ++seed) {
      CAPTURE(machine.peers, machine.unified, machine.unified_devices, seed);
      sim::Reset(machine);
      Ledger ledger(Ledger::Detail::kVerify);
      Program program(static_cast<unsigned>(seed));
      program.Run();
      std::uint64_t copies = 0, bytes = 0, unwritten = 0, vain = 0, pending = 0;
      for (const LedgerEntry& entry : ledger.Entries()) {
        REQUIRE(std::max({entry.unwritten, entry.unread, entry.returned, entry.in_time}) <= entry.count);
        unwritten += entry.unwritten, vain += entry.unread, returned += entry.returned;
        pending += entry.pending;
        if (entry.to == "the host") from_devices += entry.unwritten;
        if (entry.kind == LedgerKind::kCopy) copies += entry.count, bytes += entry.bytes;
      }
      REQUIRE(copies == program.follower().copies);
      REQUIRE(bytes == program.follower().bytes);
      REQUIRE(unwritten <= program.follower().in_vain);
      const Unread& model = program.follower().unread;
      REQUIRE(vain == model.in_vain());
      REQUIRE(pending == model.pending());
      ledger.CountPendingAsUnread();
      std::uint64_t at_end = 0;
      for (const LedgerEntry& entry : ledger.Entries()) at_end += entry.unread;
      REQUIRE(at_end == vain + pending);
      claimed += unwritten, unread += vain;
    }
  }
  CHECK(claimed > from_devices);
  CHECK(from_devices > 0);
  CHECK(unread > 0);
  CHECK(returned > 0);
  std::printf("in vain %llu, unread %llu\n", static_cast<unsigned long long>(claimed),
              static_cast<unsigned long long>(unread));
}

/// Slices of one stream do not overlap, and each flow leads from the begin of one to one.
void CheckOrder(const std::vector<Json>& events) {
  using Track = std::pair<double, double>;
  std::map<Track, std::vector<std::pair<double, double>>> slices;
  const auto track = [](const Json& event) { return Track(event.Number("pid"), event.Number("tid")); };
  for (const Json& event : events)
    if (event.Text("ph") == "X") slices[track(event)].emplace_back(event.Number("ts"), EndOf(event));
  constexpr double kHost = 1, kRounding = 1e-6;
  for (auto& [where, all] : slices) {
    std::sort(all.begin(), all.end());
    if (where.first == kHost) continue;  // where one call is within another
    for (std::size_t i = 1; i < all.size(); ++i) REQUIRE(all[i].first >= all[i - 1].second - kRounding);
  }
  for (const Json& event : events) {
    const bool begins = event.Text("ph") == "s";
    if (!begins && event.Text("ph") != "f") continue;
    const double at = event.Number("ts");
    const auto& all = slices[track(event)];
    REQUIRE(std::any_of(all.begin(), all.end(), [&](const auto& slice) {
      return begins ? std::abs(slice.first - at) <= kRounding
                    : slice.first - kRounding <= at && at <= slice.second + kRounding;
    }));
  }
}

TEST_CASE("A trace of any program has the work of a stream one after the other, and flows from its begin") {
  const Folder folder;
  const std::string file = (folder / "t.json").string();
  std::size_t flows = 0;
  for (const sim::Options& machine : kMachines) {
    for (int seed = 0; seed < Programs(150); ++seed) {
      CAPTURE(machine.peers, machine.unified, machine.unified_devices, seed);
      sim::Reset(machine);
      Program program(static_cast<unsigned>(seed));
      {
        const Trace trace(file);
        program.Run();
      }
      const std::vector<Json> events = EventsOf(file);
      CheckOrder(events);
      flows += static_cast<std::size_t>(std::count_if(
          events.begin(), events.end(), [](const Json& event) { return event.Text("ph") == "s"; }));
    }
  }
  CHECK(flows > 0);
}

}  // namespace
}  // namespace ferry::testing
