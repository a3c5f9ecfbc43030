// SPDX-License-Identifier: BSD-2-Clause
#include "ferry/error.hpp"

#include <catch2/catch_test_macros.hpp>
#include <string>
#include <type_traits>

using namespace ferry;

template <class E>
inline constexpr bool kIsError = std::is_base_of_v<Error, E> && std::is_nothrow_copy_constructible_v<E>;
static_assert(kIsError<DeviceError> && kIsError<NoDevice> && kIsError<ShapeError> && kIsError<FormatError>);
static_assert(std::is_base_of_v<std::runtime_error, Error>);
static_assert(std::is_base_of_v<std::bad_alloc, OutOfMemory> &&
              !std::is_base_of_v<std::runtime_error, OutOfMemory>);
static_assert(std::is_nothrow_copy_constructible_v<OutOfMemory>);

TEST_CASE("A DeviceError says the call, the vendor's words and number") {
  const DeviceError error("cudaMalloc", 2, "out of luck");
  CHECK(std::string(error.what()) == "cudaMalloc: out of luck (2)");
  CHECK(error.call() == "cudaMalloc");
  CHECK(error.code() == 2);
  const DeviceError copy = error;
  CHECK(copy.call() == error.call());
  const DeviceError named(error, "x");
  CHECK(std::string(named.what()) == "cudaMalloc: out of luck (2), in an access of \"x\"");
  CHECK(named.call() == error.call());
  CHECK(named.code() == error.code());
}

TEST_CASE("OutOfMemory is caught as a bad_alloc and as an exception, and says how much") {
  const auto as = [](auto catcher) {
    try {
      throw OutOfMemory("sim", 1000);
    } catch (decltype(catcher)& error) {
      return std::string(error.what());
    }
  };
  CHECK(as(std::bad_alloc()) == "sim: cannot allocate 1000 bytes");
  CHECK(as(std::exception()) == "sim: cannot allocate 1000 bytes");
  const OutOfMemory error("sim", 1000), copy = error;
  CHECK(copy.bytes() == 1000);
  CHECK(std::string(copy.what()) == error.what());
  const OutOfMemory named(error, "x");
  CHECK(std::string(named.what()) == "sim: cannot allocate 1000 bytes, in an access of \"x\"");
  CHECK(named.bytes() == 1000);
}

TEST_CASE("A FormatError says where") {
  const FormatError error("net.binaryproto", 17, "truncated");
  CHECK(std::string(error.what()) == "net.binaryproto, byte 17: truncated");
  CHECK(error.offset() == 17);
}
