// SPDX-License-Identifier: BSD-2-Clause
// What a blob says of its two arrays: names, streams, memory that is not there; and storage that others
// resize.
#include <cstring>
#include <string>
#include <utility>

#include "ferry/error.hpp"
#include "ferry/log.hpp"
#include "ferry/observer.hpp"
#include "ferry/proto.hpp"
#include "tests/unit/blob_world.hpp"

namespace ferry::testing {
namespace {

TEST_CASE("the memory of a blob without a shape is null, and using it is an error in words") {
  const std::string text =
      "ferry::MemoryPtr: there is no memory, since the blob has no shape, or the array no elements; Reshape "
      "the blob first, or give the array a count";
  Blob<float> blob;
  const Array<float> array;
  CHECK(blob.data() == nullptr);
  CHECK_FALSE(blob.diff());
  CHECK_THROWS_MATCHES(*blob.data(), ShapeError, Message(text));
  CHECK_THROWS_MATCHES(blob.data()->head(), ShapeError, Message(text));
  CHECK_THROWS_MATCHES(blob.diff()->size(), ShapeError, Message(text));
  CHECK_THROWS_MATCHES(*array.memory(), ShapeError, Message(text));
  blob.Reshape({2});
  const std::shared_ptr<SyncedMemory>& caffes = blob.data();
  CHECK(&*blob.data() == caffes.get());
  CHECK(caffes->size() == 2 * sizeof(float));
}

TEST_CASE("storage that was made smaller than the blob does not stop Reshape") {
  const EachWorld world;
  float mine = 7;
  Blob<float> e({10}, world.device());
  Fill(e);
  FillDiff(e, 11.f);
  SECTION("by pointers of its own") {
    e.data()->Resize(4);
    e.data()->set_cpu_data(&mine);
    CHECK_THROWS_AS(e.gpu_data(), std::out_of_range);
    e.Reshape({1});
    CHECK(Data(e) == std::vector<float>{7});
    CHECK(DiffValues(e) == std::vector<float>{11});
    e.Reshape({2});
    CHECK(Data(e) == std::vector<float>{0, 0});
    CHECK(DiffValues(e) == std::vector<float>{11, 0});
  }
  SECTION("within its capacity") {
    e.data()->Resize(4);
    e.Reshape({3});
    CHECK(Data(e) == std::vector<float>{1, 0, 0});
    CHECK(DiffValues(e) == std::vector<float>{11, 12, 13});
  }
  SECTION("in front of a slice") {
    Blob<float> slice = e.Slice(5, 2);
    e.data()->Resize(4);
    slice.Reshape({1});
    CHECK(Data(slice) == std::vector<float>{0});
    CHECK(DiffValues(slice) == std::vector<float>{16});
  }
}

TEST_CASE("what Diff returns is the blob's diff of now, whatever storage it had before") {
  const EachWorld world;
  Blob<float> blob({2}, world.device());
  auto diff = Diff(blob);
  const auto read = Diff(std::as_const(blob));
  blob.Reshape({300});
  CHECK(Place::Cpu(world.device()).Read(read).size() == 300);
  Set(Place(world.device()), 5, diff);
  CHECK(blob.cpu_diff()[299] == 5);
  blob = Blob<float>({3}, world.device());
  CHECK(Read(diff).count() == 3);
  CHECK(blob.sumsq_diff() == 0);
}

TEST_CASE("a blob's name is in what its data and its diff say, and stays with the blob") {
  const EachWorld world;
  Blob<float> blob(world.device());
  CHECK(blob.name().empty());
  blob.set_name("conv1.weight");
  CHECK(blob.name() == "conv1.weight");
  const auto labels = [&] {
    CHECK(blob.data()->label() == "conv1.weight");
    CHECK(blob.diff()->label() == "conv1.weight.diff");
  };
  blob.Reshape({2}), labels();
  blob.Reshape({20}), labels();
  blob.Reshape({3}), blob.ShrinkToFit(), labels();
  const Blob<float> slice = blob.Slice(1, 1);
  CHECK(slice.data()->label() == "conv1.weight");
  CHECK_THROWS_MATCHES(Axpy(Place(world.device()), 1, Diff(slice), blob), ShapeError,
                       Message("ferry::Axpy: x (\"conv1.weight.diff\") has 1 elements, y (\"conv1.weight\") "
                               "has 3 elements; the counts must be equal"));
  Blob<float> moved = std::move(blob);
  CHECK(moved.name() == "conv1.weight");
  CHECK(blob.name().empty());  // NOLINT(bugprone-use-after-move): the header says what is left
  moved.set_name("");
  CHECK(moved.diff()->label().empty());
}

TEST_CASE("a blob's name is in the trace") {
  const BlobWorld world;
  std::string lines;
  SetLogSink([&](LogLevel, std::string_view line) { (lines += line) += '\n'; });
  SetLogLevel(LogLevel::kTrace);
  Blob<float> blob({2}, world.device());
  blob.set_name("fc");
  blob.mutable_cpu_diff();
  SetLogLevel(LogLevel::kWarning);
  SetLogSink({});
  CHECK(lines.find("\"fc.diff\"") != std::string::npos);
}

TEST_CASE("Prefetch starts on a stream what a read needs of data or of diff") {
  const BlobWorld world;
  const Stream stream(world.device());
  Blob<float> blob({4, 2}, world.device());
  Fill(blob);
  FillDiff(blob);
  blob.Prefetch(Side::kGpu, stream);
  CHECK(blob.data()->head() == Head::SYNCED);
  CHECK(blob.diff()->head() == Head::HEAD_AT_CPU);
  blob.Slice(1, 2).Prefetch(Side::kGpu, stream, BlobPart::kDiff);
  const Statistics did = world.statistics();
  CHECK(did.host_to_device.bytes == (8 + 4) * sizeof(float));
  blob.Prefetch(Side::kGpu, BlobPart::kDiff);
  CHECK((world.statistics() - did).host_to_device.bytes == 4 * sizeof(float));
  CHECK(blob.diff()->head() == Head::SYNCED);
  Blob<float>(world.device()).Prefetch(Side::kGpu);
}

TEST_CASE("a stream decides where a copy and the mathematics run") {
  const EachWorld world;
  const Stream stream(world.device());
  Blob<float> blob({4}, world.device()), source({4}, world.device());
  Fill(source, 5.f);
  FillDiff(source, 1.f);
  blob.CopyFrom(source, stream);
  CHECK(blob.data()->head() == Head::HEAD_AT_GPU);
  blob.CopyFrom(source, stream, BlobPart::kDiff);
  CHECK(blob.diff()->head() == Head::HEAD_AT_GPU);
  blob.Update(stream);
  CHECK(blob.asum_data(stream) == 16);
  CHECK(blob.sumsq_data(stream) == 64);
  CHECK(blob.asum_diff(stream) == 10);
  CHECK(blob.sumsq_diff(stream) == 30);
  blob.scale_data(2, stream);
  blob.scale_diff(3, stream);
  CHECK(Data(blob) == std::vector<float>(4, 8));
  CHECK(DiffValues(blob) == std::vector<float>{3, 6, 9, 12});
  Blob<float> grown({1}, world.device());
  grown.CopyFrom(source, stream, BlobPart::kData, WithReshape::kYes);
  CHECK(Data(grown) == Counted<float>(4, 5));
  CHECK(Blob<float>().asum_data(Stream::Main(world.device())) == 0);
}

TEST_CASE("the mathematics on a stream is ordered by that stream") {
  const BlobWorld world;
  const Stream stream(world.device());
  Blob<float> blob({4}, world.device());
  Fill(blob);
  FillDiff(blob);
  blob.Update(stream);
  const Statistics did = world.statistics();
  CHECK(did.host_to_device.count == 2);
  CHECK(blob.data()->head() == Head::HEAD_AT_GPU);
  CHECK(blob.gpu_data(stream) != nullptr);
  CHECK(Data(blob) == std::vector<float>(4));
}

TEST_CASE("what Caffe says by booleans can be said by names") {
  const EachWorld world;
  Blob<float> source({3}, world.device()), blob({2}, world.device());
  Fill(source);
  FillDiff(source, 11.f);
  CHECK_THROWS_AS(blob.CopyFrom(source, BlobPart::kDiff), ShapeError);
  CHECK_THROWS_AS(blob.CopyFrom(source, BlobPart::kDiff, WithReshape::kNo), ShapeError);
  blob.CopyFrom(source, BlobPart::kDiff, WithReshape::kYes);
  CHECK(DiffValues(blob) == Counted<float>(3, 11));
  CHECK(Data(blob) == std::vector<float>(3));
  blob.CopyFrom(source, BlobPart::kData);
  CHECK(Data(blob) == Counted<float>(3));
  BlobProto with, without;
  source.ToProto(&with, WithDiff::kYes);
  source.ToProto(&without, WithDiff::kNo);
  CHECK(with.diff_size() == 3);
  CHECK(without.diff_size() == 0);
  Blob<float> other({1}, world.device());
  CHECK_THROWS_AS(other.FromProto(with, WithReshape::kNo), ShapeError);
  other.FromProto(with, WithReshape::kYes);
  CHECK(Data(other) == Counted<float>(3));
}

}  // namespace
}  // namespace ferry::testing
