// SPDX-License-Identifier: BSD-2-Clause
// Softmax regression by minibatch gradient descent, on whichever device is named. The tutorial walks through
// it.
#include <algorithm>
#include <cstdio>
#include <exception>
#include <numeric>
#include <optional>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "dataset.hpp"
#include "ferry/ferry.hpp"
#include "ferry/proto.hpp"
#include "options.hpp"
#include "report.hpp"
#include "softmax_regression.hpp"

namespace fashion {
namespace {

/// The numbers from 0 to n - 1.
std::vector<std::uint32_t> Numbers(std::int64_t n) {
  std::vector<std::uint32_t> numbers(static_cast<std::size_t>(n));
  std::iota(numbers.begin(), numbers.end(), 0U);
  return numbers;
}

/// Goes through the images in `order`, at most `size` at a time: `step` finds them in `batch`, and is told
/// how many there were by then.
template <class Step>
void ForEachBatch(const Dataset& data, std::span<const std::uint32_t> order, std::int64_t size, Batch& batch,
                  Step step) {
  for (std::size_t begin = 0; begin < order.size();) {
    const std::size_t images = std::min(static_cast<std::size_t>(size), order.size() - begin);
    Load(data, order.subspan(begin, images), batch);
    begin += images;
    step(static_cast<std::int64_t>(begin));
  }
}

Trace::Names NamesOf(const Batch& batch, const SoftmaxRegression& model) {
  return {
      {batch.inputs.data().get(), "pixels"},         {batch.labels.data().get(), "labels"},
      {model.weights().data().get(), "weights"},     {model.weights().diff().get(), "weights' diff"},
      {model.scores().data().get(), "scores"},       {model.scores().diff().get(), "scores' diff"},
      {model.total_losses().data().get(), "losses"}, {model.total_hits().data().get(), "hits"},
  };
}

void Train(const Options& options, const Dataset& data, Batch& batch, SoftmaxRegression& model) {
  constexpr int kTracedSteps = 2;
  const std::int64_t images = options.images == 0 ? data.images : std::min(options.images, data.images);
  std::vector<std::uint32_t> order = Numbers(images);
  std::mt19937 random(options.seed);
  std::optional<Trace> trace;
  if (options.trace) trace.emplace(NamesOf(batch, model));
  for (std::int64_t epoch = 1; epoch <= options.epochs; ++epoch) {
    Shuffle(order, random);
    model.ClearTotals();
    Progress progress(epoch, options.epochs, images);
    ForEachBatch(data, order, options.batch, batch, [&](std::int64_t done) {
      model.Forward(batch.inputs, batch.labels);
      model.Backward(batch.inputs, options.rate / static_cast<float>(epoch));
      if (progress.Due(done)) progress.Show(done, model.loss() / static_cast<double>(done));
      if (trace && trace->PrintStep() == kTracedSteps) trace.reset();
    });
  }
}

/// The part of all images that the model gets right.
double Accuracy(const Dataset& data, std::int64_t size, Batch& batch, SoftmaxRegression& model) {
  model.ClearTotals();
  ForEachBatch(data, Numbers(data.images), size, batch,
               [&](std::int64_t) { model.Forward(batch.inputs, batch.labels); });
  return model.hits() / static_cast<double>(data.images);
}

/// Throws ferry::Error if what is read back is not what was saved.
void SaveAndReadBack(const ferry::Blob<float>& weights, const std::string& path) {
  const ferry::TransferGuard meant(ferry::TransferPolicy::kAllow);  // the weights come home
  ferry::BlobProto proto;
  weights.ToProto(&proto);
  ferry::WriteBlobProto(path, proto);
  ferry::Blob<float> again(weights.device());
  again.FromProto(ferry::ReadBlobProto(path));
  const ferry::Place cpu = ferry::Place::Cpu(weights.device());
  if (again.shape() != weights.shape() || !std::ranges::equal(cpu.Read(again), cpu.Read(weights)))
    throw ferry::Error(path + ": what was read back is not what was saved");
  std::printf("weights %s saved to %s, read back, and the same\n", weights.shape_string().c_str(),
              path.c_str());
}

void Run(const Options& options) {
  const Dataset training = ReadDataset(options.data, "train");
  const Dataset test = ReadDataset(options.data, "t10k");
  ferry::Device& device = ferry::GetDevice(options.device);
  std::printf("%s (%s): %lld training images, %lld test images\n", options.device.c_str(),
              device.properties().name.c_str(), static_cast<long long>(training.images),
              static_cast<long long>(test.images));
  Batch batch(options.batch, training.pixels, device);
  SoftmaxRegression model(training.pixels + 1, kClasses, options.batch, device);
  Train(options, training, batch, model);
  std::printf("test accuracy %.4f\n", Accuracy(test, options.batch, batch, model));
  SaveAndReadBack(model.weights(), options.save);
  PrintStatistics(ferry::GetStatistics(device));
}

}  // namespace
}  // namespace fashion

int main(int argc, char** argv) {
  try {
    const fashion::Options options = fashion::ParseOptions(argc, argv);
    options.help ? void(std::fputs(fashion::kHelp, stdout)) : fashion::Run(options);
    return 0;
  } catch (const fashion::UsageError& error) {
    std::fprintf(stderr, "fashion_mnist: %s; --help lists the options\n", error.what());
    return 2;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "fashion_mnist: %s\n", error.what());
    return 1;
  }
}
