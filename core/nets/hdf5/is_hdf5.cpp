// SPDX-License-Identifier: BSD-2-Clause
#include <array>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <string_view>
#include <system_error>

#include "core/nets/hdf5/hdf5_file.hpp"

namespace ferry::detail {

// A block of the user's own may stand before the signature; its size is 512 times a power of two.
bool IsHdf5(const std::filesystem::path& file) {
  using std::string_view_literals::operator""sv;
  constexpr std::string_view kSignature = "\x89HDF\r\n\x1a\n"sv;
  std::error_code error;
  if (!std::filesystem::is_regular_file(file, error)) return false;  // of a device there may be no end
  std::ifstream in(file, std::ios::binary);
  for (std::streamoff at = 0; in; at = at == 0 ? 512 : 2 * at) {
    std::array<char, kSignature.size()> bytes{};
    if (!in.seekg(at) || !in.read(bytes.data(), bytes.size())) return false;
    if (std::string_view(bytes.data(), bytes.size()) == kSignature) return true;
  }
  return false;
}

}  // namespace ferry::detail
