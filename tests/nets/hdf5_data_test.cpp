// SPDX-License-Identifier: BSD-2-Clause
#include <algorithm>
#include <catch2/catch_template_test_macros.hpp>
#include <set>
#include <span>

#include "core/nets/hdf5/hdf5_file.hpp"
#include "ferry/statistics_device.hpp"
#include "ferry/transfer_guard.hpp"
#include "tests/full_disk.hpp"
#include "tests/nets/data_folder.hpp"

namespace ferry::nets_test {
namespace {

using detail::Hdf5File;

/// Rows from number `first` on: "data" of 2 x 3 elements 6 row + i, "label" of one, the row.
void WriteRows(const std::string& path, int first, int rows, std::int64_t width = 3) {
  const std::int64_t size = 2 * width;
  std::vector<float> data, labels;
  for (int row = first; row < first + rows; ++row) {
    for (std::int64_t i = 0; i < size; ++i) data.push_back(static_cast<float>(size * row + i));
    labels.push_back(static_cast<float>(row));
  }
  Hdf5File file = Hdf5File::Create(path);
  file.Write("data", {rows, 2, width}, data.data());
  file.Write("label", {rows}, labels.data());
  file.Close();
}

/// Three files of 4, 1 and 5 rows, and their list.
std::string WriteFiles(const Folder& folder) {
  WriteRows(folder / "a.h5", 0, 4);
  WriteRows(folder / "b.h5", 4, 1);
  WriteRows(folder / "c.h5", 5, 5);
  return folder.Write("list", (folder / "a.h5").string() + "\n" + (folder / "b.h5").string() + " " +
                                  (folder / "c.h5").string() + "\n");
}

LayerParameter Hdf5Of(const std::string& source, int batch, const std::string& more = "") {
  LayerParameter param = ParamOf("name: 'in' type: 'HDF5Data' top: 'data' top: 'label'" + more);
  param.mutable_hdf5_data_param()->set_source(source);
  param.mutable_hdf5_data_param()->set_batch_size(static_cast<std::uint32_t>(batch));
  return param;
}

/// The labels of the next batch, whose data are right.
template <class T>
std::vector<int> Labels(DataLayerRun<T>& run) {
  const auto values = run.Pass();
  const auto batch = static_cast<std::size_t>(run.top(1).count());
  std::vector<int> labels;
  for (std::size_t i = 0; i < batch; ++i) {
    labels.push_back(static_cast<int>(values[6 * batch + i]));
    for (std::size_t e = 0; e < 6; ++e)
      CHECK(values[6 * i + e] == static_cast<T>(6 * labels[i]) + static_cast<T>(e));
  }
  return labels;
}

TEMPLATE_TEST_CASE("HDF5Data gives the rows of all files in order, and after the last one the first", "",
                   float, double) {
  if (!detail::HasHdf5()) SKIP("a build without HDF5");
  const Folder folder;
  const std::string list = WriteFiles(folder);
  for (const std::string& where : DataPlaces()) {
    const World world(where, {.seed = 2});
    DataLayerRun<TestType> run(Hdf5Of(list, 3), world.place(), 2);
    CHECK(run.top(0).shape() == Shape{3, 2, 3});
    CHECK(run.top(1).shape() == Shape{3});
    for (int pass = 0; pass < 12; ++pass)
      CHECK(Labels(run) == std::vector<int>{3 * pass % 10, (3 * pass + 1) % 10, (3 * pass + 2) % 10});
  }
}

TEST_CASE("HDF5Data shuffles files and rows anew for each epoch, and has each row once") {
  if (!detail::HasHdf5()) SKIP("a build without HDF5");
  const Folder folder;
  const std::string list = WriteFiles(folder);
  const World world("host cpu");
  DataLayerRun<float> run(Hdf5Of(list, 5, "hdf5_data_param { shuffle: true }"), world.place(), 2);
  std::set<std::vector<int>> orders;
  std::vector<std::vector<int>> passes;
  for (int epoch = 0; epoch < 8; ++epoch) {
    std::vector<int> order;
    for (int half = 0; half < 2; ++half) {
      passes.push_back(Labels(run));
      order.insert(order.end(), passes.back().begin(), passes.back().end());
    }
    CHECK(std::set<int>(order.begin(), order.end()).size() == 10);
    // The rows of a file stay together.
    for (const auto& [first, last] : {std::pair(0, 3), std::pair(5, 9)}) {
      const auto in_file = [low = first, high = last](int row) { return row >= low && row <= high; };
      const auto begin = std::find_if(order.begin(), order.end(), in_file);
      CHECK(std::all_of(begin, begin + (last - first + 1), in_file));
    }
    orders.insert(order);
  }
  CHECK(orders.size() == 8);
  for (const std::uint64_t from : {0U, 3U, 13U}) {
    DataLayerRun<float> restored(Hdf5Of(list, 5, "hdf5_data_param { shuffle: true }"), world.place(), 2,
                                 {7, 3, from});
    for (std::size_t pass = from; pass < passes.size(); ++pass) CHECK(Labels(restored) == passes[pass]);
  }
}

TEST_CASE("In steady state a pass of HDF5Data copies its batch up, and allocates nothing") {
  if (!detail::HasHdf5()) SKIP("a build without HDF5");
  const Folder folder;
  const World world("sim stream");
  DataLayerRun<float> run(Hdf5Of(WriteFiles(folder), 3), world.place(), 2);
  const auto pass = [&] {
    run.Forward();
    world.place().Read(run.top(0));
    world.place().Read(run.top(1));
  };
  // A batch is allocated when it is filled first; how soon its turn comes is the thread's to say.
  Statistics done;
  for (int round = 0; round < 20; ++round) {
    const Statistics before = GetStatistics(world.device());
    for (int i = 0; i < 20; ++i) pass();
    done = GetStatistics(world.device()) - before;
    if (round > 0 && done.allocations.count == 0) break;
  }
  CHECK(done.allocations.count == 0);
  CHECK(done.device_to_host.count == 0);
  CHECK(done.host_to_device.count >= 30);
  CHECK(done.host_to_device.count <= 50);
}

TEST_CASE("HDF5Data that cannot be is an error with the file and the dataset") {
  if (!detail::HasHdf5()) SKIP("a build without HDF5");
  const Folder folder;
  const World world("host cpu");
  const std::string list = WriteFiles(folder);
  const auto fails = [&](const LayerParameter& param, const std::vector<std::string>& parts) {
    CheckFails([&] { DataLayerRun<float>(param, world.place(), 2).Forward(); }, parts);
  };
  const auto fails_with = [&](const std::string& file, const std::vector<std::string>& parts) {
    fails(Hdf5Of(folder.Write("other", (folder / "a.h5").string() + "\n" + (folder / file).string()), 2),
          parts);
  };
  fails(Hdf5Of(folder / "none", 2), {"layer 'in' (HDF5Data)", folder / "none", "list of HDF5 files"});
  fails(Hdf5Of(folder.Write("empty", " \n"), 2), {folder / "empty", "lists no file"});
  fails(Hdf5Of(folder / "a.h5", 2), {folder / "a.h5", "is an HDF5 file itself"});
  fails(Hdf5Of(list, 0), {"batch_size is 0"});
  fails(Hdf5Of(list, 2, "transform_param { scale: 2 }"), {"does not transform"});
  fails_with("none.h5", {folder / "none.h5"});
  folder.Write("text.h5", "no HDF5");
  fails_with("text.h5", {folder / "text.h5"});
  std::filesystem::copy_file(folder / "c.h5", folder / "short.h5");
  std::filesystem::resize_file(folder / "short.h5", std::filesystem::file_size(folder / "c.h5") / 2);
  fails_with("short.h5", {folder / "short.h5"});
  WriteRows(folder / "wide.h5", 0, 2, 4);
  fails_with("wide.h5", {folder / "wide.h5", "dataset 'data'", "2 2 4", "4 2 3", folder / "a.h5"});
  const auto write = [&](const std::string& name, const Shape& labels) {
    const std::vector<float> zeros(100);
    Hdf5File file = Hdf5File::Create(folder / name);
    file.Write("data", {2, 2, 3}, zeros.data());
    file.Write("label", labels, zeros.data());
    file.Close();
  };
  write("uneven.h5", {3});
  fails_with("uneven.h5", {folder / "uneven.h5", "'label'", "2 rows", "as many"});
  write("single.h5", {});
  fails_with("single.h5", {folder / "single.h5", "'label'", "axis of rows"});
  LayerParameter other = Hdf5Of(list, 2);
  other.set_top(1, "labels");
  fails(other, {folder / "a.h5", "labels"});
  other.mutable_top()->RemoveLast();
  fails(other, {"2 top blobs", "names 1"});

  Blob<float> data(world.device()), label(world.device());
  const auto layer = LayerRegistry<float>::CreateLayer(Hdf5Of(folder / "none", 2), world.place());
  CHECK_THROWS_AS(layer->SetUp({}, {&data, &label}), NetError);
  CheckFails([&] { layer->Forward({}, {&data, &label}); }, {"layer 'in' (HDF5Data)", "it has no source"});
}

LayerParameter OutputTo(const std::filesystem::path& file) {
  return ParamOf("name: 'out' type: 'HDF5Output' hdf5_output_param { file_name: '" + file.string() + "' }");
}

TEST_CASE("HDF5Output writes in the pass after one that failed, and where transfers are forbidden") {
  if (!detail::HasHdf5()) SKIP("a build without HDF5");
  const Folder folder;
  for (const std::string& where : DataPlaces()) {
    const World world(where);
    Blob<float> rows({3, 2}, world.device());
    Set(world.place(), 2.5F, rows);
    const auto layer = LayerRegistry<float>::CreateLayer(OutputTo(folder / "out.h5"), world.place());
    layer->SetUp({&rows, &rows}, {});
    CheckFails(
        [&] {
          const ferry::testing::FullDisk full(64, true);
          layer->Forward({&rows, &rows}, {});
        },
        {"layer 'out' (HDF5Output)", folder / "out.h5"});
    const TransferGuard forbidden(TransferPolicy::kThrow);
    layer->Forward({&rows, &rows}, {});
    CHECK(Hdf5File::Open(folder / "out.h5").ShapeOf("data") == Shape{3, 2, 1, 1});
  }
}

TEST_CASE("HDF5Output writes once more when it is set up once more") {
  if (!detail::HasHdf5()) SKIP("a build without HDF5");
  const Folder folder;
  const World world("host cpu");
  Blob<float> rows({3, 2}, world.device());
  const auto layer = LayerRegistry<float>::CreateLayer(OutputTo(folder / "out.h5"), world.place());
  for (int i = 0; i < 2; ++i) {
    layer->SetUp({&rows, &rows}, {});
    CHECK_NOTHROW(layer->Forward({&rows, &rows}, {}));
  }
}

TEST_CASE("HDF5Output writes what HDF5Data reads, once") {
  if (!detail::HasHdf5()) SKIP("a build without HDF5");
  const Folder folder;
  const LayerParameter param = OutputTo(folder / "out.h5");
  for (const std::string& where : DataPlaces()) {
    const World world(where);
    Blob<float> data({3, 2}, world.device());
    Blob<float> labels({3}, world.device());
    Set(world.place(), 2.5F, data);
    Set(world.place(), 7.0F, labels);
    const auto layer = LayerRegistry<float>::CreateLayer(param, world.place());
    layer->SetUp({&data, &labels}, {});
    layer->Forward({&data, &labels}, {});
    const Hdf5File file = Hdf5File::Open(folder / "out.h5");
    CHECK(file.ShapeOf("data") == Shape{3, 2, 1, 1});
    CHECK(file.ShapeOf("label") == Shape{3, 1, 1, 1});
    std::vector<float> read(6);
    file.Read("data", std::span<float>(read));
    CHECK(read == std::vector<float>(6, 2.5F));
    layer->Backward({}, {true, true}, {&data, &labels});
    CheckFails(
        [&] {
          layer->Forward({&data, &labels}, {});
        },
        {"layer 'out' (HDF5Output)", folder / "out.h5"});
    const auto other = LayerRegistry<float>::CreateLayer(param, world.place());
    labels.Reshape({4});
    CheckFails([&] { other->SetUp({&data, &labels}, {}); }, {"3 2 (6)", "4 (4)", "as many rows"});
  }
  const World world("host cpu");
  Blob<float> data({3, 2}, world.device());
  LayerParameter nowhere = OutputTo(folder / "no/out.h5");
  CheckFails(
      [&] {
        LayerRegistry<float>::CreateLayer(nowhere, world.place())->SetUp({&data, &data}, {});
      },
      {"layer 'out' (HDF5Output)", "no/out.h5"});
  nowhere.clear_hdf5_output_param();
  CheckFails(
      [&] {
        LayerRegistry<float>::CreateLayer(nowhere, world.place())->SetUp({&data, &data}, {});
      },
      {"file_name is empty"});
}

}  // namespace
}  // namespace ferry::nets_test
