// SPDX-License-Identifier: BSD-2-Clause
// Is in a program that is not linked with libhdf5.
#include <array>
#include <catch2/matchers/catch_matchers_string.hpp>

#include "core/nets/hdf5/library.hpp"
#include "tests/nets/nets.hpp"

namespace ferry::nets_test {
namespace {

using Catch::Matchers::ContainsSubstring;

TEST_CASE("A libhdf5 that is not there, or another library, is refused with its name") {
  CHECK_THAT(ErrorOf([] {
               detail::LoadHdf5(std::array{"libnone.so.1", "libnone.so.2"});
             }),
             ContainsSubstring("libhdf5 cannot be loaded") && ContainsSubstring("libnone.so.1"));
  void* const other = detail::LoadHdf5(std::array{"libnone.so.1", "libz.so.1"});
  CHECK_THAT(ErrorOf([=] { detail::Hdf5Functions{other}; }), ContainsSubstring("libhdf5 has no H5open"));
}

}  // namespace
}  // namespace ferry::nets_test
