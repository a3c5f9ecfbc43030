// SPDX-License-Identifier: BSD-2-Clause
#include "ferry/blob.hpp"

#include <cstring>
#include <limits>
#include <stdexcept>
#include <utility>
#include <vector>

#include "core/blob/reshaping.hpp"
#include "core/device/name.hpp"
#include "ferry/error.hpp"

namespace ferry {

using detail::Reshaping;

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
void Blob<T>::ReshapeTo(const Shape& shape, const char* call) {
  Reshaping reshaping(data_, diff_, bytes(), Bytes(shape, call), device());
  Commit(shape, reshaping);
}

template <class T>
void Blob<T>::ShrinkToFit() {
  if (data_ == nullptr) return;
  Reshaping reshaping(data_, diff_, bytes(), bytes(), device(), Reshaping::Room::kExact);
  reshaping.Copy(Reshaping::Part::kData, *data_);
  reshaping.Copy(Reshaping::Part::kDiff, *diff_);
  reshaping.Commit();
}

template <class T>
void Blob<T>::Commit(const Shape& shape, Reshaping& reshaping) noexcept {
  reshaping.Commit();
  shape_ = shape;
  count_ = shape.count();
  shape_memory_.reset();
}

template <class T>
void Blob<T>::CopyFrom(const Blob& source, bool copy_diff, bool reshape) {
  const bool fits = shape_ == source.shape_ && count_ == source.count_;
  if (!fits && (!reshape || source.data_ == nullptr))
    throw ShapeError("Blob::CopyFrom: the source has " + source.Described() + ", this blob has " +
                     Described() +
                     (source.data_ == nullptr ? "; a source needs a shape"
                                              : "; they must be equal unless `reshape` is true"));
  if (source.data_ == nullptr) return;
  const SyncedMemory& from = copy_diff ? *source.diff_ : *source.data_;
  // The usual case, in which there is nothing to reshape, takes as long as its bytes.
  if (fits && data_->size() == bytes() && diff_->size() == bytes()) {
    SyncedMemory& to = copy_diff ? *diff_ : *data_;
    if (&from != &to) to.Assign(from, bytes());
    return;
  }
  Reshaping reshaping(data_, diff_, bytes(), source.bytes(), device());
  reshaping.Copy(copy_diff ? Reshaping::Part::kDiff : Reshaping::Part::kData, from);
  fits ? reshaping.Commit() : Commit(source.shape_, reshaping);
}

template <class T>
void Blob<T>::set_cpu_data(T* data) {
  auto memory = Adoptive(data, "Blob::set_cpu_data");
  memory->set_cpu_data(data);
  data_ = std::move(memory);
}

template <class T>
void Blob<T>::set_gpu_data(T* data, const Stream& on) {
  auto memory = Adoptive(data, "Blob::set_gpu_data");
  memory->set_gpu_data(data, on);
  data_ = std::move(memory);
}

template <class T>
std::shared_ptr<SyncedMemory> Blob<T>::Adoptive(const T* ptr, const char* call) const {
  const auto refuse = [call](const std::string& why) {
    throw std::invalid_argument(std::string(call) + ": the pointer is " + why);
  };
  if (ptr == nullptr) refuse("null; give one to " + std::to_string(count_) + " elements");
  if (data_ == nullptr) FailShapeless(call);
  // Of the old storage too, which may go when this blob departs from it.
  if (data_->Owns(ptr) || diff_->Owns(ptr))
    refuse("to elements that this blob owns and would free; give it those of another owner");
  return data_->size() == bytes() ? data_ : std::make_shared<SyncedMemory>(bytes(), device());
}

template <class T>
const std::shared_ptr<SyncedMemory>& Blob<T>::Shareable(const std::shared_ptr<SyncedMemory>& storage,
                                                        const Blob& with, const char* call) const {
  if (count_ != with.count_ || (storage == nullptr) != (with.data_ == nullptr))
    throw ShapeError(std::string(call) + ": the other blob has " + Described() + ", this blob has " +
                     with.Described() + "; to share, both need a shape, and equal counts");
  if (storage != nullptr && &storage->device() != &with.device())
    throw std::invalid_argument(std::string(call) + ": the other blob's storage is on the device " +
                                Name(storage->device()) + ", this blob's on another, " + Name(with.device()) +
                                "; CopyFrom copies between devices");
  return storage;
}

template <class T>
void Blob<T>::FailShapeless(const char* call) {
  throw ShapeError(std::string(call) + ": the blob has no shape, and so no elements; Reshape it first");
}

template <class T>
std::string Blob<T>::Described() const {
  return data_ != nullptr ? "shape " + shape_.ToString() : "no shape";
}

template <class T>
const SyncedMemory& Blob<T>::ShapeMemory() const {
  const std::lock_guard lock(shape_mutex_);
  if (shape_memory_ == nullptr) {
    const std::vector<int> dims = shape_.ToInts("Blob::gpu_shape");
    auto memory = std::make_unique<SyncedMemory>(dims.size() * sizeof(int), device());
    if (!dims.empty()) std::memcpy(memory->overwrite_cpu_data(), dims.data(), memory->size());
    shape_memory_ = std::move(memory);
  }
  return *shape_memory_;
}

template <class T>
void Blob<T>::Swap(Blob& other) noexcept {
  std::swap(device_, other.device_);
  std::swap(shape_, other.shape_);
  std::swap(count_, other.count_);
  data_.swap(other.data_);
  diff_.swap(other.diff_);
  shape_memory_.swap(other.shape_memory_);
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
