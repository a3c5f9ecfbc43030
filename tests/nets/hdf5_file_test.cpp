// SPDX-License-Identifier: BSD-2-Clause
#include "core/nets/hdf5/hdf5_file.hpp"

#include <catch2/matchers/catch_matchers_string.hpp>
#include <fstream>

#include "tests/nets/nets.hpp"

namespace ferry::nets_test {
namespace {

using Catch::Matchers::ContainsSubstring;
using detail::Hdf5File;
using detail::IsHdf5;

template <class T>
std::vector<T> ReadAll(const Hdf5File& file, const std::string& dataset) {
  std::vector<T> values(static_cast<std::size_t>(file.ShapeOf(dataset).count()));
  file.Read<T>(dataset, values);
  return values;
}

TEST_CASE("Arrays of any shape and texts go to HDF5 and back") {
  NeedHdf5();
  const Folder folder;
  Hdf5File out = Hdf5File::Create(folder / "a.h5");
  const std::vector<float> floats{0.1F, 2, 3, 4, 5, 6};
  const std::vector<double> doubles{0.1};
  const std::vector<int> ints{-7, 8};
  out.Write("deep/down/floats", {2, 3}, floats.data());
  out.Write("doubles", Shape(), doubles.data());
  out.Write("ints", {2}, ints.data());
  out.Write("none", {0, 4}, floats.data());
  out.WriteString("text", "a b");
  out.MakeGroup("deep/group");
  out.MakeGroup("deep/group");
  out.Close();

  const Hdf5File in = Hdf5File::Open(folder / "a.h5");
  CHECK(in.Names("") == std::vector<std::string>{"deep", "doubles", "ints", "none", "text"});
  CHECK(in.Names("deep") == std::vector<std::string>{"down", "group"});
  CHECK(in.HasGroup("deep/group"));
  CHECK_FALSE(in.HasDataset("deep/group"));
  CHECK(in.HasDataset("deep/down/floats"));
  CHECK_FALSE(in.HasGroup("deep/down/floats"));
  CHECK_FALSE(in.HasDataset("deep/up/floats"));
  CHECK(in.ShapeOf("deep/down/floats") == Shape{2, 3});
  CHECK(in.ShapeOf("doubles") == Shape());
  CHECK(in.ShapeOf("none") == Shape{0, 4});
  CHECK(ReadAll<float>(in, "deep/down/floats") == floats);
  CHECK(ReadAll<double>(in, "doubles") == doubles);
  CHECK(ReadAll<int>(in, "ints") == ints);
  CHECK(ReadAll<float>(in, "none").empty());
  CHECK(in.ReadString("text") == "a b");
}

TEST_CASE("Numbers are read as the type that is asked for") {
  NeedHdf5();
  const Folder folder;
  Hdf5File out = Hdf5File::Create(folder / "a.h5");
  const std::vector<int> ints{-7, 8};
  const std::vector<double> doubles{0.1, 2};
  out.Write("ints", {2}, ints.data());
  out.Write("doubles", {2}, doubles.data());
  out.Close();
  const Hdf5File in = Hdf5File::Open(folder / "a.h5");
  CHECK(ReadAll<double>(in, "ints") == std::vector<double>{-7, 8});
  CHECK(ReadAll<float>(in, "doubles") == std::vector<float>{0.1F, 2});
  CHECK(ReadAll<int>(in, "doubles") == std::vector<int>{0, 2});
}

TEST_CASE("What is asked for wrongly is refused with the file and the dataset") {
  NeedHdf5();
  const Folder folder;
  Hdf5File out = Hdf5File::Create(folder / "a.h5");
  const std::vector<int> ints{-7, 8};
  out.Write("ints", {2}, ints.data());
  out.WriteString("text", "words");
  CHECK_THAT(ErrorOf([&] { out.Write("ints", {2}, ints.data()); }),
             ContainsSubstring("a.h5: 'ints' cannot be written (HDF5: "));
  CHECK_THAT(ErrorOf([&] { out.MakeGroup("ints/below"); }), ContainsSubstring("'ints/below' cannot be made"));
  out.Close();
  const Hdf5File in = Hdf5File::Open(folder / "a.h5");
  std::vector<int> three(3);
  CHECK_THAT(ErrorOf([&] { in.Read<int>("ints", three); }),
             ContainsSubstring("a.h5: 'ints' has 2 elements; 3 are needed"));
  CHECK_THAT(ErrorOf([&] { in.Read<int>("none", three); }), ContainsSubstring("'none' is no dataset"));
  CHECK_THAT(ErrorOf([&] { in.Names("ints"); }), ContainsSubstring("'ints' is no group"));
  CHECK_THAT(ErrorOf([&] { in.ShapeOf("text"); }), ContainsSubstring("'text' holds text"));
  CHECK_THAT(ErrorOf([&] { in.ReadString("ints"); }), ContainsSubstring("'ints' must hold one text"));
  CHECK_THAT(ErrorOf([&] { Hdf5File::Open(folder / "b.h5"); }),
             ContainsSubstring("b.h5 cannot be opened as HDF5 (HDF5: "));
}

TEST_CASE("A file appears at Close, and takes the place of the one that was there") {
  NeedHdf5();
  const Folder folder;
  const std::vector<int> one{1};
  const std::vector<int> two{2};
  {
    Hdf5File dropped = Hdf5File::Create(folder / "a.h5");
    dropped.Write("x", {1}, one.data());
  }
  CHECK_FALSE(std::filesystem::exists(folder / "a.h5"));
  Hdf5File first = Hdf5File::Create(folder / "a.h5");
  first.Write("x", {1}, one.data());
  first.Close();
  std::filesystem::create_symlink("a.h5", folder / "link.h5");
  Hdf5File second = Hdf5File::Create(folder / "link.h5");
  second.Write("x", {1}, two.data());
  CHECK(ReadAll<int>(Hdf5File::Open(folder / "a.h5"), "x") == one);
  second.Close();
  CHECK(ReadAll<int>(Hdf5File::Open(folder / "a.h5"), "x") == two);
  CHECK(std::filesystem::is_symlink(folder / "link.h5"));
  const auto files = std::distance(std::filesystem::directory_iterator(folder / ""), {});
  CHECK(files == 2);
}

TEST_CASE("A file is known by its first bytes, also behind a block of the user's own") {
  NeedHdf5();
  const Folder folder;
  Hdf5File::Create(folder / "a.h5").Close();
  CHECK(IsHdf5(folder / "a.h5"));
  std::ifstream in(folder / "a.h5", std::ios::binary);
  const std::string bytes((std::istreambuf_iterator<char>(in)), {});
  std::ofstream(folder / "behind", std::ios::binary) << std::string(2048, ' ') << bytes;
  CHECK(IsHdf5(folder / "behind"));
  std::ofstream(folder / "elsewhere", std::ios::binary) << std::string(1000, ' ') << bytes;
  CHECK_FALSE(IsHdf5(folder / "elsewhere"));
  std::ofstream(folder / "short", std::ios::binary) << bytes.substr(0, 7);
  CHECK_FALSE(IsHdf5(folder / "short"));
  CHECK_FALSE(IsHdf5(folder / "none"));
  CHECK_FALSE(IsHdf5("/dev/zero"));
}

TEST_CASE("A file that was cut is refused") {
  NeedHdf5();
  const Folder folder;
  Hdf5File out = Hdf5File::Create(folder / "a.h5");
  const std::vector<int> ints(100000);
  out.Write("ints", {100000}, ints.data());
  out.Close();
  std::filesystem::resize_file(folder / "a.h5", 100000);
  CHECK_THAT(ErrorOf([&] { Hdf5File::Open(folder / "a.h5"); }), ContainsSubstring("truncated"));
}

TEST_CASE("A build without HDF5 says how to get it") {
  if (detail::HasHdf5()) SKIP("this build has HDF5");
  CHECK_THAT(ErrorOf([] { Hdf5File::Open("a.h5"); }), ContainsSubstring("a.h5") &&
                                                          ContainsSubstring("libhdf5-dev") &&
                                                          ContainsSubstring("-DFERRY_HDF5=ON"));
  CHECK_THROWS_AS(Hdf5File::Create("a.h5"), NetError);
}

}  // namespace
}  // namespace ferry::nets_test
