// SPDX-License-Identifier: BSD-2-Clause
#include "ferry/blob.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>
#include <span>
#include <stdexcept>
#include <utility>
#include <vector>

#include "core/blob/reshaping.hpp"
#include "core/device/name.hpp"
#include "ferry/error.hpp"

namespace ferry {

using detail::Reshaping;

void Shaped::FailShapeless(const char* call) {
  throw ShapeError(std::string(call) + ": the blob has no shape, and so no elements; Reshape it first");
}

template <class T>
std::size_t Blob<T>::Bytes(const Shape& shape, const char* call) {
  constexpr auto kMost = std::numeric_limits<std::ptrdiff_t>::max() / static_cast<std::ptrdiff_t>(sizeof(T));
  if (shape.count() > kMost)
    throw ShapeError(std::string(call) + ": shape " + shape.ToString() + " has more than " +
                     std::to_string(kMost) + " elements of " + std::to_string(sizeof(T)) +
                     " bytes, the most that can be addressed");
  return static_cast<std::size_t>(shape.count()) * sizeof(T);
}

template <class T>
Reshaping Blob<T>::Change(std::size_t bytes, const Site& site) {
  return {{data_.memory_, data_.first_},
          {diff_.memory_, diff_.first_},
          this->bytes(),
          bytes,
          device(),
          name(),
          Reshaping::Room::kEnough,
          site};
}

template <class T>
void Blob<T>::ReshapeTo(const Shape& shape, const char* call, const Site& site) {
  Reshaping reshaping = Change(Bytes(shape, call), site);
  Commit(shape, reshaping);
}
template <class T>
void Blob<T>::ReshapeAsToldAt(const Shape& shape, const char* file, const char* function, int line) {
  ReshapeTo(shape, "Blob::Reshape", Site::Caller(file, line, function));
}

template <class T>
void Blob<T>::ShrinkToFit(const Site& site) {
  if (!HasShape()) return;
  Reshaping reshaping({data_.memory_, data_.first_}, {diff_.memory_, diff_.first_}, bytes(), bytes(),
                      device(), name(), Reshaping::Room::kExact, site);
  for (const BlobPart part : {BlobPart::kData, BlobPart::kDiff})
    reshaping.Copy(part, *array(part).memory_, array(part).first_, nullptr, site);
  reshaping.Commit();
  Fit();
}

template <class T>
void Blob<T>::Commit(const Shape& shape, Reshaping& reshaping) noexcept {
  reshaping.Commit();
  shape_ = shape;
  Fit();
  if (detail::BlobExtras* const extras = extras_.Find()) extras->dims.reset();
}

/// Shared elements that the shape no longer needs stay in the array, if they are still there.
template <class T>
void Blob<T>::Fit() noexcept {
  for (const BlobPart part : {BlobPart::kData, BlobPart::kDiff}) {
    Array<T>& own = array(part);
    const auto [first, bytes] = own.part().range;
    const bool stays = own.memory_.use_count() != 1 && own.count_ >= this->count() &&
                       first + bytes <= own.memory_.get()->size();
    if (!stays) own.Fit(this->count());
  }
}

template <class T>
Blob<T> Blob<T>::SliceOf(std::int64_t first, std::int64_t count) const {
  if (!HasShape()) FailShapeless("Blob::Slice");
  const auto refuse = [&](const std::string& why) {
    throw ShapeError("Blob::Slice: " + std::to_string(count) + " from number " + std::to_string(first) +
                     " on of axis 0 of shape " + shape_.ToString() + ", " + detail::LabelOf(data_.part()) +
                     "; " + why);
  };
  if (shape_.empty()) refuse("a blob without axes has no slices");
  if (first < 0 || count < 0 || first > shape_[0] || count > shape_[0] - first)
    refuse("a slice lies within the axis");
  std::array<std::int64_t, kMaxBlobAxes> dims;
  std::copy(shape_.begin(), shape_.end(), dims.begin());
  dims[0] = count;
  const std::int64_t row = shape_.count(1, this->num_axes());
  Blob slice(device());
  slice.shape_ = Shape(std::span<const std::int64_t>(dims).first(shape_.size()), "Blob::Slice");
  slice.data_ = data_.template SliceAs<T>(first * row, count * row);
  slice.diff_ = diff_.template SliceAs<T>(first * row, count * row);
  return slice;
}

template <class T>
void Blob<T>::Copy(const Blob& source, BlobPart part, WithReshape reshape, const Stream* on,
                   const Site& site) {
  const bool fits = shape_ == source.shape_ && HasShape() == source.HasShape();
  if (!fits && (reshape == WithReshape::kNo || !source.HasShape()))
    throw ShapeError(
        "Blob::CopyFrom: the source has " + source.Described() + ", this blob has " + Described() +
        (source.HasShape() ? "; they must be equal unless `reshape` is true" : "; a source needs a shape"));
  if (!source.HasShape()) return;
  const Array<T>& from = source.array(part);
  const Array<T>& to = array(part);
  if (fits) return to.memory_->Assign({to.first_, bytes()}, *from.memory_, from.first_, on, site);
  Reshaping reshaping = Change(source.bytes(), site);
  reshaping.Copy(part, *from.memory_, from.first_, on, site);
  Commit(source.shape_, reshaping);
}

template <class T>
void Blob<T>::Prefetch(Side side, const Stream& on, BlobPart part, const Site& site) const {
  const detail::Part elements = this->part(part);
  if (elements.count != 0) elements.memory->Prefetch(side, on, elements.range, site);
}

template <class T>
void Blob<T>::set_cpu_data(T* data, const Site& site) {
  auto memory = Adoptive(data, "Blob::set_cpu_data", site);
  memory->set_cpu_data(data, {}, site);
  data_ = Array<T>(std::move(memory), 0, this->count());
}

template <class T>
void Blob<T>::set_gpu_data(T* data, const Stream& on, const Site& site) {
  auto memory = Adoptive(data, "Blob::set_gpu_data", site);
  memory->set_gpu_data(data, on, {}, site);
  data_ = Array<T>(std::move(memory), 0, this->count());
}

template <class T>
MemoryPtr Blob<T>::Adoptive(const T* ptr, const char* call, const Site& site) const {
  const auto refuse = [call](const std::string& why) {
    throw std::invalid_argument(std::string(call) + ": the pointer is " + why);
  };
  if (ptr == nullptr) refuse("null; give one to " + std::to_string(this->count()) + " elements");
  if (!HasShape()) FailShapeless(call);
  // Of the old storage too, which may go when this blob departs from it.
  if (this->data()->Owns(ptr) || this->diff()->Owns(ptr))
    refuse("to elements that this blob owns and would free; give it those of another owner");
  const bool whole = data_.first_ == 0 && this->data()->size() == bytes();
  return whole ? this->data() : MemoryPtr(std::make_shared<SyncedMemory>(bytes(), device(), name(), site));
}

template <class T>
Array<T> Blob<T>::Shareable(const Array<T>& own, const Blob& with, const char* call) const {
  if (this->count() != with.count() || HasShape() != with.HasShape())
    throw ShapeError(std::string(call) + ": the other blob has " + Described() + ", this blob has " +
                     with.Described() + "; to share, both need a shape, and equal counts");
  if (HasShape() && &own.device() != &with.device())
    throw std::invalid_argument(std::string(call) + ": the other blob's storage is on the device " +
                                Name(own.device()) + ", this blob's on another, " + Name(with.device()) +
                                "; CopyFrom copies between devices");
  return own.template ShareAs<T>();
}

template <class T>
void Blob<T>::set_name(const std::string& name) {
  detail::BlobExtras& extras = extras_.Get();
  std::string own = name;
  Reshaping::SetLabels(data_.memory_, diff_.memory_, name);
  extras.name.swap(own);
}

template <class T>
const std::string& Blob<T>::name() const noexcept {
  static const std::string none;
  const detail::BlobExtras* const extras = extras_.Find();
  return extras != nullptr ? extras->name : none;
}

template <class T>
std::string Blob<T>::Described() const {
  return HasShape() ? "shape " + shape_.ToString() : "no shape";
}

template <class T>
const SyncedMemory& Blob<T>::ShapeMemory(const Site& site) const {
  detail::BlobExtras& extras = extras_.Get();
  const std::lock_guard lock(extras.mutex);
  if (extras.dims == nullptr) {
    const std::vector<int> dims = shape_.ToInts("Blob::gpu_shape");
    auto memory = std::make_unique<SyncedMemory>(dims.size() * sizeof(int), device(), std::string(), site);
    if (!dims.empty()) std::memcpy(memory->overwrite_cpu_data(site), dims.data(), memory->size());
    extras.dims = std::move(memory);
  }
  return *extras.dims;
}

template <class T>
void Blob<T>::Swap(Blob& other) noexcept {
  std::swap(device_, other.device_);
  std::swap(shape_, other.shape_);
  data_.Swap(other.data_);
  diff_.Swap(other.diff_);
  extras_.Swap(other.extras_);
}

template class Blob<float>;
template class Blob<double>;
template class Blob<long double>;
template class Blob<bool>;
template class Blob<char>;
template class Blob<signed char>;
template class Blob<unsigned char>;
template class Blob<wchar_t>;
template class Blob<char8_t>;
template class Blob<char16_t>;
template class Blob<char32_t>;
template class Blob<short>;
template class Blob<unsigned short>;
template class Blob<int>;
template class Blob<unsigned int>;
template class Blob<long>;
template class Blob<unsigned long>;
template class Blob<long long>;
template class Blob<unsigned long long>;

}  // namespace ferry
