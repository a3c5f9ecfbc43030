// SPDX-License-Identifier: BSD-2-Clause
#include "core/nets/hdf5/hdf5_file.hpp"

#include <hdf5.h>

#include <algorithm>
#include <array>
#include <concepts>
#include <cstddef>
#include <mutex>
#include <system_error>
#include <utility>

#include "ferry/error.hpp"
#include "ferry/nets/error.hpp"

namespace ferry::detail {
namespace {

/// For the length of a call: libhdf5 is entered by this thread alone, and prints no errors.
class Entered {
 public:
  Entered() : lock_(Mutex()) {
    H5Eget_auto2(H5E_DEFAULT, &print_, &client_data_);
    H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
  }
  ~Entered() { H5Eset_auto2(H5E_DEFAULT, print_, client_data_); }
  Entered(const Entered&) = delete;
  Entered& operator=(const Entered&) = delete;

 private:
  static std::mutex& Mutex() {
    static std::mutex mutex;
    return mutex;
  }

  std::lock_guard<std::mutex> lock_;
  H5E_auto2_t print_ = nullptr;
  void* client_data_ = nullptr;
};

/// An object of HDF5's, and how it is closed; negative where it could not be had.
class Handle {
 public:
  Handle(hid_t id, herr_t (*close)(hid_t)) noexcept : id_(id), close_(close) {}
  ~Handle() {
    if (id_ >= 0) close_(id_);
  }
  Handle(Handle&& other) noexcept : id_(std::exchange(other.id_, -1)), close_(other.close_) {}
  Handle& operator=(Handle&&) = delete;
  hid_t get() const noexcept { return id_; }
  bool valid() const noexcept { return id_ >= 0; }

 private:
  hid_t id_;
  herr_t (*close_)(hid_t);
};

/// What HDF5 says went wrong first, in brackets.
std::string Reason() {
  std::string reason;
  const auto take = [](unsigned, const H5E_error2_t* error, void* to) -> herr_t {
    if (error->desc != nullptr) *static_cast<std::string*>(to) = error->desc;
    return 1;  // the innermost is enough
  };
  H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, take, &reason);
  return reason.empty() ? "" : " (HDF5: " + reason + ")";
}

template <class T>
hid_t NativeType() {
  if constexpr (std::same_as<T, float>)
    return H5T_NATIVE_FLOAT;
  else if constexpr (std::same_as<T, double>)
    return H5T_NATIVE_DOUBLE;
  else
    return H5T_NATIVE_INT;
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
    if (H5Lexists(file, path.substr(0, end).c_str(), H5P_DEFAULT) <= 0) return false;
  }
  return true;
}

bool IsOf(hid_t file, const std::string& path, H5I_type_t type) {
  if (!Linked(file, path)) return false;
  const Handle object(H5Oopen(file, path.c_str(), H5P_DEFAULT), H5Oclose);
  return object.valid() && H5Iget_type(object.get()) == type;
}

/// Makes the groups of a path on the way.
class WithGroups {
 public:
  WithGroups() : list_(H5Pcreate(H5P_LINK_CREATE), H5Pclose) {
    H5Pset_create_intermediate_group(list_.get(), 1);
  }
  hid_t get() const noexcept { return list_.get(); }

 private:
  Handle list_;
};

}  // namespace

struct Hdf5File::State {
  State(std::filesystem::path final_file, std::filesystem::path open_file, hid_t id)
      : file(std::move(final_file)), written(std::move(open_file)), handle(id) {}
  ~State() {
    const Entered entered;
    if (handle >= 0) H5Fclose(handle);
    std::error_code ignored;
    if (!written.empty()) std::filesystem::remove(written, ignored);
  }
  State(const State&) = delete;
  State& operator=(const State&) = delete;

  [[noreturn]] void Fail(const std::string& path, const std::string& what) const {
    throw NetError(file.string() + (path.empty() ? "" : ": '" + path + "'") + ' ' + what);
  }
  Handle Dataset(const std::string& path) const {
    if (!IsOf(handle, path, H5I_DATASET)) Fail(path, "is no dataset of this file");
    return {H5Dopen2(handle, path.c_str(), H5P_DEFAULT), H5Dclose};
  }
  /// One of numbers.
  Handle Numbers(const std::string& path) const {
    Handle opened = Dataset(path);
    const Handle type(H5Dget_type(opened.get()), H5Tclose);
    const H5T_class_t kind = H5Tget_class(type.get());
    if (kind == H5T_FLOAT || kind == H5T_INTEGER) return opened;
    Fail(path, std::string("holds ") + NameOf(kind) + "; it must hold numbers");
  }

  std::filesystem::path file;     ///< what errors name
  std::filesystem::path written;  ///< the file that will take its place; empty when reading, or done
  hid_t handle;
};

bool HasHdf5() noexcept { return true; }

Hdf5File::Hdf5File(std::unique_ptr<State> state) noexcept : state_(std::move(state)) {}
Hdf5File::Hdf5File(Hdf5File&&) noexcept = default;
Hdf5File& Hdf5File::operator=(Hdf5File&&) noexcept = default;
Hdf5File::~Hdf5File() = default;

Hdf5File Hdf5File::Open(const std::filesystem::path& file) {
  const Entered entered;
  const hid_t id = H5Fopen(file.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT);
  if (id < 0) throw NetError(file.string() + " cannot be opened as HDF5" + Reason());
  return Hdf5File(std::make_unique<State>(file, "", id));
}

Hdf5File Hdf5File::Create(const std::filesystem::path& file) {
  const Entered entered;
  std::error_code not_there;
  std::filesystem::path target = std::filesystem::canonical(file, not_there);  // a link stays one
  if (not_there) target = file;
  std::filesystem::path written = target;
  written += ".partial";
  const hid_t id = H5Fcreate(written.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
  if (id < 0) throw NetError(file.string() + " cannot be written as HDF5" + Reason());
  return Hdf5File(std::make_unique<State>(std::move(target), std::move(written), id));
}

std::vector<std::string> Hdf5File::Names(const std::string& group) const {
  const Entered entered;
  const std::string path = group.empty() ? "/" : group;
  if (!group.empty() && !IsOf(state_->handle, group, H5I_GROUP))
    state_->Fail(group, "is no group of this file");
  const Handle opened(H5Gopen2(state_->handle, path.c_str(), H5P_DEFAULT), H5Gclose);
  std::vector<std::string> names;
  H5G_info_t info{};
  if (!opened.valid() || H5Gget_info(opened.get(), &info) < 0)
    state_->Fail(path, "cannot be listed" + Reason());
  for (hsize_t i = 0; i < info.nlinks; ++i) {
    const auto name_to = [&](char* to, std::size_t size) {
      return H5Lget_name_by_idx(opened.get(), ".", H5_INDEX_NAME, H5_ITER_NATIVE, i, to, size, H5P_DEFAULT);
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
  const Handle space(H5Dget_space(opened.get()), H5Sclose);
  std::array<hsize_t, H5S_MAX_RANK> dims{};
  const int rank = space.valid() ? H5Sget_simple_extent_dims(space.get(), dims.data(), nullptr) : -1;
  if (rank < 0 || H5Sget_simple_extent_type(space.get()) == H5S_NULL)
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
  const Handle space(H5Dget_space(opened.get()), H5Sclose);
  const hssize_t count = H5Sget_simple_extent_npoints(space.get());
  if (std::cmp_not_equal(count, to.size()))
    state_->Fail(dataset,
                 "has " + std::to_string(count) + " elements; " + std::to_string(to.size()) + " are needed");
  if (to.empty()) return;
  if (H5Dread(opened.get(), NativeType<T>(), H5S_ALL, H5S_ALL, H5P_DEFAULT, to.data()) < 0)
    state_->Fail(dataset, "cannot be read" + Reason());
}

std::string Hdf5File::ReadString(const std::string& dataset) const {
  const Entered entered;
  const Handle opened = state_->Dataset(dataset);
  const Handle type(H5Dget_type(opened.get()), H5Tclose);
  const Handle space(H5Dget_space(opened.get()), H5Sclose);
  if (H5Tget_class(type.get()) != H5T_STRING || H5Tis_variable_str(type.get()) > 0 ||
      H5Sget_simple_extent_npoints(space.get()) != 1)
    state_->Fail(dataset, "must hold one text of a fixed length");
  std::string text(H5Tget_size(type.get()), '\0');
  if (H5Dread(opened.get(), type.get(), H5S_ALL, H5S_ALL, H5P_DEFAULT, text.data()) < 0)
    state_->Fail(dataset, "cannot be read" + Reason());
  return text.substr(0, text.find('\0'));
}

void Hdf5File::MakeGroup(const std::string& group) {
  const Entered entered;
  if (IsOf(state_->handle, group, H5I_GROUP)) return;
  const WithGroups list;
  const Handle made(H5Gcreate2(state_->handle, group.c_str(), list.get(), H5P_DEFAULT, H5P_DEFAULT),
                    H5Gclose);
  if (!made.valid()) state_->Fail(group, "cannot be made a group" + Reason());
}

template <class T>
void Hdf5File::Write(const std::string& dataset, const Shape& shape, const T* from) {
  const Entered entered;
  std::array<hsize_t, kMaxBlobAxes> dims{};
  std::copy(shape.begin(), shape.end(), dims.begin());
  const Handle space(H5Screate_simple(shape.num_axes(), dims.data(), nullptr), H5Sclose);
  const WithGroups list;
  const Handle made(H5Dcreate2(state_->handle, dataset.c_str(), NativeType<T>(), space.get(), list.get(),
                               H5P_DEFAULT, H5P_DEFAULT),
                    H5Dclose);
  if (!made.valid() ||
      (shape.count() > 0 && H5Dwrite(made.get(), NativeType<T>(), H5S_ALL, H5S_ALL, H5P_DEFAULT, from) < 0))
    state_->Fail(dataset, "cannot be written" + Reason());
}

void Hdf5File::WriteString(const std::string& dataset, const std::string& text) {
  const Entered entered;
  const Handle type(H5Tcopy(H5T_C_S1), H5Tclose);
  H5Tset_size(type.get(), text.size() + 1);
  const Handle space(H5Screate(H5S_SCALAR), H5Sclose);
  const WithGroups list;
  const Handle made(H5Dcreate2(state_->handle, dataset.c_str(), type.get(), space.get(), list.get(),
                               H5P_DEFAULT, H5P_DEFAULT),
                    H5Dclose);
  if (!made.valid() || H5Dwrite(made.get(), type.get(), H5S_ALL, H5S_ALL, H5P_DEFAULT, text.c_str()) < 0)
    state_->Fail(dataset, "cannot be written" + Reason());
}

void Hdf5File::Close() {
  const Entered entered;
  if (H5Fclose(std::exchange(state_->handle, -1)) < 0) state_->Fail("", "cannot be written" + Reason());
  if (state_->written.empty()) return;
  std::error_code error;
  std::filesystem::rename(state_->written, state_->file, error);
  if (error) state_->Fail("", "cannot be written: " + error.message());
  state_->written.clear();
}

#define FERRY_INSTANTIATE(T)                                            \
  template void Hdf5File::Read(const std::string&, std::span<T>) const; \
  template void Hdf5File::Write(const std::string&, const Shape&, const T*)
FERRY_INSTANTIATE(float);
FERRY_INSTANTIATE(double);
FERRY_INSTANTIATE(int);
#undef FERRY_INSTANTIATE

}  // namespace ferry::detail
