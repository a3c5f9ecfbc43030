// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>

#include "ferry/array.hpp"
#include "ferry/blob_options.hpp"
#include "ferry/shaped.hpp"

namespace ferry {

/// The two arrays of a Blob, and its accesses to them.
template <class T>
class BlobArrays : public Shaped {
 public:
  using Shaped::count;
  /// In elements; 0 without a shape.
  std::int64_t count() const noexcept { return HasShape() ? shape_.count() : 0; }
  /// "2 3 (6)"
  std::string shape_string() const { return HasShape() ? shape_.ToString() : "(0)"; }

  /// The element at an index, read on the host. Indices that are missing are 0. An index may be
  /// any range of integers, or stand in braces.
  ///@{
  T data_at(std::int64_t n, std::int64_t c, std::int64_t h, std::int64_t w,
            Site site = Site::Caller()) const {
    return Element(data_, Legacy{{n, c, h, w}}, "Blob::data_at", site);
  }
  template <IntegerRange R = std::initializer_list<std::int64_t>>
  T data_at(const R& index, Site site = Site::Caller()) const {
    return Element(data_, index, "Blob::data_at", site);
  }
  T diff_at(std::int64_t n, std::int64_t c, std::int64_t h, std::int64_t w,
            Site site = Site::Caller()) const {
    return Element(diff_, Legacy{{n, c, h, w}}, "Blob::diff_at", site);
  }
  template <IntegerRange R = std::initializer_list<std::int64_t>>
  T diff_at(const R& index, Site site = Site::Caller()) const {
    return Element(diff_, index, "Blob::diff_at", site);
  }
  ///@}

  /// The accesses of SyncedMemory by the same names, of count() elements.
  ///@{
  const T* cpu_data(Site site = Site::Caller()) const { return Cpu<Access::kRead>(data_, site); }
  const T* gpu_data(Site site = Site::Caller()) const { return Gpu<Access::kRead>(data_, site); }
  const T* gpu_data(const Stream& on, Site site = Site::Caller()) const {
    return Gpu<Access::kRead>(data_, on, site);
  }
  T* mutable_cpu_data(Site site = Site::Caller()) { return Cpu<Access::kReadWrite>(data_, site); }
  T* mutable_gpu_data(Site site = Site::Caller()) { return Gpu<Access::kReadWrite>(data_, site); }
  T* mutable_gpu_data(const Stream& on, Site site = Site::Caller()) {
    return Gpu<Access::kReadWrite>(data_, on, site);
  }
  T* overwrite_cpu_data(Site site = Site::Caller()) { return Cpu<Access::kOverwrite>(data_, site); }
  T* overwrite_gpu_data(Site site = Site::Caller()) { return Gpu<Access::kOverwrite>(data_, site); }
  T* overwrite_gpu_data(const Stream& on, Site site = Site::Caller()) {
    return Gpu<Access::kOverwrite>(data_, on, site);
  }
  const T* cpu_diff(Site site = Site::Caller()) const { return Cpu<Access::kRead>(diff_, site); }
  const T* gpu_diff(Site site = Site::Caller()) const { return Gpu<Access::kRead>(diff_, site); }
  const T* gpu_diff(const Stream& on, Site site = Site::Caller()) const {
    return Gpu<Access::kRead>(diff_, on, site);
  }
  T* mutable_cpu_diff(Site site = Site::Caller()) { return Cpu<Access::kReadWrite>(diff_, site); }
  T* mutable_gpu_diff(Site site = Site::Caller()) { return Gpu<Access::kReadWrite>(diff_, site); }
  T* mutable_gpu_diff(const Stream& on, Site site = Site::Caller()) {
    return Gpu<Access::kReadWrite>(diff_, on, site);
  }
  T* overwrite_cpu_diff(Site site = Site::Caller()) { return Cpu<Access::kOverwrite>(diff_, site); }
  T* overwrite_gpu_diff(Site site = Site::Caller()) { return Gpu<Access::kOverwrite>(diff_, site); }
  T* overwrite_gpu_diff(const Stream& on, Site site = Site::Caller()) {
    return Gpu<Access::kOverwrite>(diff_, on, site);
  }
  ///@}
  /// The memories. Without a shape they are null, and `*` and `->` throw ShapeError. Those of a slice are the
  /// whole of which it is a part.
  ///@{
  const MemoryPtr& data() const noexcept { return data_.memory(); }
  const MemoryPtr& diff() const noexcept { return diff_.memory(); }
  ///@}

 protected:
  /// @cond
  BlobArrays() = default;
  ~BlobArrays() = default;

  bool HasShape() const noexcept { return data() != nullptr; }
  Array<T>& array(BlobPart part) noexcept { return part == BlobPart::kData ? data_ : diff_; }
  const Array<T>& array(BlobPart part) const noexcept { return part == BlobPart::kData ? data_ : diff_; }

  Array<T> data_;  ///< as many elements as the shape or, where they are shared, more
  Array<T> diff_;
  /// @endcond

 private:
  /// Null where there are no elements, here and below.
  template <Access kAccess>
  T* Cpu(const Array<T>& array, Site site) const {
    return static_cast<T*>(detail::PartOf<Array<T>>::Short(array).template OnCpu<kAccess>([&] {
      return detail::Reach(detail::PartOf<Array<T>>::Of(array), Possible(array, kAccess), nullptr,
                           site.file(), site.function(), site.line());
    }));
  }
  /// On the main stream.
  template <Access kAccess>
  T* Gpu(const Array<T>& array, Site site) const {
    return static_cast<T*>(detail::PartOf<Array<T>>::Short(array).template OnMain<kAccess>([&] {
      return detail::ReachOnMain(detail::PartOf<Array<T>>::Of(array), Possible(array, kAccess), site.file(),
                                 site.function(), site.line());
    }));
  }
  template <Access kAccess>
  T* Gpu(const Array<T>& array, const Stream& on, Site site) const {
    return static_cast<T*>(detail::PartOf<Array<T>>::Short(array).template OnGpu<kAccess>(on, [&] {
      return detail::Reach(detail::PartOf<Array<T>>::Of(array), Possible(array, kAccess), &on, site.file(),
                           site.function(), site.line());
    }));
  }
  /// A caller overwrites count() elements: of an array that has more, only some.
  Access Possible(const Array<T>& array, Access access) const noexcept {
    return access == Access::kOverwrite && array.size() != count() ? Access::kReadWrite : access;
  }

  /// An index that is refused brings no bytes to the host.
  template <class Index>
  T Element(const Array<T>& array, const Index& index, const char* call, Site site) const {
    if (!HasShape()) FailShapeless(call);
    const std::int64_t at = Offset(index, detail::Bound::kInside, call);
    return Cpu<Access::kRead>(array, site)[at];
  }
};

}  // namespace ferry
