// SPDX-License-Identifier: BSD-2-Clause
// What does a ledger cost, a record?
#include <memory>
#include <optional>

#include "bench/compare.hpp"
#include "ferry/ferry.hpp"
#include "ferry/forwarding_device.hpp"

namespace {

using ferry::SyncedMemory;

/// The host, as a device with memory of its own: its copies are the quickest.
struct Apart : ferry::FullForwardingDevice {
  Apart() : FullForwardingDevice(ferry::MakeDevice("host")) { own.unified = false; }
  const ferry::DeviceProperties& properties() const noexcept override { return own; }
  ferry::DeviceProperties own = next().properties();
};

struct Counting : ferry::Observer {
  using Observer::On;
  void On(const ferry::CopyRecord&) override { ++records; }
  void On(const ferry::AccessRecord&) override { ++records; }
  void On(const ferry::WaitRecord&) override { ++records; }
  int records = 0;
};

/// A write on the host and a read on the device, of two memories in turn: each moves 64 bytes.
struct Pairs {
  void operator()() {
    for (SyncedMemory* memory : {&first, &second}) {
      benchmark::DoNotOptimize(memory->mutable_cpu_data());
      benchmark::DoNotOptimize(memory->gpu_data());
    }
  }
  static int Records() {
    const auto counting = std::make_shared<Counting>();
    Pairs pairs;
    pairs();
    const ferry::Watch watch(counting);
    pairs();
    return counting->records;
  }

  Apart device;
  SyncedMemory first{64, device, "activations of the layer conv1"}, second{64, device, "weights of conv1"};
};

/// `record_ns` is what a record takes, in nanoseconds: the difference between pairs with a ledger and
/// without, in turn, by the records of one. `pair_ns` is what one
/// memory's pair takes without.
void OfLedger(benchmark::State& state) {
  constexpr int kCalls = 1000;
  Pairs pairs;
  const auto run = [&] { pairs(); };
  std::vector<double> with, without;
  for ([[maybe_unused]] auto _ : state) {
    without.push_back(bench::Seconds(kCalls, run));
    const ferry::Ledger ledger;
    with.push_back(bench::Seconds(kCalls, run));
  }
  state.counters["records"] = Pairs::Records();
  state.counters["record_ns"] = (bench::Median(with) - bench::Median(without)) * 1e9 / Pairs::Records();
  state.counters["pair_ns"] = bench::Median(without) * 1e9 / 2;
  state.counters["required"] = 100;
}

}  // namespace

int main(int argc, char** argv) {
  benchmark::RegisterBenchmark("ledger, a record", OfLedger)->UseRealTime();
  return bench::Run(argc, argv);
}
