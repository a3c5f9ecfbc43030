// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <concepts>
#include <cstdint>
#include <utility>

#include "ferry/coherence.hpp"
#include "ferry/stream.hpp"
#include "ferry/synced_memory.hpp"

namespace ferry {

/// What there is mathematics for.
template <class T>
concept Real = std::same_as<T, float> || std::same_as<T, double>;

/// Where a kernel runs: on the CPU, and then it is done when the call returns; or on a stream, queued.
class Place {
 public:
  /// The CPU, for memory of this device.
  static Place Cpu(Device& device) noexcept;
  /// The device's side of `on`; the CPU, with one warning a process, where the Kokkos at hand has no kernels
  /// for it.
  static Place On(const Stream& on);

  Side side() const noexcept { return side_; }
  const Stream& stream() const noexcept { return stream_; }

  /// The pointer that kernels at this place need; the bytes are brought here as the access needs them.
  template <class T>
  const T* Read(const SyncedMemory& memory) const {
    return static_cast<const T*>(side_ == Side::kCpu ? memory.cpu_data() : memory.gpu_data(stream_));
  }
  template <class T>
  T* ReadWrite(SyncedMemory& memory) const {
    return static_cast<T*>(side_ == Side::kCpu ? memory.mutable_cpu_data()
                                               : memory.mutable_gpu_data(stream_));
  }
  template <class T>
  T* Overwrite(SyncedMemory& memory) const {
    return static_cast<T*>(side_ == Side::kCpu ? memory.overwrite_cpu_data()
                                               : memory.overwrite_gpu_data(stream_));
  }

 private:
  Place(Side side, Stream stream) noexcept : side_(side), stream_(std::move(stream)) {}
  Side side_;
  Stream stream_;
};

/// Every kernel: pointers are valid at `place`; n counts elements; x and y of one call are identical or
/// disjoint. Those that return nothing may be queued; those that return a number wait for it.
/// All throw DeviceError, and std::invalid_argument for n < 0 and for a null pointer, unless it is to no
/// elements. Any thread may call.

/// x[i] = value. Here and for Copy, T is any arithmetic type except long double, which no GPU has.
template <class T>
void Set(const Place& place, std::int64_t n, T value, T* x);
/// y[i] = x[i].
template <class T>
void Copy(const Place& place, std::int64_t n, const T* x, T* y);

/// x[i] *= alpha
template <Real T>
void Scale(const Place& place, std::int64_t n, T alpha, T* x);
/// y[i] += alpha * x[i]
template <Real T>
void Axpy(const Place& place, std::int64_t n, T alpha, const T* x, T* y);
/// y[i] = alpha * x[i] + beta * y[i]
template <Real T>
void Axpby(const Place& place, std::int64_t n, T alpha, const T* x, T beta, T* y);

/// Sums of |x[i]|, x[i]^2 and x[i] * y[i], with float64 totals. The same bits on every call at one kind of
/// place and instruction set.
template <Real T>
double Asum(const Place& place, std::int64_t n, const T* x);
template <Real T>
double Sumsq(const Place& place, std::int64_t n, const T* x);
template <Real T>
double Dot(const Place& place, std::int64_t n, const T* x, const T* y);

enum class Transpose : std::uint8_t { kNo, kYes };

/// C = alpha * op(A) * op(B) + beta * C, row-major without gaps, as Caffe's caffe_cpu_gemm: op(A) is m x k,
/// op(B) is k x n, C is m x n. With beta == 0, C is not read. Throws ShapeError for more than BLAS
/// can count, which is 2^31 - 1 rows or columns.
template <Real T>
void Gemm(const Place& place, Transpose transpose_a, Transpose transpose_b, std::int64_t m, std::int64_t n,
          std::int64_t k, T alpha, const T* a, const T* b, T beta, T* c);

}  // namespace ferry
