// SPDX-License-Identifier: BSD-2-Clause
#include "core/nets/hdf5/hdf5_file.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <concepts>
#include <cstddef>
#include <utility>

#include "core/nets/as_net_error.hpp"
#include "core/nets/hdf5/library.hpp"
#include "core/proto/file.hpp"
#include "core/write_signals.hpp"
#include "ferry/error.hpp"
#include "ferry/nets/error.hpp"

namespace ferry::detail {
namespace {

template <class T>
hid_t NativeType() {
  if constexpr (std::same_as<T, float>)
    return H5().T_NATIVE_FLOAT;
  else if constexpr (std::same_as<T, double>)
    return H5().T_NATIVE_DOUBLE;
  else
    return H5().T_NATIVE_INT;
}

const char* NameOf(H5T_class_t kind) {
  switch (kind) {
    case H5T_STRING:
      return "text";
    case H5T_COMPOUND:
      return "compounds";
    case H5T_ENUM:
      return "an enumeration";
    case H5T_REFERENCE:
      return "references";
    case H5T_BITFIELD:
      return "bit fields";
    default:
      return "another type";
  }
}

/// A link is there, and all those before it in the path.
bool Linked(hid_t file, const std::string& path) {
  for (std::size_t end = 0; end != std::string::npos;) {
    end = path.find('/', end + 1);
    if (H5().Lexists(file, path.substr(0, end).c_str(), H5P_DEFAULT) <= 0) return false;
  }
  return true;
}

bool IsOf(hid_t file, const std::string& path, H5I_type_t type) {
  if (!Linked(file, path)) return false;
  const Handle object(H5().Oopen(file, path.c_str(), H5P_DEFAULT), H5().Oclose);
  return object.valid() && H5().Iget_type(object.get()) == type;
}

std::string CannotWrite(const std::filesystem::path& file) {
  return file.string() + " cannot be written as HDF5";
}

/// Makes the groups of a path on the way.
class WithGroups {
 public:
  WithGroups() : list_(H5().Pcreate(H5().P_LINK_CREATE), H5().Pclose) {
    H5().Pset_create_intermediate_group(list_.get(), 1);
  }
  hid_t get() const noexcept { return list_.get(); }

 private:
  Handle list_;
};

}  // namespace

struct Hdf5File::State {
  State(std::filesystem::path of, std::unique_ptr<NewFile> new_file, hid_t id)
      : file(std::move(of)), written(std::move(new_file)), handle(id) {}
  ~State() {
    const Entered entered;
    if (handle >= 0) H5().Fclose(handle);
  }
  State(const State&) = delete;
  State& operator=(const State&) = delete;

  [[noreturn]] void Fail(const std::string& path, const std::string& what) const {
    throw NetError(file.string() + (path.empty() ? "" : ": '" + path + "'") + ' ' + what);
  }
  /// The bytes of a file that is in memory.
  std::vector<char> Image() const {
    const ssize_t size =
        H5().Fflush(handle, H5F_SCOPE_GLOBAL) < 0 ? -1 : H5().Fget_file_image(handle, nullptr, 0);
    std::vector<char> bytes(size < 0 ? 0 : static_cast<std::size_t>(size));
    if (size < 0 || H5().Fget_file_image(handle, bytes.data(), bytes.size()) < 0)
      Fail("", "cannot be written" + Reason());
    return bytes;
  }
  Handle Dataset(const std::string& path) const {
    if (!IsOf(handle, path, H5I_DATASET)) Fail(path, "is no dataset of this file");
    return {H5().Dopen2(handle, path.c_str(), H5P_DEFAULT), H5().Dclose};
  }
  /// One of numbers.
  Handle Numbers(const std::string& path) const {
    Handle opened = Dataset(path);
    const Handle type(H5().Dget_type(opened.get()), H5().Tclose);
    const H5T_class_t kind = H5().Tget_class(type.get());
    if (kind == H5T_FLOAT || kind == H5T_INTEGER) return opened;
    Fail(path, std::string("holds ") + NameOf(kind) + "; it must hold numbers");
  }

  std::filesystem::path file;        ///< what errors name
  std::unique_ptr<NewFile> written;  ///< null when reading
  hid_t handle;
};

bool HasHdf5() noexcept { return true; }

Hdf5File::Hdf5File(std::unique_ptr<State> state) noexcept : state_(std::move(state)) {}
Hdf5File::Hdf5File(Hdf5File&&) noexcept = default;
Hdf5File& Hdf5File::operator=(Hdf5File&&) noexcept = default;
Hdf5File::~Hdf5File() = default;

Hdf5File Hdf5File::Open(const std::filesystem::path& file) {
  const Entered entered;
  const hid_t id = H5().Fopen(file.c_str(), Hdf5Functions::F_ACC_RDONLY, H5P_DEFAULT);
  if (id < 0) throw NetError(file.string() + " cannot be opened as HDF5" + Reason());
  return Hdf5File(std::make_unique<State>(file, nullptr, id));
}

// In memory, until it is whole: libhdf5 keeps a file that it could not write, and crashes with it at the end
// of the process.
Hdf5File Hdf5File::Create(const std::filesystem::path& file) {
  constexpr std::size_t kGrowth = std::size_t{16} << 20U;
  static std::atomic<unsigned> number{0};
  std::unique_ptr<NewFile> written =
      AsNetError([&] { return std::make_unique<NewFile>(file, CannotWrite(file)); });
  const Entered entered;
  const Handle in_memory(H5().Pcreate(H5().P_FILE_ACCESS), H5().Pclose);
  H5().Pset_fapl_core(in_memory.get(), kGrowth, false);
  const std::string name = "ferry-" + std::to_string(++number);
  const hid_t id = H5().Fcreate(name.c_str(), Hdf5Functions::F_ACC_TRUNC, H5P_DEFAULT, in_memory.get());
  if (id < 0) throw NetError(CannotWrite(file) + Reason());
  return Hdf5File(std::make_unique<State>(file, std::move(written), id));
}

std::vector<std::string> Hdf5File::Names(const std::string& group) const {
  const Entered entered;
  const std::string path = group.empty() ? "/" : group;
  if (!group.empty() && !IsOf(state_->handle, group, H5I_GROUP))
    state_->Fail(group, "is no group of this file");
  const Handle opened(H5().Gopen2(state_->handle, path.c_str(), H5P_DEFAULT), H5().Gclose);
  std::vector<std::string> names;
  H5G_info_t info{};
  if (!opened.valid() || H5().Gget_info(opened.get(), &info) < 0)
    state_->Fail(path, "cannot be listed" + Reason());
  for (hsize_t i = 0; i < info.nlinks; ++i) {
    const auto name_to = [&](char* to, std::size_t size) {
      return H5().Lget_name_by_idx(opened.get(), ".", H5_INDEX_NAME, H5_ITER_NATIVE, i, to, size,
                                   H5P_DEFAULT);
    };
    const ssize_t size = name_to(nullptr, 0);
    if (size < 0) state_->Fail(path, "cannot be listed" + Reason());
    std::string& name = names.emplace_back(static_cast<std::size_t>(size), '\0');
    name_to(name.data(), name.size() + 1);
  }
  std::sort(names.begin(), names.end());
  return names;
}

bool Hdf5File::HasGroup(const std::string& path) const {
  const Entered entered;
  return IsOf(state_->handle, path, H5I_GROUP);
}

bool Hdf5File::HasDataset(const std::string& path) const {
  const Entered entered;
  return IsOf(state_->handle, path, H5I_DATASET);
}

Shape Hdf5File::ShapeOf(const std::string& dataset) const {
  const Entered entered;
  const Handle opened = state_->Numbers(dataset);
  const Handle space(H5().Dget_space(opened.get()), H5().Sclose);
  std::array<hsize_t, H5S_MAX_RANK> dims{};
  const int rank = space.valid() ? H5().Sget_simple_extent_dims(space.get(), dims.data(), nullptr) : -1;
  if (rank < 0 || H5().Sget_simple_extent_type(space.get()) == H5S_NULL)
    state_->Fail(dataset, "has no shape" + Reason());
  try {
    return Shape(std::span(dims).first(static_cast<std::size_t>(rank)), "Hdf5File::ShapeOf");
  } catch (const ShapeError& error) {
    state_->Fail(dataset, std::string("has a shape that no blob can have: ") + error.what());
  }
}

template <class T>
void Hdf5File::Read(const std::string& dataset, std::span<T> to) const {
  const Entered entered;
  const Handle opened = state_->Numbers(dataset);
  const Handle space(H5().Dget_space(opened.get()), H5().Sclose);
  const hssize_t count = H5().Sget_simple_extent_npoints(space.get());
  if (std::cmp_not_equal(count, to.size()))
    state_->Fail(dataset,
                 "has " + std::to_string(count) + " elements; " + std::to_string(to.size()) + " are needed");
  if (to.empty()) return;
  if (H5().Dread(opened.get(), NativeType<T>(), H5S_ALL, H5S_ALL, H5P_DEFAULT, to.data()) < 0)
    state_->Fail(dataset, "cannot be read" + Reason());
}

std::string Hdf5File::ReadString(const std::string& dataset) const {
  const Entered entered;
  const Handle opened = state_->Dataset(dataset);
  const Handle type(H5().Dget_type(opened.get()), H5().Tclose);
  const Handle space(H5().Dget_space(opened.get()), H5().Sclose);
  if (H5().Tget_class(type.get()) != H5T_STRING || H5().Tis_variable_str(type.get()) > 0 ||
      H5().Sget_simple_extent_npoints(space.get()) != 1)
    state_->Fail(dataset, "must hold one text of a fixed length");
  std::string text(H5().Tget_size(type.get()), '\0');
  if (H5().Dread(opened.get(), type.get(), H5S_ALL, H5S_ALL, H5P_DEFAULT, text.data()) < 0)
    state_->Fail(dataset, "cannot be read" + Reason());
  return text.substr(0, text.find('\0'));
}

void Hdf5File::MakeGroup(const std::string& group) {
  const Entered entered;
  if (IsOf(state_->handle, group, H5I_GROUP)) return;
  const WithGroups list;
  const Handle made(H5().Gcreate2(state_->handle, group.c_str(), list.get(), H5P_DEFAULT, H5P_DEFAULT),
                    H5().Gclose);
  if (!made.valid()) state_->Fail(group, "cannot be made a group" + Reason());
}

template <class T>
void Hdf5File::Write(const std::string& dataset, const Shape& shape, const T* from) {
  const Entered entered;
  std::array<hsize_t, kMaxBlobAxes> dims{};
  std::copy(shape.begin(), shape.end(), dims.begin());
  const Handle space(H5().Screate_simple(shape.num_axes(), dims.data(), nullptr), H5().Sclose);
  const WithGroups list;
  const Handle made(H5().Dcreate2(state_->handle, dataset.c_str(), NativeType<T>(), space.get(), list.get(),
                                  H5P_DEFAULT, H5P_DEFAULT),
                    H5().Dclose);
  if (!made.valid() || (shape.count() > 0 &&
                        H5().Dwrite(made.get(), NativeType<T>(), H5S_ALL, H5S_ALL, H5P_DEFAULT, from) < 0))
    state_->Fail(dataset, "cannot be written" + Reason());
}

void Hdf5File::WriteString(const std::string& dataset, const std::string& text) {
  const Entered entered;
  const Handle type(H5().Tcopy(H5().T_C_S1), H5().Tclose);
  H5().Tset_size(type.get(), text.size() + 1);
  const Handle space(H5().Screate(H5S_SCALAR), H5().Sclose);
  const WithGroups list;
  const Handle made(H5().Dcreate2(state_->handle, dataset.c_str(), type.get(), space.get(), list.get(),
                                  H5P_DEFAULT, H5P_DEFAULT),
                    H5().Dclose);
  if (!made.valid() || H5().Dwrite(made.get(), type.get(), H5S_ALL, H5S_ALL, H5P_DEFAULT, text.c_str()) < 0)
    state_->Fail(dataset, "cannot be written" + Reason());
}

std::unique_ptr<NewFile> Hdf5File::Stage() {
  std::vector<char> bytes;
  {
    const Entered entered;
    bytes = state_->Image();
    if (H5().Fclose(std::exchange(state_->handle, -1)) < 0) state_->Fail("", "cannot be written" + Reason());
  }
  AsNetError([&] {
    const WithoutWriteSignals quiet;
    state_->written->Write({bytes.data(), bytes.size()});
  });
  return std::move(state_->written);
}

void Hdf5File::Close() {
  AsNetError([&] { Stage()->Commit(); });
}

#define FERRY_INSTANTIATE(T)                                            \
  template void Hdf5File::Read(const std::string&, std::span<T>) const; \
  template void Hdf5File::Write(const std::string&, const Shape&, const T*)
FERRY_INSTANTIATE(float);
FERRY_INSTANTIATE(double);
FERRY_INSTANTIATE(int);
#undef FERRY_INSTANTIATE

}  // namespace ferry::detail
