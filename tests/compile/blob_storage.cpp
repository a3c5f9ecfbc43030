// SPDX-License-Identifier: BSD-2-Clause
#include <cstdint>

#include "ferry/blob.hpp"

template <class T>
T Store() {
  ferry::Blob<T> blob({2, 3});
  blob.mutable_cpu_data()[5] = T{1};
  return blob.data_at({1, 2});
}

bool StoreAll() {
  return Store<bool>() && Store<std::int8_t>() != 0 && Store<std::int16_t>() != 0 &&
         Store<std::int32_t>() != 0 && Store<std::int64_t>() != 0 && Store<std::uint8_t>() != 0 &&
         Store<std::uint16_t>() != 0 && Store<std::uint32_t>() != 0 && Store<std::uint64_t>() != 0 &&
         Store<float>() != 0 && Store<double>() != 0;
}
