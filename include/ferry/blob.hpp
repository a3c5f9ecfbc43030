// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <mutex>
#include <string>
#include <type_traits>
#include <utility>

#include "ferry/backend.hpp"
#include "ferry/detail/message.hpp"
#include "ferry/detail/range.hpp"
#include "ferry/diff.hpp"
#include "ferry/kernels.hpp"
#include "ferry/shape.hpp"
#include "ferry/stream.hpp"
#include "ferry/synced_memory.hpp"

namespace ferry {
namespace detail {
class Reshaping;
}  // namespace detail

/// Data and diff of one shape, each in a SyncedMemory that blobs can share: Caffe's Blob.
///
/// T is any arithmetic type; the mathematics is there for float and double. Accesses, streams and threads are
/// as in SyncedMemory; Reshape and what is not const count as writes. Elements that nobody wrote read as
/// zeros. Throws what SyncedMemory throws, and ShapeError for a shape, axis, index or count that cannot be or
/// does not fit; a call that throws leaves shape and elements as they were, except as SyncedMemory says. A
/// Blob without a shape has no elements, no storage, and null pointers.
template <class T>
class Blob {
  static_assert(std::is_arithmetic_v<T>, "a Blob holds numbers");

 public:
  Blob() = default;
  /// Storage comes from `device`, which must outlive it; DefaultDevice() where none is given.
  explicit Blob(Device& device) : device_(&device) {}
  explicit Blob(const Shape& shape, Device& device = DefaultDevice()) : device_(&device) {
    ReshapeTo(shape, "Blob");
  }
  template <IntegerRange R>
  explicit Blob(const R& shape, Device& device = DefaultDevice()) : Blob(Shape(shape, "Blob"), device) {}
  // NOLINTNEXTLINE(google-explicit-constructor): a list is no blob
  explicit Blob(std::initializer_list<std::int64_t> shape, Device& device = DefaultDevice())
      : Blob(Shape(shape, "Blob"), device) {}
  Blob(std::int64_t num, std::int64_t channels, std::int64_t height, std::int64_t width,
       Device& device = DefaultDevice())
      : Blob({num, channels, height, width}, device) {}
  /// The blob moved from keeps its device, and has no shape.
  Blob(Blob&& other) noexcept : device_(other.device_) { Swap(other); }
  Blob& operator=(Blob&& other) noexcept {
    Blob(std::move(other)).Swap(*this);
    return *this;
  }

  Device& device() const { return device_ != nullptr ? *device_ : DefaultDevice(); }

  /// Within the capacity of its storage, the blob keeps the first min(old, new) elements of data and diff, on
  /// whichever side they are, and those that are added read as zeros; nothing is allocated, copied or waited
  /// for, except a copy of the dims that gpu_shape() has queued. Storage whose capacity is too small is
  /// replaced, and starts from zeros. Shared storage never gets smaller; a blob that grows within it sees the
  /// others' elements.
  void Reshape(const Shape& shape) {
    if (shape != shape_ || shape.count() != count_) ReshapeTo(shape, "Blob::Reshape");
  }
  template <IntegerRange R>
  void Reshape(const R& shape) {
    if constexpr (detail::ForwardRange<const R>)
      if (shape_ == shape && data_ != nullptr) return;
    Reshape(Shape(shape, "Blob::Reshape"));
  }
  void Reshape(std::initializer_list<std::int64_t> shape) { Reshape(Shape(shape, "Blob::Reshape")); }
  void Reshape(std::int64_t num, std::int64_t channels, std::int64_t height, std::int64_t width) {
    Reshape({num, channels, height, width});
  }
  template <ShapeMessage M>
  void Reshape(const M& shape) {
    Reshape(shape.dim());
  }
  void ReshapeLike(const Blob& other) { Reshape(other.shape_); }
  /// Gives back the memory that the shape does not need, and keeps the elements. Shared storage stays as it
  /// is.
  void ShrinkToFit();

  const Shape& shape() const noexcept { return shape_; }
  /// -1 is the last axis, here and below.
  std::int64_t shape(int axis) const {
    return shape_.begin()[shape_.CanonicalAxisIndex(axis, "Blob::shape")];
  }
  int num_axes() const noexcept { return shape_.num_axes(); }
  std::int64_t count() const noexcept { return count_; }
  /// The product of the dims from axis `start` up to, not including, `end`, neither of which is negative.
  std::int64_t count(int start, int end) const { return shape_.count(start, end, "Blob::count"); }
  std::int64_t count(int start) const { return count(start, num_axes()); }
  int CanonicalAxisIndex(int axis) const {
    return shape_.CanonicalAxisIndex(axis, "Blob::CanonicalAxisIndex");
  }
  /// "2 3 (6)"
  std::string shape_string() const { return data_ != nullptr ? shape_.ToString() : "(0)"; }
  /// Legacy dims are compared from the last axis, as Caffe wrote them.
  template <BlobMessage M>
  bool ShapeEquals(const M& other) const {
    return detail::ShapeEquals(shape_, detail::ContentsOf(other));
  }

  /// The dims of a blob of at most four axes; those that it lacks are 1, at the end, or for a negative axis
  /// at the beginning.
  std::int64_t LegacyShape(int axis) const { return shape_.Legacy(axis, "Blob::LegacyShape"); }
  std::int64_t num() const { return shape_.Legacy(0, "Blob::num"); }
  std::int64_t channels() const { return shape_.Legacy(1, "Blob::channels"); }
  std::int64_t height() const { return shape_.Legacy(2, "Blob::height"); }
  std::int64_t width() const { return shape_.Legacy(3, "Blob::width"); }

  /// In elements. An index may equal its dim, one past the end, so that pointers to ends can be made.
  std::int64_t offset(std::int64_t n, std::int64_t c = 0, std::int64_t h = 0, std::int64_t w = 0) const {
    return Offset(Legacy{{n, c, h, w}}, detail::Bound::kPastEnd, "Blob::offset");
  }
  /// Indices that are missing are 0.
  template <IntegerRange R>
  std::int64_t offset(const R& index) const {
    return Offset(index, detail::Bound::kPastEnd, "Blob::offset");
  }
  std::int64_t offset(std::initializer_list<std::int64_t> index) const {
    return Offset(index, detail::Bound::kPastEnd, "Blob::offset");
  }

  T data_at(std::int64_t n, std::int64_t c, std::int64_t h, std::int64_t w) const {
    return Element(data_, Legacy{{n, c, h, w}}, "Blob::data_at");
  }
  template <IntegerRange R>
  T data_at(const R& index) const {
    return Element(data_, index, "Blob::data_at");
  }
  T data_at(std::initializer_list<std::int64_t> index) const {
    return Element(data_, index, "Blob::data_at");
  }
  T diff_at(std::int64_t n, std::int64_t c, std::int64_t h, std::int64_t w) const {
    return Element(diff_, Legacy{{n, c, h, w}}, "Blob::diff_at");
  }
  template <IntegerRange R>
  T diff_at(const R& index) const {
    return Element(diff_, index, "Blob::diff_at");
  }
  T diff_at(std::initializer_list<std::int64_t> index) const {
    return Element(diff_, index, "Blob::diff_at");
  }

  /// What SyncedMemory says of each; of count() elements.
  const T* cpu_data() const { return static_cast<const T*>(data_ ? data_->cpu_data() : nullptr); }
  const T* gpu_data() const { return static_cast<const T*>(data_ ? data_->gpu_data() : nullptr); }
  const T* gpu_data(const Stream& on) const {
    return static_cast<const T*>(data_ ? data_->gpu_data(on) : nullptr);
  }
  T* mutable_cpu_data() { return static_cast<T*>(data_ ? data_->mutable_cpu_data() : nullptr); }
  T* mutable_gpu_data() { return static_cast<T*>(data_ ? data_->mutable_gpu_data() : nullptr); }
  T* mutable_gpu_data(const Stream& on) {
    return static_cast<T*>(data_ ? data_->mutable_gpu_data(on) : nullptr);
  }
  T* overwrite_cpu_data() { return OverwriteCpu(data_); }
  T* overwrite_gpu_data() { return OverwriteGpu(data_); }
  T* overwrite_gpu_data(const Stream& on) { return OverwriteGpu(data_, on); }
  const T* cpu_diff() const { return static_cast<const T*>(diff_ ? diff_->cpu_data() : nullptr); }
  const T* gpu_diff() const { return static_cast<const T*>(diff_ ? diff_->gpu_data() : nullptr); }
  const T* gpu_diff(const Stream& on) const {
    return static_cast<const T*>(diff_ ? diff_->gpu_data(on) : nullptr);
  }
  T* mutable_cpu_diff() { return static_cast<T*>(diff_ ? diff_->mutable_cpu_data() : nullptr); }
  T* mutable_gpu_diff() { return static_cast<T*>(diff_ ? diff_->mutable_gpu_data() : nullptr); }
  T* mutable_gpu_diff(const Stream& on) {
    return static_cast<T*>(diff_ ? diff_->mutable_gpu_data(on) : nullptr);
  }
  T* overwrite_cpu_diff() { return OverwriteCpu(diff_); }
  T* overwrite_gpu_diff() { return OverwriteGpu(diff_); }
  T* overwrite_gpu_diff(const Stream& on) { return OverwriteGpu(diff_, on); }

  /// Use the caller's count() elements as the data, as SyncedMemory does. Shared storage of exactly that size
  /// changes for all who share it; otherwise this blob gets storage of its own. The diff stays. Throws
  /// std::invalid_argument also for elements of this blob's own diff.
  void set_cpu_data(T* data);
  void set_gpu_data(T* data, const Stream& on);
  void set_gpu_data(T* data) { set_gpu_data(data, Stream::Main(device())); }

  /// Null without a shape.
  const std::shared_ptr<SyncedMemory>& data() const noexcept { return data_; }
  const std::shared_ptr<SyncedMemory>& diff() const noexcept { return diff_; }
  /// Use the storage of `other`, whose count is the same. Throws std::invalid_argument for another device.
  void ShareData(const Blob& other) { data_ = other.Shareable(other.data_, *this, "Blob::ShareData"); }
  void ShareDiff(const Blob& other) { diff_ = other.Shareable(other.diff_, *this, "Blob::ShareDiff"); }

  /// The dims on the GPU, for kernels. Throws ShapeError for a dim over int.
  const int* gpu_shape() const { return static_cast<const int*>(ShapeMemory().gpu_data()); }
  const int* gpu_shape(const Stream& on) const { return static_cast<const int*>(ShapeMemory().gpu_data(on)); }

  /// Copies the data, or with `copy_diff` the diff, where the source's are: on the main stream if that is the
  /// GPU, or both sides. Between devices they go by way of the host. A source of another shape is a
  /// ShapeError unless `reshape`. SyncedMemory::Assign says what a failed copy can lose.
  void CopyFrom(const Blob& source, bool copy_diff = false, bool reshape = false);

  /// data -= diff. Mathematics runs where the bytes are: on the main stream if that is the GPU, or both
  /// sides.
  void Update()
    requires Real<T>;
  /// Sums of absolute values and of squares, with float64 totals.
  double asum_data() const
    requires Real<T>;
  double asum_diff() const
    requires Real<T>;
  double sumsq_data() const
    requires Real<T>;
  double sumsq_diff() const
    requires Real<T>;
  void scale_data(T factor)
    requires Real<T>;
  void scale_diff(T factor)
    requires Real<T>;

  /// What Caffe wrote: legacy dims win over shape, and double_data over data. The diff changes if the message
  /// has one. Without `reshape` the shapes must be equal. Messages are ferry/proto.hpp's BlobProto or those
  /// of another package, such as Caffe's own, here and in the other calls.
  template <BlobMessage M>
  void FromProto(const M& message, bool reshape = true)
    requires Real<T>
  {
    Take(detail::ContentsOf(message), reshape);
  }
  /// The message then has this blob and nothing else: a Blob<double> as double_data, without its diff unless
  /// `write_diff`. Throws std::invalid_argument for null.
  template <BlobMessage M>
  void ToProto(M* message, bool write_diff = false) const
    requires Real<T>
  {
    RequireWritable(message);
    const T* const data = cpu_data();
    detail::Write(shape_, data, write_diff ? cpu_diff() : nullptr, *message);
  }

 private:
  // A caller overwrites count() elements: of storage that has more in use, only a part.
  T* OverwriteCpu(const std::shared_ptr<SyncedMemory>& memory) {
    if (memory == nullptr) return nullptr;
    return static_cast<T*>(memory->size() == bytes() ? memory->overwrite_cpu_data()
                                                     : memory->mutable_cpu_data());
  }
  template <class... On>
  T* OverwriteGpu(const std::shared_ptr<SyncedMemory>& memory, const On&... on) {
    if (memory == nullptr) return nullptr;
    return static_cast<T*>(memory->size() == bytes() ? memory->overwrite_gpu_data(on...)
                                                     : memory->mutable_gpu_data(on...));
  }
  void ReshapeTo(const Shape& shape, const char* call);
  /// Makes the change, and takes on the shape that goes with it.
  void Commit(const Shape& shape, detail::Reshaping& reshaping) noexcept;
  void Take(const detail::BlobContents& contents, bool reshape);
  void RequireWritable(const void* message) const;
  static std::size_t Bytes(const Shape& shape, const char* call);
  std::size_t bytes() const noexcept { return static_cast<std::size_t>(count_) * sizeof(T); }
  /// The data's storage if it has just count() elements in use, or new storage of that size.
  std::shared_ptr<SyncedMemory> Adoptive(const T* ptr, const char* call) const;
  const std::shared_ptr<SyncedMemory>& Shareable(const std::shared_ptr<SyncedMemory>& storage,
                                                 const Blob& with, const char* call) const;
  const SyncedMemory& ShapeMemory() const;
  void Swap(Blob& other) noexcept;

  struct Legacy {
    std::array<std::int64_t, 4> index;
  };
  std::int64_t Offset(const Legacy& legacy, detail::Bound bound, const char* call) const {
    const std::array dims{shape_.Legacy(0, call), shape_.Legacy(1, call), shape_.Legacy(2, call),
                          shape_.Legacy(3, call)};
    return detail::Offset(dims, legacy.index, bound, call);
  }
  template <class R>
  std::int64_t Offset(const R& index, detail::Bound bound, const char* call) const {
    return detail::Offset(shape_, index, bound, call);
  }
  /// An index that is refused brings no bytes to the CPU.
  template <class Index>
  T Element(const std::shared_ptr<SyncedMemory>& memory, const Index& index, const char* call) const {
    if (memory == nullptr) FailShapeless(call);
    const std::int64_t at = Offset(index, detail::Bound::kInside, call);
    return static_cast<const T*>(memory->cpu_data())[at];
  }
  [[noreturn]] static void FailShapeless(const char* call);
  /// "shape 2 3 (6)", or "no shape"
  std::string Described() const;

  Device* device_ = nullptr;  ///< null: the default one, which nobody has asked for yet
  Shape shape_;
  std::int64_t count_ = 0;              ///< the shape's, but 0 where there is none yet
  std::shared_ptr<SyncedMemory> data_;  ///< both null without a shape; at least bytes() in size
  std::shared_ptr<SyncedMemory> diff_;
  mutable std::mutex shape_mutex_;
  mutable std::unique_ptr<SyncedMemory> shape_memory_;
};

}  // namespace ferry
