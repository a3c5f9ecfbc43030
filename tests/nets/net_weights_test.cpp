// SPDX-License-Identifier: BSD-2-Clause
// Parameters of messages and files.
#include <catch2/matchers/catch_matchers_string.hpp>
#include <fstream>

#include "core/nets/hdf5/hdf5_file.hpp"
#include "ferry/nets/proto_io.hpp"
#include "tests/nets/nets.hpp"

namespace ferry::nets_test {
namespace {

using Catch::Matchers::ContainsSubstring;
using detail::Hdf5File;

const std::string kText = "name: 'n' " + Input("x", "4 3") + Product("a", "x", 2) +
                          LayerText("ReLU", "r", "a", "r") + Product("b/c", "r", 5);

template <class T = double>
std::vector<std::vector<T>> AllOf(const Net<T>& net) {
  std::vector<std::vector<T>> all;
  for (const auto& param : net.params()) all.push_back(DataOf(*param));
  return all;
}

/// Copies by one of the ways, from a net to another.
using Way = void (*)(const Net<double>& from, Net<double>& to, const std::filesystem::path& file);

const std::vector<std::pair<const char*, Way>> kAllWays{
    {"a message",
     [](const Net<double>& from, Net<double>& to, const std::filesystem::path&) {
       NetParameter param;
       from.ToProto(&param);
       to.CopyTrainedLayersFrom(param);
     }},
    {"a binary file",
     [](const Net<double>& from, Net<double>& to, const std::filesystem::path& file) {
       NetParameter param;
       from.ToProto(&param);
       WriteProtoToBinaryFile(param, file);
       to.CopyTrainedLayersFrom(file);
     }},
    {"HDF5",
     [](const Net<double>& from, Net<double>& to, const std::filesystem::path& file) {
       from.ToHDF5(file);
       to.CopyTrainedLayersFrom(file);
     }},
};

/// Those of this build.
std::span<const std::pair<const char*, Way>> Ways() {
  return std::span(kAllWays).first(detail::HasHdf5() ? 3 : 2);
}

TEST_CASE("Weights go from a net to another by way of a message, a binary file and HDF5") {
  const Folder folder;
  for (const auto& [name, each] : Ways()) {
    const auto& way = each;  // a name that lambdas may capture
    INFO(name);
    const Net<double> from(NetOf(kText));
    Net<double> to(NetOf(kText + Product("more", "b/c", 2)));
    const auto more = DataOf(*to.params()[4]);
    const LogLines log(LogLevel::kInfo);
    way(from, to, folder / "net");
    for (std::size_t i = 0; i < 4; ++i) CHECK(AllOf(to)[i] == AllOf(from)[i]);
    CHECK(DataOf(*to.params()[4]) == more);  // what the source has not stays
    CHECK(log.Has("The source has no layer 'more'"));
  }
}

TEST_CASE("Layers that the net has not are ignored, and the log says so") {
  const Folder folder;
  for (const auto& [name, each] : Ways()) {
    const auto& way = each;  // a name that lambdas may capture
    INFO(name);
    const Net<double> from(NetOf(kText));
    Net<double> to(NetOf(Input("x", "4 3") + Product("a", "x", 2)));
    const LogLines log(LogLevel::kInfo);
    way(from, to, folder / "net");
    CHECK(DataOf(*to.params()[0]) == DataOf(*from.params()[0]));
    CHECK(log.Has("Ignoring source layer r"));
  }
}

TEST_CASE("Weights of another shape are refused with both shapes, and then none is copied") {
  const Folder folder;
  for (const auto& [name, each] : Ways()) {
    const auto& way = each;  // a name that lambdas may capture
    INFO(name);
    const Net<double> from(NetOf(Input("x", "4 3") + Product("a", "x", 2) + Product("b/c", "a", 6)));
    Net<double> to(NetOf(kText));
    const auto before = AllOf(to);
    CHECK_THAT(ErrorOf([&] { way(from, to, folder / "net"); }),
               ContainsSubstring("Cannot copy param 0 weights from layer 'b/c'; shape mismatch. Source param "
                                 "shape is 6 2") &&
                   ContainsSubstring("target param shape is 5 2 (10)") &&
                   ContainsSubstring("rename the layer"));
    CHECK(AllOf(to) == before);
  }
}

TEST_CASE("Another number of parameters is refused, and then none is copied") {
  const Folder folder;
  for (const auto& [name, each] : Ways()) {
    const auto& way = each;  // a name that lambdas may capture
    INFO(name);
    const auto unbiased = [](const std::string& layer, int outputs) {
      return LayerText(
          "InnerProduct", layer, layer == "a" ? "x" : "a", layer,
          "inner_product_param { bias_term: false num_output: " + std::to_string(outputs) + " }");
    };
    const Net<double> from(NetOf(Input("x", "4 3") + Product("a", "x", 2) + unbiased("b/c", 5)));
    Net<double> to(NetOf(kText));
    const auto before = AllOf(to);
    CHECK_THAT(
        ErrorOf([&] { way(from, to, folder / "net"); }),
        ContainsSubstring("Incompatible number of blobs for layer 'b/c': the source has 1, this net 2"));
    CHECK(AllOf(to) == before);
    Net<double> fewer(NetOf(Input("x", "4 3") + unbiased("a", 2)));
    CHECK_THAT(ErrorOf([&] { way(Net<double>(NetOf(kText)), fewer, folder / "net"); }),
               ContainsSubstring("Incompatible number of blobs for layer 'a': the source has 2, this net 1"));
  }
}

TEST_CASE("A message without its elements is refused, and then none is copied") {
  NetParameter param;
  Net<double>(NetOf(kText)).ToProto(&param);
  param.mutable_layer(3)->mutable_blobs(1)->mutable_double_data()->RemoveLast();
  Net<double> net(NetOf(kText));
  const auto before = AllOf(net);
  CHECK_THAT(ErrorOf([&] { net.CopyTrainedLayersFrom(param); }),
             ContainsSubstring("param 1 weights from layer 'b/c'") && ContainsSubstring("4 elements"));
  CHECK(AllOf(net) == before);
  param.mutable_layer(3)->mutable_blobs(1)->add_double_data(0);
  for (int i = 0; i < 4; ++i) param.mutable_layer(3)->mutable_blobs(1)->add_double_diff(0);
  CHECK_THAT(ErrorOf([&] { net.CopyTrainedLayersFrom(param); }),
             ContainsSubstring("5 elements and 4 gradients"));
  CHECK(AllOf(net) == before);
}

TEST_CASE("Weights with the legacy dims of old files fit") {
  NetParameter param;
  const Net<double> from(NetOf(kText));
  from.ToProto(&param);
  BlobProto& bias = *param.mutable_layer(1)->mutable_blobs(1);
  bias.clear_shape();
  bias.set_num(1);
  bias.set_channels(1);
  bias.set_height(1);
  bias.set_width(2);
  Net<double> to(NetOf(kText));
  to.CopyTrainedLayersFrom(param);
  CHECK(AllOf(to) == AllOf(from));
  CHECK(to.params()[1]->shape() == Shape{2});
}

TEST_CASE(
    "A message has the name, all layers and their parameters, with gradients where they are asked for") {
  Net<double> net(NetOf(kText + LayerText("ReLU", "s", "a", "s")), TRAIN);
  net.params()[0]->mutable_cpu_diff()[1] = 3;
  NetParameter param;
  param.set_force_backward(true);
  net.ToProto(&param);
  CHECK(param.name() == "n");
  CHECK_FALSE(param.force_backward());
  REQUIRE(param.layer_size() == 6);
  CHECK(param.layer(2).type() == "Split");
  CHECK(param.layer(1).phase() == TRAIN);
  CHECK(param.layer(1).blobs_size() == 2);
  CHECK(param.layer(1).blobs(0).double_diff_size() == 0);
  net.ToProto(&param, true);
  CHECK(param.layer(1).blobs(0).double_diff(1) == 3);
  CHECK_THROWS_AS(net.ToProto(nullptr), std::invalid_argument);
}

const std::string kShared = Input("x", "4 3") + Product("a", "x", 3, "param { name: 'w' }") +
                            Product("b", "a", 3, "param { name: 'w' }");

TEST_CASE("HDF5 has data/<layer>/<number>, a shared parameter once, and diff/ where it is asked for") {
  NeedHdf5();
  const Folder folder;
  Net<float> net(NetOf(kShared));
  net.params()[0]->mutable_cpu_diff()[1] = 3;
  net.ToHDF5(folder / "plain.h5");
  const Hdf5File plain = Hdf5File::Open(folder / "plain.h5");
  CHECK(plain.Names("") == std::vector<std::string>{"data"});
  CHECK(plain.Names("data") == std::vector<std::string>{"a", "b", "x"});
  CHECK(plain.Names("data/a") == std::vector<std::string>{"0", "1"});
  CHECK(plain.Names("data/b") == std::vector<std::string>{"1"});
  CHECK(plain.ShapeOf("data/a/0") == Shape{3, 3});
  net.ToHDF5(folder / "diff.h5", true);
  const Hdf5File diff = Hdf5File::Open(folder / "diff.h5");
  CHECK(diff.Names("diff/b") == std::vector<std::string>{"0", "1"});
  std::vector<float> gradient(9);
  diff.Read<float>("diff/b/0", gradient);
  CHECK(gradient[1] == 3);
}

TEST_CASE("A file of HDF5 may lack what is shared, and nothing else") {
  NeedHdf5();
  const Folder folder;
  const Net<double> from(NetOf(kShared));
  from.ToHDF5(folder / "net.h5");
  Net<double> same(NetOf(kShared));
  same.CopyTrainedLayersFrom(folder / "net.h5");
  CHECK(AllOf(same) == AllOf(from));
  Net<double> apart(NetOf(Input("x", "4 3") + Product("a", "x", 3) + Product("b", "a", 3)));
  const auto before = AllOf(apart);
  CHECK_THAT(
      ErrorOf([&] { apart.CopyTrainedLayersFrom(folder / "net.h5"); }),
      ContainsSubstring("net.h5: ") &&
          ContainsSubstring("Incompatible number of blobs for layer 'b': the source has 1, this net 2"));
  CHECK(AllOf(apart) == before);
  Net<double> without(NetOf(Input("x", "4 3") + Product("c", "x", 3)));
  CHECK_NOTHROW(without.CopyTrainedLayersFrom(folder / "net.h5"));  // neither layer is in it
  const Net<double> below(NetOf(Input("x", "4 3") + Product("a/b", "x", 3)));
  below.ToHDF5(folder / "below.h5");
  Net<double> both(NetOf(Input("x", "4 3") + Product("a", "x", 3) + Product("a/b", "a", 3)));
  const LogLines log(LogLevel::kWarning);
  both.CopyTrainedLayersFrom(folder / "below.h5");
  CHECK(log.Has("The source has no layer 'a'"));
}

TEST_CASE("A net of floats reads the HDF5 of one of doubles") {
  NeedHdf5();
  const Folder folder;
  const Net<double> from(NetOf(kText));
  from.ToHDF5(folder / "net.h5");
  Net<float> to(NetOf(kText));
  to.CopyTrainedLayersFromHDF5(folder / "net.h5");
  for (std::size_t i = 0; i < 6; ++i)
    CHECK(to.params()[0]->cpu_data()[i] == static_cast<float>(from.params()[0]->cpu_data()[i]));
}

TEST_CASE("A file that is no net is refused by its name") {
  NeedHdf5();
  const Folder folder;
  Net<double> net(NetOf(kText));
  CHECK_THAT(ErrorOf([&] { net.CopyTrainedLayersFrom(folder / "none"); }), ContainsSubstring("none"));
  std::ofstream(folder / "text") << "no weights at all";
  CHECK_THROWS_AS(net.CopyTrainedLayersFrom(folder / "text"), Error);
  CHECK_THAT(ErrorOf([&] { net.CopyTrainedLayersFromHDF5(folder / "text"); }),
             ContainsSubstring("text cannot be opened as HDF5 (HDF5: "));
  Hdf5File::Create(folder / "empty.h5").Close();
  CHECK_THAT(ErrorOf([&] { net.CopyTrainedLayersFrom(folder / "empty.h5"); }),
             ContainsSubstring("empty.h5: 'data' is no group of this file"));
  Hdf5File text = Hdf5File::Create(folder / "text.h5");
  text.WriteString("data/a/0", "words");
  text.Write<double>("data/a/1", {2}, std::vector<double>(2).data());
  text.Close();
  CHECK_THAT(ErrorOf([&] { net.CopyTrainedLayersFrom(folder / "text.h5"); }),
             ContainsSubstring("'data/a/0' holds text; it must hold numbers"));
  CHECK(ErrorOf([&] {
          net.ToHDF5(folder / "no folder" / "net.h5");
        }).find("net.h5 cannot be written as HDF5") != std::string::npos);
}

}  // namespace
}  // namespace ferry::nets_test
