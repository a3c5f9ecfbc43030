// SPDX-License-Identifier: BSD-2-Clause
#include <catch2/catch_template_test_macros.hpp>
#include <chrono>
#include <thread>

#include "ferry/statistics_device.hpp"
#include "tests/nets/data_folder.hpp"

namespace ferry::nets_test {
namespace {

LayerParameter DataOf(const std::string& source, DataParameter::DB backend, int batch,
                      const std::string& more = "", Phase phase = TRAIN) {
  LayerParameter param = ParamOf("name: 'in' type: 'Data'", phase);
  param.mutable_data_param()->set_source(source);
  param.mutable_data_param()->set_backend(backend);
  param.mutable_data_param()->set_batch_size(static_cast<std::uint32_t>(batch));
  param.MergeFrom(ParamOf(more, phase));
  return param;
}

TEMPLATE_TEST_CASE("A Data layer gives the records in order, and after the last one the first", "", float,
                   double) {
  const Folder folder;
  const auto datums = Datums(7, 2, 3, 4);
  for (const auto backend : Backends()) {
    const std::string path = WriteDatabase(folder / std::to_string(backend), backend, datums);
    for (const std::string& where : DataPlaces()) {
      INFO(path << " at " << where);
      const World world(where, {.seed = 3});
      DataLayerRun<TestType> run(DataOf(path, backend, 3), world.place(), 2);
      CHECK(run.top(0).shape() == Shape{3, 2, 3, 4});
      CHECK(run.top(1).shape() == Shape{3});
      for (std::size_t pass = 0; pass < 12; ++pass) {
        const auto values = run.Pass();
        bool right = true;
        for (std::size_t i = 0; i < 3; ++i) {
          const Datum& datum = datums[(3 * pass + i) % 7];
          for (std::size_t e = 0; e < 24; ++e)
            right = right && values[24 * i + e] == ElementOf(datum, static_cast<std::int64_t>(e));
          right = right && values[72 + i] == static_cast<TestType>(datum.label());
        }
        CHECK(right);
      }
    }
  }
}

TEST_CASE("A Data layer with one top gives no labels and needs none") {
  const Folder folder;
  auto datums = Datums(4, 1, 2, 2);
  for (Datum& datum : datums) datum.clear_label();
  for (const auto backend : Backends()) {
    const std::string path = WriteDatabase(folder / std::to_string(backend), backend, datums);
    const World world("host cpu");
    DataLayerRun<float> run(DataOf(path, backend, 2), world.place(), 1);
    CHECK(run.Pass().size() == 8);
    CheckFails([&] { DataLayerRun<float>(DataOf(path, backend, 2), world.place(), 2).Forward(); },
               {"layer 'in' (Data)", "key '00000000'", "has no label"});
  }
}

TEST_CASE("A run that is restored reads what the run before would have, to the bit") {
  const Folder folder;
  const std::string more =
      "transform_param { crop_size: 4 mirror: true scale: 0.3 mean_value: 1.5 } data_param { rand_skip: 9 }";
  for (const auto backend : Backends()) {
    const std::string path = WriteDatabase(folder / std::to_string(backend), backend, Datums(11, 2, 6, 7));
    const World world("sim stream");
    std::vector<std::vector<float>> straight;
    DataLayerRun<float> run(DataOf(path, backend, 4, more), world.place(), 2);
    for (int pass = 0; pass < 12; ++pass) straight.push_back(run.Pass());
    CHECK(straight[0] != straight[11]);  // the records are the same, the crops are not

    for (const std::uint64_t from : {0U, 1U, 6U, 11U}) {
      DataLayerRun<float> restored(DataOf(path, backend, 4, more), world.place(), 2, {7, 3, from});
      CHECK(restored.Pass() == straight[from]);
      run.layer().set_random_key({7, 3, from});
      for (std::size_t pass = from; pass < 12; ++pass) CHECK(run.Pass() == straight[pass]);
    }
    DataLayerRun<float> other(DataOf(path, backend, 4, more), world.place(), 2, {8, 3, 0});
    CHECK(other.Pass() != straight[0]);
    other.layer().set_random_key({7, 3, 0});
    CHECK(other.Pass() == straight[0]);
  }
}

TEST_CASE("rand_skip leaves out fewer items than it says, by the seed") {
  const Folder folder;
  for (const auto backend : Backends()) {
    const std::string path = WriteDatabase(folder / std::to_string(backend), backend, Datums(10, 1, 1, 1));
    const World world("host cpu");
    std::vector<bool> seen(10);
    DataLayerRun<float> run(DataOf(path, backend, 1, "data_param { rand_skip: 4 }"), world.place(), 2);
    for (std::uint64_t seed = 0; seed < 60; ++seed) {
      run.layer().set_random_key({seed, 0, 0});
      run.Forward();
      seen.at(static_cast<std::size_t>(run.top(1).cpu_data()[0])) = true;
    }
    CHECK(seen == std::vector<bool>{true, true, true, true, false, false, false, false, false, false});
  }
}

TEST_CASE("A batch has the shape of its first record, and records of a batch must be alike") {
  const Folder folder;
  std::vector<Datum> datums;
  for (int n = 0; n < 5; ++n) datums.push_back(DatumOf(n, 1, 2 + n % 3, 3));
  for (const auto backend : Backends()) {
    const std::string path = WriteDatabase(folder / std::to_string(backend), backend, datums);
    for (const std::string& where : DataPlaces()) {
      const World world(where);
      DataLayerRun<float> run(DataOf(path, backend, 1), world.place(), 2);
      for (int pass = 0; pass < 15; ++pass) {
        const auto values = run.Pass();
        CHECK(run.top(0).shape() == Shape{1, 1, 2 + pass % 5 % 3, 3});
        CHECK(values[4] == ElementOf(datums[static_cast<std::size_t>(pass % 5)], 4));
      }
    }
    const World world("host cpu");
    DataLayerRun<float> run(DataOf(path, backend, 2), world.place(), 2);
    CheckFails([&] { run.Forward(); },
               {"layer 'in' (Data)", path, "key '00000001'", "1 x 3 x 3", "1 x 2 x 3"});
  }
}

TEST_CASE("Two layers of one process read one database, each at its own pace") {
  const Folder folder;
  for (const auto backend : Backends()) {
    const std::string path = WriteDatabase(folder / std::to_string(backend), backend, Datums(5, 1, 2, 2));
    const World world("sim stream");
    DataLayerRun<float> train(DataOf(path, backend, 2), world.place(), 2);
    auto test = std::make_unique<DataLayerRun<double>>(DataOf(path, backend, 3, "", TEST), world.place(), 2);
    for (int pass = 0; pass < 10; ++pass) {
      CHECK(train.Pass()[8] == static_cast<float>(2 * pass % 5));
      if (pass % 2 == 0) CHECK(test->Pass()[12] == 3 * (pass / 2) % 5);
    }
    test.reset();
    CHECK(train.Pass()[8] == 0);
  }
}

TEST_CASE("In steady state a pass copies its batch up, and allocates nothing") {
  const Folder folder;
  for (const auto backend : Backends()) {
    const std::string path = WriteDatabase(folder / std::to_string(backend), backend, Datums(9, 1, 8, 8));
    const World world("sim stream");
    DataLayerRun<float> run(DataOf(path, backend, 4, "data_param { prefetch: 3 }"), world.place(), 2);
    // Waits until the thread has done all that it can: two batches ahead of the one in use.
    const auto settled = [&](std::uint64_t passes) {
      for (;;) {
        const Statistics now = GetStatistics(world.device());
        if (now.host_to_device.count == 2 * (passes + 2)) return now;
        REQUIRE(now.host_to_device.count < 2 * (passes + 2));
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
      }
    };
    const auto pass = [&] {
      run.Forward();
      world.place().Read(run.top(0));
      world.place().Read(run.top(1));
    };
    for (int i = 0; i < 10; ++i) pass();
    const Statistics before = settled(10);
    for (int i = 0; i < 10; ++i) pass();
    const Statistics done = settled(20) - before;
    CHECK(done.host_to_device.bytes == sizeof(float) * 10 * (4 * 64 + 4));
    CHECK(done.device_to_host.count == 0);
    CHECK(done.device_to_device.count == 0);
    CHECK(done.fills.count == 0);
    CHECK(done.allocations.count == 0);
  }
}

TEST_CASE("A Data layer ends while its thread is busy") {
  const Folder folder;
  for (const auto backend : Backends()) {
    const std::string path = WriteDatabase(folder / std::to_string(backend), backend, Datums(100, 3, 32, 32));
    for (const std::string& where : DataPlaces())
      for (int round = 0; round < 5; ++round) {
        const World world(where);
        DataLayerRun<float> run(DataOf(path, backend, 50, "transform_param { mirror: true }"), world.place(),
                                2);
        for (int pass = 0; pass < round; ++pass) run.Forward();
        CHECK(run.top(0).num() == 50);
      }
  }
}

TEST_CASE("Float records, and both kinds in one database") {
  const Folder folder;
  Datum floats = DatumOf(3, 1, 1, 2);
  floats.clear_data();
  floats.add_float_data(0.5F);
  floats.add_float_data(-7.25F);
  for (const auto backend : Backends()) {
    const std::string path = WriteDatabase(folder / std::to_string(backend), backend,
                                           std::vector<Datum>{floats, DatumOf(1, 1, 1, 2)});
    const World world("host cpu");
    DataLayerRun<float> run(DataOf(path, backend, 2), world.place(), 2);
    CHECK(run.Pass() == std::vector<float>{0.5F, -7.25F, 7, 10, 3, 1});
  }
}

TEST_CASE("A Data layer that cannot be is an error that names what is wrong") {
  const Folder folder;
  const World world("host cpu");
  for (const auto backend : Backends()) {
    const std::string path = WriteDatabase(folder / std::to_string(backend), backend, Datums(3, 1, 4, 5));
    const auto fails = [&](const LayerParameter& param, const std::vector<std::string>& parts) {
      CheckFails([&] { DataLayerRun<float>(param, world.place(), 2).Forward(); }, parts);
    };
    fails(DataOf(path, backend, 0), {"layer 'in' (Data)", "batch_size is 0"});
    fails(DataOf(path, backend, 2, "data_param { prefetch: 0 }"), {"prefetch is 0"});
    fails(DataOf(folder / "none", backend, 2), {"layer 'in' (Data)", folder / "none"});
    fails(DataOf(path, backend, 2, "transform_param { crop_size: 5 }"),
          {path, "1 x 4 x 5", "crop_size of 5"});
    fails(DataOf(path, backend, 2, "transform_param { mean_value: 1 mean_value: 2 }"),
          {"1 channels", "2 of mean_value"});
    fails(DataOf(path, backend, 2, "transform_param { mean_file: 'no.mean' }"), {"mean_file", "no.mean"});
    const std::string text = WriteDatabase(folder / ("text" + std::to_string(backend)), backend,
                                           std::vector<std::string>{"\xff\xff\xff"});
    fails(DataOf(text, backend, 2), {text, "key '00000000'", "3 bytes are no Datum"});
    CheckFails([&] { DataLayerRun<float>(DataOf(path, backend, 2), world.place(), 3); },
               {"3 top blobs", "1 to 2"});
  }
}

TEST_CASE("A database of a library that is not in this build is an error that says how to get it") {
  [[maybe_unused]] const Folder folder;
#ifndef FERRY_HAS_LMDB
  CheckFails([&] { detail::OpenLmdb(folder / ".", detail::DatabaseMode::kRead); },
             {"FERRY_LMDB", "liblmdb-dev"});
#endif
#ifndef FERRY_HAS_LEVELDB
  CheckFails([&] { detail::OpenLevelDb(folder / ".", detail::DatabaseMode::kRead); },
             {"FERRY_LEVELDB", "libleveldb-dev"});
#endif
}

}  // namespace
}  // namespace ferry::nets_test
