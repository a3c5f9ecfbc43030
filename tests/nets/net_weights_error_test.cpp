// SPDX-License-Identifier: BSD-2-Clause
// Weights that cannot be copied leave those of the net as they were: all of them.
#include <fstream>
#include <functional>
#include <sstream>

#include "ferry/nets/proto_io.hpp"
#include "ferry/observer.hpp"
#include "ferry/transfer_guard.hpp"
#include "tests/nets/nets.hpp"
#include "tests/unit/blob_world.hpp"
#ifdef FERRY_HAS_HDF5
#include "core/nets/hdf5/library.hpp"
#endif

namespace ferry::nets_test {
namespace {

using ferry::testing::BlobWorld;

const std::string kLayers = Input("x", "4 3") + Product("first", "x", 2) + Product("second", "first", 5);

std::vector<std::vector<float>> WeightsOf(const Net<float>& net) {
  std::vector<std::vector<float>> all;
  for (const auto& param : net.params()) all.push_back(DataOf(*param));
  return all;
}

/// Its weights are current on the device alone.
struct TrainedNet : Net<float> {
  explicit TrainedNet(Device& device) : Net(NetOf(kLayers), Place(device), RandomSeed{1}) {
    for (const auto& param : params()) Scale(place(), 2.0F, *param);
  }
};

/// What a net's weights are copied from, in each form that it has.
struct SavedWeights {
  SavedWeights() {
    Net<float> net(NetOf(kLayers), TRAIN, Place::Cpu(GetDevice("host")));
    for (const auto& param : net.params()) std::fill_n(param->overwrite_cpu_diff(), param->count(), 1.0F);
    net.ToProto(&message, true);
    WriteProtoToBinaryFile(message, folder / "net");
    if (detail::HasHdf5()) net.ToHDF5(folder / "net.h5");
  }
  std::vector<std::function<void(Net<float>&)>> Copies() const {
    std::vector<std::function<void(Net<float>&)>> copies{
        [this](Net<float>& net) { net.CopyTrainedLayersFrom(message); },
        [this](Net<float>& net) { net.CopyTrainedLayersFrom(folder / "net"); }};
    if (detail::HasHdf5())
      copies.emplace_back([this](Net<float>& net) { net.CopyTrainedLayersFrom(folder / "net.h5"); });
    return copies;
  }

  Folder folder;
  NetParameter message;
};

TEST_CASE("Weights are copied all or none, whichever call of the device fails") {
  const SavedWeights saved;
  for (const auto& copy : saved.Copies()) {
    long begin = 0, end = 0, failed = 0;
    const auto run = [&](const sim::Options& options) {
      const BlobWorld world(options);
      TrainedNet net(world.device());
      begin = sim::Inspect().calls;
      bool copied = false;
      try {
        copy(net);
        copied = true;
      } catch (const std::exception&) {
        ++failed;
      }
      end = sim::Inspect().calls;
      if (!copied) CHECK(WeightsOf(net) == WeightsOf(TrainedNet(world.device())));
    };
    run({});
    CHECK(failed == 0);
    const long first = begin + 1, last = end;
    REQUIRE(first <= last);
    for (long nth = first; nth <= last; ++nth) {
      CAPTURE(nth);
      run({.fail_at = nth});
    }
    CHECK(failed > 0);
  }
}

TEST_CASE("Weights that are copied from the host move no bytes of those that they replace") {
  const SavedWeights saved;
  for (const auto& copy : saved.Copies()) {
    const BlobWorld world;
    TrainedNet net(world.device());
    const TransferGuard forbidden(TransferPolicy::kThrow);
    CHECK_NOTHROW(copy(net));
  }
}

TEST_CASE(
    "Weights for a parameter without a shape, or for one of more elements than there are, change none") {
  const BlobWorld world;
  const SavedWeights saved;
  NetParameter none = saved.message, few = saved.message;
  BlobProto& of_none = *none.mutable_layer(2)->mutable_blobs(0);
  of_none.Clear();
  of_none.mutable_shape();
  BlobProto& of_few = *few.mutable_layer(2)->mutable_blobs(0);
  constexpr std::int64_t kMany = (std::int64_t{1} << 32) + 10;
  of_few.mutable_shape()->clear_dim();
  of_few.mutable_shape()->add_dim(kMany);
  const auto check = [&](Blob<float> target, const NetParameter& source) {
    TrainedNet net(world.device());
    *net.layers()[2]->blobs()[0] = std::move(target);
    const std::vector<float> before = DataOf(*net.params()[0]);
    CHECK(ErrorOf([&] { net.CopyTrainedLayersFrom(source); }).find("layer 'second'") != std::string::npos);
    CHECK(DataOf(*net.params()[0]) == before);
  };
  check(Blob<float>(world.device()), none);
  check(Blob<float>({kMany}, world.device()), few);

  TrainedNet shares(world.device());
  Net<float> number(NetOf(kLayers), Place(world.device()), RandomSeed{2});
  *shares.layers()[2]->blobs()[0] = Blob<float>(world.device());
  *number.layers()[2]->blobs()[0] = Blob<float>({}, world.device());
  const std::vector<float> before = DataOf(*shares.params()[0]);
  CHECK(ErrorOf([&] { shares.ShareTrainedLayersWith(&number); }).find("layer 'second'") != std::string::npos);
  CHECK(DataOf(*shares.params()[0]) == before);
}

TEST_CASE("Whatever a file of weights is called, an error of it has its name") {
  const Folder folder;
  const World world("host cpu");
  const Net<float> other(NetOf(Input("x", "4 3") + Product("first", "x", 3)), TRAIN, world.place());
  Net<float> net(NetOf(kLayers), TRAIN, world.place());
  NetParameter message;
  other.ToProto(&message);
  for (const char* const name : {"first", "weights", "net", "this"}) {
    const auto names_it = [&](const auto& copy) {
      CHECK(ErrorOf(copy).starts_with((folder / name).string() + ": Cannot copy param 0"));
    };
    WriteProtoToBinaryFile(message, folder / name);
    names_it([&] { net.CopyTrainedLayersFrom(folder / name); });
    names_it([&] { net.CopyTrainedLayersFromBinaryProto(folder / name); });
    if (!detail::HasHdf5()) continue;
    other.ToHDF5(folder / name);
    names_it([&] { net.CopyTrainedLayersFrom(folder / name); });
    names_it([&] { net.CopyTrainedLayersFromHDF5(folder / name); });
  }
}

TEST_CASE("Records of weights that are copied have the program's line") {
  const SavedWeights saved;
  for (const auto& copy : saved.Copies()) {
    const BlobWorld world;
    TrainedNet net(world.device());
    long accesses = 0;
    {
      const Watch watch([&](const AccessRecord& access) {
        ++accesses;
        CHECK(std::string(access.site.file()).ends_with("net_weights_error_test.cpp"));
      });
      copy(net);
    }
    CHECK(accesses > 0);
  }
}

#ifdef FERRY_HAS_HDF5
constexpr float kLast = 123.25F;

/// As Net::ToHDF5 writes weights, with checksums; those of the last dataset are kLast.
void WriteWithChecksums(const std::filesystem::path& file) {
  const std::vector<std::pair<std::string, std::vector<hsize_t>>> datasets{
      {"data/first/0", {2, 3}}, {"data/first/1", {2}}, {"data/second/0", {5, 2}}, {"data/second/1", {5}}};
  const hid_t written = H5Fcreate(file.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
  const hid_t groups = H5Pcreate(H5P_LINK_CREATE);
  H5Pset_create_intermediate_group(groups, 1);
  for (const auto& [name, dims] : datasets) {
    const auto rank = static_cast<int>(dims.size());
    const hid_t checked = H5Pcreate(H5P_DATASET_CREATE);
    H5Pset_chunk(checked, rank, dims.data());
    H5Pset_fletcher32(checked);
    const hid_t space = H5Screate_simple(rank, dims.data(), nullptr);
    const hid_t dataset =
        H5Dcreate2(written, name.c_str(), H5T_NATIVE_FLOAT, space, groups, checked, H5P_DEFAULT);
    const std::vector<float> values(10, &name == &datasets.back().first ? kLast : 2.0F);
    H5Dwrite(dataset, H5T_NATIVE_FLOAT, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data());
    H5Dclose(dataset);
    H5Sclose(space);
    H5Pclose(checked);
  }
  H5Pclose(groups);
  H5Fclose(written);
}

/// Another bit in the first of the bytes that are kLast.
void Damage(const std::filesystem::path& file) {
  std::ostringstream in;
  in << std::ifstream(file, std::ios::binary).rdbuf();
  std::string bytes = in.str();
  const std::size_t at = bytes.find(std::string(reinterpret_cast<const char*>(&kLast), sizeof kLast));
  REQUIRE(at != std::string::npos);
  bytes[at] = static_cast<char>(bytes[at] ^ 1);
  std::ofstream(file, std::ios::binary) << bytes;
}

TEST_CASE("A file of HDF5 whose last weights cannot be read changes none") {
  const Folder folder;
  const std::filesystem::path file = folder / "net.h5";
  WriteWithChecksums(file);
  Damage(file);
  const BlobWorld world;
  TrainedNet net(world.device());
  CHECK(ErrorOf([&] { net.CopyTrainedLayersFrom(file); }).find("'data/second/1'") != std::string::npos);
  CHECK(WeightsOf(net) == WeightsOf(TrainedNet(world.device())));
}
#endif

}  // namespace
}  // namespace ferry::nets_test
