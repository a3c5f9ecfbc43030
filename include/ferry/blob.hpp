// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>

#include "ferry/array.hpp"
#include "ferry/backend.hpp"
#include "ferry/blob_arrays.hpp"
#include "ferry/blob_options.hpp"
#include "ferry/detail/blob_extras.hpp"
#include "ferry/detail/message.hpp"
#include "ferry/detail/range.hpp"
#include "ferry/diff.hpp"
#include "ferry/kernels.hpp"
#include "ferry/shape.hpp"
#include "ferry/site.hpp"
#include "ferry/stream.hpp"
#include "ferry/synced_memory.hpp"

namespace ferry {

/// A shape and two arrays of it, data and diff, whose storage blobs can share: Caffe's Blob.
///
/// T is any arithmetic type; the mathematics is there for float and double. Accesses, streams and threads are
/// as in SyncedMemory, and an access of a slice is one of its part alone. All functions that are not const
/// count as writes. Elements that nobody wrote read as zeros. Throws what SyncedMemory throws, and ShapeError
/// for a shape, axis, index or count that cannot be or does not fit; a call that throws leaves shape and
/// elements as they were, except as SyncedMemory says. A Blob without a shape has no elements, no storage,
/// and null pointers. Blob<const T>, of ferry/const_blob.hpp, may only be read.
template <class T>
class Blob : public BlobArrays<T> {
  static_assert(std::is_arithmetic_v<T>, "a Blob holds numbers");
  using Base = BlobArrays<T>;

 public:
  /// No shape; on the default device.
  Blob() = default;
  /// No shape. Storage comes from `device`, which must outlive it; DefaultDevice() where none is given.
  explicit Blob(Device& device) : device_(&device) {}
  /// Of that shape. Elements are zeros; no memory is allocated before the first access.
  ///@{
  explicit Blob(const Shape& shape, Device& device = DefaultDevice(), const Site& site = Site::Caller())
      : device_(&device) {
    ReshapeTo(shape, "Blob", site);
  }
  template <IntegerRange R>
  explicit Blob(const R& shape, Device& device = DefaultDevice(), const Site& site = Site::Caller())
      : Blob(Shape(shape, "Blob"), device, site) {}
  // NOLINTNEXTLINE(google-explicit-constructor): a list is no blob
  explicit Blob(std::initializer_list<std::int64_t> shape, Device& device = DefaultDevice(),
                const Site& site = Site::Caller())
      : Blob(Shape(shape, "Blob"), device, site) {}
  Blob(std::int64_t num, std::int64_t channels, std::int64_t height, std::int64_t width,
       Device& device = DefaultDevice(), const Site& site = Site::Caller())
      : Blob({num, channels, height, width}, device, site) {}
  ///@}
  /// The blob moved from keeps its device, and has no shape.
  Blob(Blob&& other) noexcept : device_(other.device_) { Swap(other); }
  /// The same.
  Blob& operator=(Blob&& other) noexcept {
    Blob(std::move(other)).Swap(*this);
    return *this;
  }

  /// Where storage comes from.
  Device& device() const { return device_ != nullptr ? *device_ : DefaultDevice(); }

  /// Within the capacity of its storage, the blob keeps the first min(old, new) elements of data and diff, on
  /// whichever side they are; those that are added read as zeros. No memory of a side is allocated, nothing
  /// is copied, and nothing is waited for except a copy of the dims that gpu_shape() has queued. Storage
  /// whose capacity is too small is replaced, and starts from zeros. Shared storage never gets smaller: a
  /// blob that grows within it sees the others' elements, and a slice those that come after it.
  ///@{
  void Reshape(const Shape& shape, Site site = Site::Caller()) {
    if (shape != shape_ || !HasShape()) ReshapeAsToldAt(shape, site.file(), site.function(), site.line());
  }
  template <IntegerRange R>
  void Reshape(const R& shape, Site site = Site::Caller()) {
    if constexpr (detail::ForwardRange<const R>)
      if (shape_ == shape && HasShape()) return;
    ReshapeToRange(shape, site.file(), site.function(), site.line());
  }
  void Reshape(std::initializer_list<std::int64_t> shape, Site site = Site::Caller()) {
    Reshape<std::initializer_list<std::int64_t>>(shape, site);
  }
  void Reshape(std::int64_t num, std::int64_t channels, std::int64_t height, std::int64_t width,
               Site site = Site::Caller()) {
    Reshape({num, channels, height, width}, site);
  }
  template <ShapeMessage M>
  void Reshape(const M& shape, Site site = Site::Caller()) {
    Reshape(shape.dim(), site);
  }
  ///@}
  /// As Reshape, to the shape of `other`.
  void ReshapeLike(const Blob& other, Site site = Site::Caller()) { Reshape(other.shape_, site); }

  /// Rows `first` up to, not including, `first + count` of axis 0: a blob that shares the storage of that
  /// part of data and diff. It sees writes and is seen, may be sliced again, and may outlive this blob.
  /// Throws ShapeError for a part beyond the axis, and for a blob without axes or without a shape.
  ///@{
  Blob Slice(std::int64_t first, std::int64_t count) { return SliceOf(first, count); }
  Blob<const T> Slice(std::int64_t first, std::int64_t count) const {
    return Blob<const T>(SliceOf(first, count));
  }
  ///@}
  /// Gives back the memory that the shape does not need, and keeps the elements. Shared storage stays as it
  /// is.
  void ShrinkToFit(const Site& site = Site::Caller());

  /// Names the storage in errors and traces: the data "conv1.weight", the diff "conv1.weight.diff". Shared
  /// storage has the name for all who share it, and so has storage that replaces it in this blob.
  void set_name(const std::string& name);
  const std::string& name() const noexcept;  ///< what set_name said

  /// Whether the message has this shape; false for a blob that has none. Legacy dims are compared from the
  /// last axis, as Caffe wrote them.
  template <BlobMessage M>
  bool ShapeEquals(const M& other) const {
    return HasShape() && detail::ShapeEquals(shape_, detail::ContentsOf(other));
  }

  /// Start on `on`, or on the main stream, what a read on that side will need, and do not wait for it.
  void Prefetch(Side side, const Stream& on, BlobPart part = BlobPart::kData,
                const Site& site = Site::Caller()) const;
  /// @overload
  void Prefetch(Side side, BlobPart part = BlobPart::kData, const Site& site = Site::Caller()) const {
    Prefetch(side, Stream::Main(device()), part, site);
  }

  /// Use the caller's count() elements as the data, as SyncedMemory does. Shared storage of exactly that size
  /// changes for all who share it; otherwise this blob gets storage of its own. The diff stays. Throws
  /// std::invalid_argument also for elements of this blob's own diff.
  ///@{
  void set_cpu_data(T* data, const Site& site = Site::Caller());
  void set_gpu_data(T* data, const Stream& on, const Site& site = Site::Caller());
  void set_gpu_data(T* data, const Site& site = Site::Caller()) {
    set_gpu_data(data, Stream::Main(device()), site);
  }
  ///@}

  /// Use the storage of `other`. Throws ShapeError for another count, and std::invalid_argument for another
  /// device.
  ///@{
  void ShareData(const Blob& other) { data_ = other.Shareable(other.data_, *this, "Blob::ShareData"); }
  void ShareDiff(const Blob& other) { diff_ = other.Shareable(other.diff_, *this, "Blob::ShareDiff"); }
  ///@}

  /// The dims on the GPU, for kernels. Throws ShapeError for a dim over int.
  ///@{
  const int* gpu_shape(const Site& site = Site::Caller()) const {
    return static_cast<const int*>(ShapeMemory(site).gpu_data(site));
  }
  const int* gpu_shape(const Stream& on, const Site& site = Site::Caller()) const {
    return static_cast<const int*>(ShapeMemory(site).gpu_data(on, site));
  }
  ///@}

  /// Copies the data, or with `copy_diff` the diff, on the side where the source's bytes are: on the main
  /// stream if that is the GPU, or both sides. Between devices they go by way of the host. Throws ShapeError
  /// for a source of another shape, unless `reshape`, and std::invalid_argument for one that overlaps this
  /// blob in part. Does nothing if the source has this blob's own elements. SyncedMemory::Assign says what a
  /// failed copy can lose.
  void CopyFrom(const Blob& source, bool copy_diff = false, bool reshape = false,
                const Site& site = Site::Caller()) {
    Copy(source, copy_diff ? BlobPart::kDiff : BlobPart::kData,
         reshape ? WithReshape::kYes : WithReshape::kNo, nullptr, site);
  }
  /// @overload
  void CopyFrom(const Blob& source, BlobPart part, WithReshape reshape = WithReshape::kNo,
                const Site& site = Site::Caller()) {
    Copy(source, part, reshape, nullptr, site);
  }
  /// On a stream: its device then has the elements.
  void CopyFrom(const Blob& source, const Stream& on, BlobPart part = BlobPart::kData,
                WithReshape reshape = WithReshape::kNo, const Site& site = Site::Caller()) {
    Copy(source, part, reshape, &on, site);
  }

  /// data -= diff. Mathematics runs on the stream that it is given. Without one it runs where the bytes are:
  /// on the main stream if that is the GPU, or both sides. A call that returns a number waits for it.
  void Update(OnStream on = {})
    requires Real<T>;
  /// Sums of absolute values and of squares, with float64 totals.
  ///@{
  double asum_data(OnStream on = {}) const
    requires Real<T>;
  double asum_diff(OnStream on = {}) const
    requires Real<T>;
  double sumsq_data(OnStream on = {}) const
    requires Real<T>;
  double sumsq_diff(OnStream on = {}) const
    requires Real<T>;
  ///@}
  /// data *= factor.
  void scale_data(T factor, OnStream on = {})
    requires Real<T>;
  /// diff *= factor.
  void scale_diff(T factor, OnStream on = {})
    requires Real<T>;

  /// Takes shape and elements of a message, read as Caffe reads it: legacy dims win over shape, and
  /// double_data over data. The diff changes if the message has one. Without `reshape` the shapes must be
  /// equal. Here and in the other calls, messages are ferry/proto.hpp's BlobProto or those of another
  /// package, such as Caffe's own.
  template <BlobMessage M>
  void FromProto(const M& message, bool reshape = true, const Site& site = Site::Caller())
    requires Real<T>
  {
    Take(detail::ContentsOf(message), reshape, site);
  }
  /// @overload
  template <BlobMessage M>
  void FromProto(const M& message, WithReshape reshape, const Site& site = Site::Caller())
    requires Real<T>
  {
    FromProto(message, reshape == WithReshape::kYes, site);
  }
  /// The message then has this blob and nothing else, a Blob<double> as double_data; the diff only if
  /// `write_diff`. Throws std::invalid_argument for null.
  template <BlobMessage M>
  void ToProto(M* message, bool write_diff = false, const Site& site = Site::Caller()) const
    requires Real<T>
  {
    RequireWritable(message);
    const T* const data = this->cpu_data(site);
    detail::Write(shape_, data, write_diff ? this->cpu_diff(site) : nullptr, *message);
  }
  /// @overload
  template <BlobMessage M>
  void ToProto(M* message, WithDiff diff, const Site& site = Site::Caller()) const
    requires Real<T>
  {
    ToProto(message, diff == WithDiff::kYes, site);
  }

  /// For operands.
  detail::Part part(BlobPart which) const noexcept {
    const Array<T>& of = array(which);
    return {
        of.memory_.get(), {of.first_, bytes()}, this->count(), {shape_.data(), shape_.size()}, of.in_place_};
  }

 private:
  friend class Blob<const T>;
  friend struct detail::PartOf<Blob>;
  using Base::array, Base::data_, Base::diff_, Base::FailShapeless, Base::HasShape, Base::shape_;

  /// The arrays follow the shape.
  void Fit() noexcept;
  /// Not const, so that it can be made const again by whom it is for.
  Blob SliceOf(std::int64_t first, std::int64_t count) const;
  void Copy(const Blob& source, BlobPart part, WithReshape reshape, const Stream* on, const Site& site);
  void ReshapeTo(const Shape& shape, const char* call, const Site& site);
  /// Reshape's site goes by its parts, in registers: an equal shape then costs no store.
  void ReshapeAsToldAt(const Shape& shape, const char* file, const char* function, int line);
  /// Not inline, so that the same range saves no registers for a Shape that it does not make.
  template <class R>
  [[gnu::noinline]] void ReshapeToRange(const R& shape, const char* file, const char* function, int line) {
    ReshapeAsToldAt(Shape(shape, "Blob::Reshape"), file, function, line);
  }
  /// Makes the change, and takes on the shape that goes with it.
  void Commit(const Shape& shape, detail::Reshaping& reshaping) noexcept;
  void Take(const detail::BlobContents& contents, bool reshape, const Site& site);
  void RequireWritable(const void* message) const;
  static std::size_t Bytes(const Shape& shape, const char* call);
  std::size_t bytes() const noexcept { return static_cast<std::size_t>(this->count()) * sizeof(T); }
  detail::Reshaping Change(std::size_t bytes, const Site& site);
  /// The data's storage if it has just count() elements in use, or new storage of that size.
  MemoryPtr Adoptive(const T* ptr, const char* call, const Site& site) const;
  Array<T> Shareable(const Array<T>& own, const Blob& with, const char* call) const;
  const SyncedMemory& ShapeMemory(const Site& site) const;
  void Swap(Blob& other) noexcept;

  /// "shape 2 3 (6)", or "no shape"
  std::string Described() const;

  Device* device_ = nullptr;  ///< null: the default one, which nobody has asked for yet
  mutable detail::OnDemand<detail::BlobExtras> extras_;
};

}  // namespace ferry

#include "ferry/const_blob.hpp"  // IWYU pragma: export
