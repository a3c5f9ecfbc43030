// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <hdf5.h>

#include <array>
#include <mutex>
#include <span>
#include <string>
#include <utility>

/// How this folder calls libhdf5.
namespace ferry::detail {

/// libhdf5's functions and ids, by their names without H5.
struct Hdf5Functions {
  /// Throws NetError where a name is not in the library, which is a handle of dlopen's or RTLD_DEFAULT, or
  /// where it cannot be opened.
  explicit Hdf5Functions(void* loaded);

  void* const library;

#define FERRY_HDF5(name) decltype(&::H5##name) const name = Function<decltype(&::H5##name)>("H5" #name)
  FERRY_HDF5(open);
  FERRY_HDF5(Dclose);
  FERRY_HDF5(Dcreate2);
  FERRY_HDF5(Dget_space);
  FERRY_HDF5(Dget_type);
  FERRY_HDF5(Dopen2);
  FERRY_HDF5(Dread);
  FERRY_HDF5(Dwrite);
  FERRY_HDF5(Eget_auto2);
  FERRY_HDF5(Eset_auto2);
  FERRY_HDF5(Ewalk2);
  FERRY_HDF5(Fclose);
  FERRY_HDF5(Fcreate);
  FERRY_HDF5(Fflush);
  FERRY_HDF5(Fget_file_image);
  FERRY_HDF5(Fopen);
  FERRY_HDF5(Gclose);
  FERRY_HDF5(Gcreate2);
  FERRY_HDF5(Gget_info);
  FERRY_HDF5(Gopen2);
  FERRY_HDF5(Iget_type);
  FERRY_HDF5(Lexists);
  FERRY_HDF5(Lget_name_by_idx);
  FERRY_HDF5(Oclose);
  FERRY_HDF5(Oopen);
  FERRY_HDF5(Pclose);
  FERRY_HDF5(Pcreate);
  FERRY_HDF5(Pset_create_intermediate_group);
  FERRY_HDF5(Pset_fapl_core);
  FERRY_HDF5(Sclose);
  FERRY_HDF5(Screate);
  FERRY_HDF5(Screate_simple);
  FERRY_HDF5(Sget_simple_extent_dims);
  FERRY_HDF5(Sget_simple_extent_npoints);
  FERRY_HDF5(Sget_simple_extent_type);
  FERRY_HDF5(Tclose);
  FERRY_HDF5(Tcopy);
  FERRY_HDF5(Tget_class);
  FERRY_HDF5(Tget_size);
  FERRY_HDF5(Tis_variable_str);
  FERRY_HDF5(Tset_size);
#undef FERRY_HDF5
  // The macros of these call the library.
  static constexpr unsigned F_ACC_RDONLY = 0, F_ACC_TRUNC = 2;
  const hid_t P_FILE_ACCESS = Id("H5P_CLS_FILE_ACCESS_ID_g");
  const hid_t P_LINK_CREATE = Id("H5P_CLS_LINK_CREATE_ID_g");
  const hid_t T_C_S1 = Id("H5T_C_S1_g");
  const hid_t T_NATIVE_DOUBLE = Id("H5T_NATIVE_DOUBLE_g");
  const hid_t T_NATIVE_FLOAT = Id("H5T_NATIVE_FLOAT_g");
  const hid_t T_NATIVE_INT = Id("H5T_NATIVE_INT_g");

 private:
  void* Find(const char* name) const;
  template <class F>
  F Function(const char* name) const {
    return reinterpret_cast<F>(Find(name));
  }
  /// They are known once the library is open.
  hid_t Id(const char* name) const;
};

/// The library's name for the loader, and where it was when Ferry was built.
extern const std::array<const char*, 2> kHdf5Names;
/// Loads the first of these libraries that is there, to stay. Throws NetError.
void* LoadHdf5(std::span<const char* const> names);

/// Those of the program, if it has them, or else loaded by the first call. Linked, it would cost each program
/// with nets 5 MB: Debian's brings 30 libraries for files on the network. Throws NetError.
const Hdf5Functions& H5();

/// For the length of a call: libhdf5 is entered by this thread alone, and prints no errors.
class Entered {
 public:
  Entered() : lock_(Mutex()) {
    H5().Eget_auto2(H5E_DEFAULT, &print_, &client_data_);
    H5().Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
  }
  ~Entered() { H5().Eset_auto2(H5E_DEFAULT, print_, client_data_); }
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
inline std::string Reason() {
  std::string reason;
  const auto take = [](unsigned, const H5E_error2_t* error, void* to) -> herr_t {
    if (error->desc != nullptr) *static_cast<std::string*>(to) = error->desc;
    return 1;  // the innermost is enough
  };
  H5().Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, take, &reason);
  return reason.empty() ? "" : " (HDF5: " + reason + ")";
}

}  // namespace ferry::detail
