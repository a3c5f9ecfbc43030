// SPDX-License-Identifier: BSD-2-Clause
// Models that Caffe wrote: each blob of a pass forward against Caffe's own.
#include <cmath>

#include "tests/nets/nets.hpp"

namespace ferry::nets_test {
namespace {

/// What forward.json calls the input pattern.
void FillByPattern(Blob<float>& blob) {
  float* const out = blob.overwrite_cpu_data();
  for (std::int64_t i = 0; i < blob.count(); ++i) {
    std::uint32_t x = static_cast<std::uint32_t>(i) * 2654435761U;
    x ^= x >> 15U;
    out[i] = static_cast<float>(x & 1023U) / 512 - 1;
  }
}

/// Sums within 1e-5 of the sum of absolute values.
void CheckBlob(const Blob<float>& blob, const Json& expected) {
  const auto dims = expected["shape"].get<std::vector<std::int64_t>>();
  CHECK(blob.shape() == Shape(dims));
  const Json& stats = expected["data"];
  double sum = 0;
  double asum = 0;
  double sumsq = 0;
  for (const float value : DataOf(blob)) {
    sum += value;
    asum += std::abs(value);
    sumsq += double{value} * value;
  }
  const double most = 1e-5 * stats["asum"].get<double>();
  CHECK(std::abs(sum - stats["sum"].get<double>()) <= most);
  CHECK(std::abs(asum - stats["asum"].get<double>()) <= most);
  CHECK(std::abs(sumsq - stats["sumsq"].get<double>()) <= 1e-5 * stats["sumsq"].get<double>());
  for (std::size_t i = 0; i < stats["first"].size(); ++i)
    CHECK(std::abs(blob.cpu_data()[i] - stats["first"][i].get<double>()) <= 1e-5);
}

void CheckModel(const std::string& model, const Place& place) {
  const std::filesystem::path folder = CaffeData();
  const Json expected = ReadCaffe(model + ".forward.json");
  Net<float> net(folder / (model + ".prototxt"), TEST, place);
  net.CopyTrainedLayersFrom(folder / (model + ".caffemodel"));
  REQUIRE(net.layers().size() == expected["layers"].size());
  for (std::size_t i = 0; i < net.layers().size(); ++i) {
    CHECK(net.layer_names()[i] == expected["layers"][i][0]);
    CHECK(std::string(net.layers()[i]->type()) == expected["layers"][i][1]);
    CHECK(net.layer_need_backward()[i] == expected["layers"][i][2].get<bool>());
  }
  for (Blob<float>* input : net.input_blobs()) FillByPattern(*input);
  float loss = 1;
  const auto& outputs = net.Forward(&loss);
  CHECK(loss == expected["loss"].get<float>());
  REQUIRE(outputs.size() == expected["outputs"].size());
  for (std::size_t i = 0; i < outputs.size(); ++i) CHECK(outputs[i]->name() == expected["outputs"][i]);
  REQUIRE(net.blobs().size() == expected["blobs"].size());
  for (std::size_t i = 0; i < net.blobs().size(); ++i) {
    const std::string name = expected["blobs"][i]["name"];
    INFO(name);
    CHECK(net.blob_names()[i] == name);
    CheckBlob(*net.blobs()[i], expected["blobs"][i]);
  }
}

TEST_CASE("Caffe's models give what they gave in Caffe, blob by blob, at every place") {
  const std::string where = ferry::testing::Everywhere();
  const std::string model = GENERATE(as<std::string>(), "kaffe_lenet", "mtcnn_det1");
  INFO(model << " at " << where);
  const World world(where);
  CheckModel(model, world.place());
}

TEST_CASE("A model's net gives the same when its activations are shared, and from HDF5", "[no-gpu]") {
  NeedHdf5();
  const std::filesystem::path folder = CaffeData();
  if (!std::filesystem::exists(folder / "mtcnn_det1.caffemodel")) SKIP("no " << folder.string());
  const Folder temp;
  Net<float> net(folder / "mtcnn_det1.prototxt", TEST);
  net.CopyTrainedLayersFrom(folder / "mtcnn_det1.caffemodel");
  FillByPattern(*net.input_blobs()[0]);
  const auto& outputs = net.Forward();
  net.ToHDF5(temp / "det1.h5");

  Net<float> again(folder / "mtcnn_det1.prototxt", TEST);
  again.CopyTrainedLayersFrom(temp / "det1.h5");
  again.share_activations();
  FillByPattern(*again.input_blobs()[0]);
  for (std::size_t i = 0; i < 2; ++i) CHECK(DataOf(*again.Forward()[i]) == DataOf(*outputs[i]));
}

}  // namespace
}  // namespace ferry::nets_test
