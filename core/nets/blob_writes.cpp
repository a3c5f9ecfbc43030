// SPDX-License-Identifier: BSD-2-Clause
#include "core/nets/blob_writes.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "ferry/detail/message.hpp"
#include "ferry/place.hpp"

namespace ferry::detail {

template <class T>
void BlobWrites<T>::Add(Blob<T>& to, const BlobProto& from) {
  const BlobContents contents = ContentsOf(from);
  const auto add = [this](const Operand<T>& part, auto floats, auto doubles) {
    to_.push_back(part);
    doubles.empty() ? from_.emplace_back(floats) : from_.emplace_back(doubles);
  };
  add(Overwrite(to), contents.data, contents.double_data);
  if (!contents.diff.empty() || !contents.double_diff.empty())
    add(Overwrite(Diff(to)), contents.diff, contents.double_diff);
}

template <class T>
void BlobWrites<T>::Add(Blob<T>& to, std::vector<T> data) {
  to_.push_back(Overwrite(to));
  from_.emplace_back(std::move(data));
}

template <class T>
void BlobWrites<T>::Make(Device& device, const Site& site) const {
  std::vector<Request> requests(to_.size());
  std::transform(to_.begin(), to_.end(), requests.begin(),
                 [](const Operand<T>& operand) { return operand.request(); });
  std::vector<void*> to(requests.size());
  TakeAt({Place::Cpu(device), site}, requests, to);
  for (std::size_t i = 0; i < to.size(); ++i)
    std::visit([&](const auto& from) { std::copy(from.begin(), from.end(), static_cast<T*>(to[i])); },
               from_[i]);
}

template <class T>
std::string CountFlaw(const BlobProto& from, const Blob<T>& to) {
  const std::int64_t count = to.count();
  const int data = from.double_data_size() != 0 ? from.double_data_size() : from.data_size();
  const int diff = from.double_diff_size() != 0 ? from.double_diff_size() : from.diff_size();
  if (data == count && (diff == 0 || diff == count)) return {};
  return "the source has " + std::to_string(data) + " elements and " + std::to_string(diff) +
         " gradients for shape " + to.shape_string();
}

#define FERRY_INSTANTIATE(T)    \
  template class BlobWrites<T>; \
  template std::string CountFlaw(const BlobProto&, const Blob<T>&)
FERRY_INSTANTIATE(float);
FERRY_INSTANTIATE(double);
#undef FERRY_INSTANTIATE

}  // namespace ferry::detail
