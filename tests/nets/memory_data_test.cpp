// SPDX-License-Identifier: BSD-2-Clause
#include <catch2/catch_template_test_macros.hpp>
#include <limits>
#include <numeric>

#include "ferry/nets/memory_data_layer.hpp"
#include "ferry/transfer_guard.hpp"
#include "tests/nets/data_folder.hpp"

namespace ferry::nets_test {
namespace {

LayerParameter MemoryOf(int batch, const std::string& more = "") {
  LayerParameter param = ParamOf("name: 'in' type: 'MemoryData'");
  param.mutable_memory_data_param()->set_batch_size(static_cast<std::uint32_t>(batch));
  param.MergeFrom(ParamOf("memory_data_param { channels: 1 height: 2 width: 3 }" + more));
  return param;
}

template <class T>
struct MemoryRun : DataLayerRun<T> {
  MemoryRun(const LayerParameter& param, const Place& place) : DataLayerRun<T>(param, place, 2) {}
  MemoryDataLayer<T>& memory() { return dynamic_cast<MemoryDataLayer<T>&>(this->layer()); }
  /// The labels of the next batch, whose data are right.
  std::vector<T> Labels() {
    this->Forward();
    const Blob<T>& data = this->top(0);
    const Blob<T>& labels = this->top(1);
    for (std::int64_t i = 0; i < data.count(); ++i)
      CHECK(data.cpu_data()[i] == 6 * labels.cpu_data()[i / 6] + static_cast<T>(i % 6));
    return {labels.cpu_data(), labels.cpu_data() + labels.count()};
  }
};

/// Element i is i; label n is n.
template <class T>
struct Items {
  explicit Items(std::size_t n) : data(6 * n), labels(n) {
    std::iota(data.begin(), data.end(), T(0));
    std::iota(labels.begin(), labels.end(), T(0));
  }
  std::vector<T> data, labels;
};

TEMPLATE_TEST_CASE("MemoryData gives the caller's arrays batch by batch, again and again", "", float,
                   double) {
  for (const std::string& where : DataPlaces()) {
    const World world(where);
    MemoryRun<TestType> run(MemoryOf(2), world.place());
    CHECK(run.top(0).shape() == Shape{2, 1, 2, 3});
    Items<TestType> items(6);
    run.memory().Reset(items.data.data(), items.labels.data(), 6);
    for (int pass = 0; pass < 7; ++pass) {
      const auto first = static_cast<TestType>(2 * (pass % 3));
      CHECK(run.Labels() == std::vector<TestType>{first, first + 1});
    }
    CHECK(run.top(1).shape() == Shape{2, 1, 1, 1});
    run.memory().Reset(items.data.data(), items.labels.data(), 4);
    CHECK(run.Labels() == std::vector<TestType>{0, 1});
    run.memory().set_batch_size(4);
    run.memory().Reset(items.data.data(), items.labels.data(), 4);
    CHECK(run.Labels() == std::vector<TestType>{0, 1, 2, 3});
    CHECK(run.top(0).shape() == Shape{4, 1, 2, 3});
  }
}

TEST_CASE("MemoryData goes on where a restored run stopped") {
  const World world("host cpu");
  MemoryRun<float> run(MemoryOf(2), world.place());
  Items<float> items(10);
  run.layer().set_random_key({1, 1, 0});
  run.memory().Reset(items.data.data(), items.labels.data(), 10);
  run.layer().set_random_key({1, 1, 8});
  CHECK(run.Labels()[0] == 6);
  CHECK(run.Labels()[0] == 8);
  CHECK(run.Labels()[0] == 0);
  run.memory().Reset(items.data.data(), items.labels.data(), 10);
  CHECK(run.Labels()[0] == 0);
  run.layer().set_random_key({1, 1, 10});  // the pass before the one at which Reset was called
  CHECK(run.Labels()[0] == 8);
}

TEST_CASE(
    "MemoryData starts with the first items, though passes before Reset counted further than a solver does") {
  const World world("host cpu");
  MemoryRun<float> run(MemoryOf(2), world.place());
  Items<float> items(6);
  run.layer().set_random_key({1, 1, 0});
  run.memory().Reset(items.data.data(), items.labels.data(), 6);
  CHECK(run.Labels()[0] == 0);
  run.memory().Reset(items.data.data(), items.labels.data(), 6);
  run.layer().set_random_key({1, 1, 0});
  run.memory().set_batch_size(2);
  CHECK(run.Labels()[0] == 0);
  CHECK(run.Labels()[0] == 2);
  run.layer().set_random_key({1, 1, 5});
  run.memory().Reset(items.data.data(), items.labels.data(), 6);
  run.memory().set_batch_size(8);
  CheckFails([&] { run.Labels(); }, {"goes beyond the 6 items"});
  run.memory().set_batch_size(std::numeric_limits<std::int64_t>::max());
  run.layer().set_random_key({1, 1, 6});
  CheckFails([&] { run.Labels(); }, {"goes beyond the 6 items"});
  run.layer().set_random_key({1, 1, 7});
  run.memory().set_batch_size(2);
  run.layer().set_random_key({1, 1, 0});
  CHECK(run.Labels()[0] == 0);
}

TEST_CASE("AddDatumVector transforms, and waits until what was added is consumed") {
  for (const std::string& where : DataPlaces()) {
    const World world(where);
    DataLayerRun<float> run(MemoryOf(2, "transform_param { scale: 0.5 mean_value: 1 }"), world.place(), 2);
    auto& memory = dynamic_cast<MemoryDataLayer<float>&>(run.layer());
    const auto datums = Datums(4, 1, 2, 3);
    memory.AddDatumVector(datums);
    for (int pass = 0; pass < 2; ++pass) {
      CheckFails([&] { memory.AddDatumVector(datums); }, {"layer 'in' (MemoryData)", "not been in a batch"});
      CheckFails([&] { memory.set_batch_size(1); }, {"set_batch_size", "not been in a batch"});
      const auto values = run.Pass();
      for (std::size_t i = 0; i < 12; ++i)
        CHECK(values[i] ==
              static_cast<float>(ElementOf(datums[static_cast<std::size_t>(2 * pass) + i / 6], i % 6) - 1) /
                  2);
      CHECK(values[13] == static_cast<float>(2 * pass + 1));
    }
    memory.AddDatumVector(datums);
    CHECK(run.Pass()[13] == 1);
    CHECK(run.Pass()[13] == 3);
    memory.AddDatumVector(datums);
    run.layer().set_random_key({1, 1, 0});  // as of a solver that begins
    CheckFails([&] { memory.AddDatumVector(datums); }, {"4 of the items"});
    CHECK(run.Pass()[13] == 1);
    CHECK(run.Pass()[13] == 3);
    memory.AddDatumVector(datums);
    run.layer().set_random_key({1, 1, 9});  // as of a solver that is restored
    CHECK(run.Pass()[13] == 1);
    CHECK(run.Pass()[13] == 3);
  }
}

TEST_CASE("What data layers make on the host goes to the place of the net where transfers are forbidden") {
  const World world("sim stream");
  Items<float> items(4);
  MemoryRun<float> memory(MemoryOf(2), world.place());
  memory.memory().Reset(items.data.data(), items.labels.data(), 4);
  DataLayerRun<float> dummy(
      ParamOf("name: 'in' type: 'DummyData' dummy_data_param { shape { dim: 3 } shape { dim: 2 } "
              "data_filler { value: 1 } data_filler { type: 'uniform' } }"),
      world.place(), 2);
  const TransferGuard forbidden(TransferPolicy::kThrow);
  memory.Forward();
  dummy.Forward();
  for (DataLayerRun<float>* const run : {static_cast<DataLayerRun<float>*>(&memory), &dummy})
    for (std::size_t top = 0; top < 2; ++top) CHECK_NOTHROW(world.place().Read(run->top(top)));
}

TEST_CASE("MemoryData that cannot be is an error that names what is wrong") {
  const World world("host cpu");
  MemoryRun<float> run(MemoryOf(2), world.place());
  Items<float> items(6);
  CheckFails([&] { run.Forward(); }, {"layer 'in' (MemoryData)", "no data yet", "Reset"});
  CheckFails([&] { run.memory().Reset(items.data.data(), items.labels.data(), 5); },
             {"5 items", "multiple", "2"});
  CheckFails([&] { run.memory().Reset(items.data.data(), items.labels.data(), 0); }, {"0 items"});
  CHECK_THROWS_AS(run.memory().Reset(nullptr, items.labels.data(), 2), std::invalid_argument);
  CHECK_THROWS_AS(run.memory().Reset(items.data.data(), nullptr, 2), std::invalid_argument);
  CheckFails([&] { run.memory().AddDatumVector({}); }, {"0 items"});
  CheckFails([&] { run.memory().AddDatumVector(Datums(2, 1, 3, 3)); }, {"datum 0", "1 x 3 x 3", "1 x 2 x 3"});
  CheckFails([&] { run.memory().AddDatumVector(Datums(2, 1, 3, 2)); }, {"datum 0", "1 x 3 x 2", "1 x 2 x 3"});
  CheckFails([&] { run.memory().set_batch_size(0); }, {"set_batch_size: 0"});
  run.memory().Reset(items.data.data(), items.labels.data(), 6);
  run.memory().set_batch_size(4);
  run.Forward();
  CheckFails([&] { run.Forward(); }, {"batch of 4 from item 4", "6 items"});
  run.memory().AddDatumVector(Datums(4, 1, 2, 3));
  run.SetUp();  // and takes batches of 2 again
  CheckFails([&] { run.Forward(); }, {"no data yet"});
  run.memory().AddDatumVector(Datums(2, 1, 2, 3));
  CHECK_NOTHROW(run.Forward());
  LayerParameter no_width = MemoryOf(2);
  no_width.mutable_memory_data_param()->clear_width();
  CheckFails([&] { MemoryRun<float>(no_width, world.place()); }, {"width 0", "1 or more"});
}

}  // namespace
}  // namespace ferry::nets_test
