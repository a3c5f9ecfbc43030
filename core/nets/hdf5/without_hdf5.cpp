// SPDX-License-Identifier: BSD-2-Clause
// What stands for hdf5_file.cpp in a build without libhdf5.
#include <utility>

#include "core/nets/hdf5/hdf5_file.hpp"
#include "core/proto/file.hpp"
#include "ferry/nets/error.hpp"

namespace ferry::detail {

struct Hdf5File::State {};

namespace {

[[noreturn]] void Fail(const std::filesystem::path& file) {
  throw NetError(
      file.string() +
      ": this build of Ferry reads and writes no HDF5; install libhdf5's headers (libhdf5-dev) and "
      "configure with -DFERRY_HDF5=ON");
}

}  // namespace

bool HasHdf5() noexcept { return false; }

Hdf5File Hdf5File::Open(const std::filesystem::path& file) { Fail(file); }
Hdf5File Hdf5File::Create(const std::filesystem::path& file) { Fail(file); }

// No such file is ever made; these are there to be linked.
Hdf5File::Hdf5File(std::unique_ptr<State> state) noexcept : state_(std::move(state)) {}
Hdf5File::Hdf5File(Hdf5File&&) noexcept = default;
Hdf5File& Hdf5File::operator=(Hdf5File&&) noexcept = default;
Hdf5File::~Hdf5File() = default;
std::vector<std::string> Hdf5File::Names(const std::string& group) const { Fail(group); }
bool Hdf5File::HasGroup(const std::string& path) const { Fail(path); }
bool Hdf5File::HasDataset(const std::string& path) const { Fail(path); }
Shape Hdf5File::ShapeOf(const std::string& dataset) const { Fail(dataset); }
template <class T>
void Hdf5File::Read(const std::string& dataset, std::span<T> /*to*/) const {
  Fail(dataset);
}
std::string Hdf5File::ReadString(const std::string& dataset) const { Fail(dataset); }
void Hdf5File::MakeGroup(const std::string& group) { Fail(group); }
template <class T>
void Hdf5File::Write(const std::string& dataset, const Shape& /*shape*/, const T* /*from*/) {
  Fail(dataset);
}
void Hdf5File::WriteString(const std::string& dataset, const std::string& /*text*/) { Fail(dataset); }
void Hdf5File::Close() {}
std::unique_ptr<NewFile> Hdf5File::Stage() { return nullptr; }

#define FERRY_INSTANTIATE(T)                                            \
  template void Hdf5File::Read(const std::string&, std::span<T>) const; \
  template void Hdf5File::Write(const std::string&, const Shape&, const T*)
FERRY_INSTANTIATE(float);
FERRY_INSTANTIATE(double);
FERRY_INSTANTIATE(int);
#undef FERRY_INSTANTIATE

}  // namespace ferry::detail
