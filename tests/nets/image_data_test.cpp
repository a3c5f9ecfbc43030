// SPDX-License-Identifier: BSD-2-Clause
// Only in builds with OpenCV.
#include <set>

#include "core/nets/data/image.hpp"
#include "ferry/nets/io.hpp"
#include "tests/nets/data_folder.hpp"

namespace ferry::nets_test {
namespace {

using detail::Image;

/// The PNG of an image in which the byte of channel c, row h and column w is 50 c + 7 h + 3 w + n.
std::string PngOf(int n, int channels, int height, int width) {
  std::vector<std::uint8_t> bytes;
  for (int h = 0; h < height; ++h)
    for (int w = 0; w < width; ++w)
      for (int c = 0; c < channels; ++c)
        bytes.push_back(static_cast<std::uint8_t>(50 * c + 7 * h + 3 * w + n));
  const auto row = static_cast<std::size_t>(channels * width);
  return EncodeImage(Image{channels, height, width, row, bytes.data(), {}}, "png");
}

/// Images 0 to 5 of 3 x 4 x 5 in a folder "i m", and their list, with labels 10 n.
std::string WriteImages(const Folder& folder) {
  std::filesystem::create_directory(folder / "i m");
  std::string list;
  for (int n = 0; n < 6; ++n) {
    const std::string name = "i m/" + std::to_string(n) + ".png";
    folder.Write(name, PngOf(n, 3, 4, 5));
    list += name + " " + std::to_string(10 * n) + (n == 2 ? "\r\n\n" : "\n");
  }
  return folder.Write("list", list);
}

LayerParameter ImagesOf(const Folder& folder, const std::string& source, const std::string& more = "") {
  LayerParameter param = ParamOf("name: 'in' type: 'ImageData'");
  param.mutable_image_data_param()->set_source(source);
  param.mutable_image_data_param()->set_root_folder(folder / "");
  param.mutable_image_data_param()->set_batch_size(2);
  param.MergeFrom(ParamOf(more));
  return param;
}

TEST_CASE("ImageData gives the images of a list in order, in colour, and begins again") {
  const Folder folder;
  const std::string list = WriteImages(folder);
  for (const std::string& where : DataPlaces()) {
    const World world(where);
    DataLayerRun<float> run(ImagesOf(folder, list), world.place(), 2);
    CHECK(run.top(0).shape() == Shape{2, 3, 4, 5});
    for (std::size_t pass = 0; pass < 7; ++pass) {
      const auto values = run.Pass();
      for (std::size_t i = 0; i < 2; ++i) {
        const std::size_t n = (2 * pass + i) % 6;
        CHECK(values[120 + i] == static_cast<float>(10 * n));
        bool right = true;
        for (std::size_t e = 0; e < 60; ++e)
          right = right &&
                  values[60 * i + e] == static_cast<float>(50 * (e / 20) + 7 * (e / 5 % 4) + 3 * (e % 5) + n);
        CHECK(right);
      }
    }
  }
}

TEST_CASE("ImageData reads gray, and at another size") {
  const Folder folder;
  const std::string list = WriteImages(folder);
  const World world("host cpu");
  DataLayerRun<float> run(ImagesOf(folder, list,
                                   "image_data_param { is_color: false new_height: 8 new_width: 10 } "
                                   "transform_param { crop_size: 6 }"),
                          world.place(), 2);
  CHECK(run.Pass().size() == 2 * 36 + 2);
  CHECK(run.top(0).shape() == Shape{2, 1, 6, 6});
}

TEST_CASE("ImageData shuffles anew for each epoch, and goes on where a restored run stopped") {
  const Folder folder;
  const LayerParameter param = ImagesOf(
      folder, WriteImages(folder),
      "image_data_param { shuffle: true rand_skip: 5 } transform_param { mirror: true crop_size: 3 }");
  const World world("host cpu");
  DataLayerRun<float> run(param, world.place(), 2);
  std::vector<std::vector<float>> passes;
  std::vector<float> labels;
  for (int pass = 0; pass < 18; ++pass) {
    passes.push_back(run.Pass());
    labels.insert(labels.end(), passes.back().end() - 2, passes.back().end());
  }
  // Epochs begin where the items that were skipped end; any six from one of these places on are all images.
  std::set<std::vector<float>> orders;
  int beginnings = 0;
  for (std::size_t begin = 0; begin < 6; ++begin) {
    bool whole = true;
    std::set<std::vector<float>> these;
    for (std::size_t at = begin; at + 6 <= labels.size(); at += 6) {
      const auto first = labels.begin() + static_cast<std::ptrdiff_t>(at);
      these.emplace(first, first + 6);
      whole = whole && std::set<float>(first, first + 6).size() == 6;
    }
    if (whole) orders = these;
    beginnings += whole;
  }
  CHECK(beginnings == 1);
  CHECK(orders.size() >= 4);
  for (const std::uint64_t from : {0U, 5U, 17U}) {
    DataLayerRun<float> restored(param, world.place(), 2, {7, 3, from});
    for (std::size_t pass = from; pass < passes.size(); ++pass) CHECK(restored.Pass() == passes[pass]);
  }
}

TEST_CASE("A Data layer decodes records in the colours that it is told") {
  const Folder folder;
  std::vector<Datum> datums(2);
  for (int n = 0; n < 2; ++n) {
    datums[static_cast<std::size_t>(n)].set_data(PngOf(n, n == 0 ? 1 : 3, 4, 5));
    datums[static_cast<std::size_t>(n)].set_encoded(true);
    datums[static_cast<std::size_t>(n)].set_label(n);
  }
  const World world("host cpu");
  for (const auto backend : Backends()) {
    const std::string path = WriteDatabase(folder / std::to_string(backend), backend, datums);
    const auto channels = [&](const std::string& transform) {
      LayerParameter param = ParamOf("type: 'Data' data_param { batch_size: 1 }" + transform);
      param.mutable_data_param()->set_backend(backend);
      param.mutable_data_param()->set_source(path);
      DataLayerRun<float> run(param, world.place(), 2);
      const auto first = run.Pass();
      const std::int64_t one = run.top(0).channels();
      CHECK(first[7] == 7 + 3 * 2);
      run.Forward();
      return std::pair(one, run.top(0).channels());
    };
    CHECK(channels("") == std::pair<std::int64_t, std::int64_t>(1, 3));
    CHECK(channels("transform_param { force_color: true }") == std::pair<std::int64_t, std::int64_t>(3, 3));
    CHECK(channels("transform_param { force_gray: true }") == std::pair<std::int64_t, std::int64_t>(1, 1));
  }
}

TEST_CASE("An image becomes a datum, and an encoded datum its image") {
  const Folder folder;
  const std::string file = folder.Write("image.png", PngOf(1, 3, 4, 5));
  Datum plain;
  CHECK(ReadImageToDatum(file, 6, &plain));
  CHECK(plain.label() == 6);
  CHECK(!plain.encoded());
  CHECK((plain.channels() == 3 && plain.height() == 4 && plain.width() == 5));
  CHECK(ElementOf(plain, 20 + 5 + 2) == 50 + 7 + 6 + 1);
  Datum gray;
  CHECK(ReadImageToDatum(file, 6, 2, 3, false, &gray));
  CHECK((gray.channels() == 1 && gray.height() == 2 && gray.width() == 3));

  Datum as_it_is;
  CHECK(ReadImageToDatum(file, 6, "png", &as_it_is));
  CHECK(as_it_is.encoded());
  CHECK(as_it_is.data() == PngOf(1, 3, 4, 5));
  CHECK(DecodeDatumNative(&as_it_is));
  CHECK(as_it_is.SerializeAsString() == plain.SerializeAsString());
  Datum again;
  CHECK(ReadImageToDatum(file, 6, 4, 5, true, "bmp", &again));
  CHECK(again.data().substr(0, 2) == "BM");
  CHECK(DecodeDatum(&again, true));
  CHECK(again.data() == plain.data());
  CheckFails([&] { ReadImageToDatum(file, 6, "nothing", &again); }, {"encoding 'nothing'"});
  CheckFails([&] { ReadImageToDatum(folder / "none.png", 6, &again); }, {folder / "none.png"});
}

TEST_CASE("ImageData that cannot be is an error with the file or the line") {
  const Folder folder;
  const World world("host cpu");
  const std::string list = WriteImages(folder);
  const auto fails = [&](const LayerParameter& param, const std::vector<std::string>& parts) {
    CheckFails([&] { DataLayerRun<float>(param, world.place(), 2).Forward(); }, parts);
  };
  const auto fails_with = [&](const std::string& lines, const std::vector<std::string>& parts) {
    fails(ImagesOf(folder, folder.Write("other", lines)), parts);
  };
  fails(ImagesOf(folder, folder / "none"), {"layer 'in' (ImageData)", folder / "none", "list of images"});
  fails_with("", {folder / "other", "no line"});
  fails_with("i m/0.png 1\nimage.png\n", {(folder / "other").string() + ":2", "'image.png'", "label"});
  fails_with("i m/0.png x1\n", {":1", "label"});
  fails_with("i m/0.png 1.5\n", {":1", "label"});
  fails_with("i m/none.png 1\n", {"i m/none.png", "no such file"});
  std::filesystem::create_symlink(folder / "loop.png", folder / "loop.png");
  fails_with("loop.png 1\n", {folder / "loop.png", "symbolic links"});
  fails_with("list 1\n", {folder / "list", "no image"});
  folder.Write("large.png", PngOf(0, 3, 4, 6));
  fails_with("i m/0.png 1\nlarge.png 1\n", {"large.png", "3 x 4 x 6", "3 x 4 x 5"});
  fails(ImagesOf(folder, list, "image_data_param { batch_size: 0 }"), {"batch_size is 0"});
  fails(ImagesOf(folder, list, "image_data_param { new_width: 4 }"), {"new_height 0", "new_width 4", "both"});
  fails(ImagesOf(folder, list, "image_data_param { rand_skip: 4000000 }"),
        {"rand_skip is 4000000", "list has 6"});
  fails(ImagesOf(folder, list, "transform_param { crop_size: 5 }"),
        {"i m/0.png", "3 x 4 x 5", "crop_size of 5"});
  CheckFails([&] { DataLayerRun<float>(ImagesOf(folder, list), world.place(), 1); }, {"1 top blobs"});
}

}  // namespace
}  // namespace ferry::nets_test
