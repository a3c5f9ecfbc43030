// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <hdf5.h>

#include <mutex>
#include <string>

/// How this folder calls libhdf5.
namespace ferry::detail {

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
inline std::string Reason() {
  std::string reason;
  const auto take = [](unsigned, const H5E_error2_t* error, void* to) -> herr_t {
    if (error->desc != nullptr) *static_cast<std::string*>(to) = error->desc;
    return 1;  // the innermost is enough
  };
  H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, take, &reason);
  return reason.empty() ? "" : " (HDF5: " + reason + ")";
}

}  // namespace ferry::detail
