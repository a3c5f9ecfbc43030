// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include "ferry/array.hpp"

namespace ferry {

template <class T>
class Blob;

namespace detail {

/// Caffe's accesses, of a blob's data or diff. Null where there are no elements.
template <class T>
struct BlobAccess {
  const Array<T>& array;
  const Blob<T>& blob;

  template <Access kAccess>
  T* Cpu() const {
    return static_cast<T*>(Short().template OnCpu<kAccess>(
        [&] { return Reach(PartOf<Array<T>>::Of(array), Possible(kAccess), nullptr); }));
  }
  /// On the main stream.
  template <Access kAccess>
  T* Gpu() const {
    return static_cast<T*>(Short().template OnMain<kAccess>(
        [&] { return ReachOnMain(PartOf<Array<T>>::Of(array), Possible(kAccess)); }));
  }
  template <Access kAccess>
  T* Gpu(const Stream& on) const {
    return static_cast<T*>(Short().template OnGpu<kAccess>(
        on, [&] { return Reach(PartOf<Array<T>>::Of(array), Possible(kAccess), &on); }));
  }

 private:
  InPlace Short() const noexcept { return PartOf<Array<T>>::Short(array); }
  /// A caller overwrites count() elements: of an array that has more, only some.
  Access Possible(Access access) const noexcept {
    return access == Access::kOverwrite && array.size() != blob.count() ? Access::kReadWrite : access;
  }
};

}  // namespace detail
}  // namespace ferry
