// SPDX-License-Identifier: BSD-2-Clause
#include "ferry/detail/buffer.hpp"

#include <utility>

#include "core/memory/guard.hpp"
#include "core/memory/runs.hpp"

namespace ferry::detail {
namespace {

Waits For(Buffer& buffer, Bytes bytes, Access access, std::vector<UseList::Awaited> awaited) {
  if (awaited.empty()) return std::nullopt;
  return Wait{&buffer, bytes, access, std::move(awaited)};
}

}  // namespace

std::byte* Buffer::Reach(Bytes bytes) const noexcept {
  return guarded ? HostGuard::Reach(At(bytes)) : At(bytes);
}

Waits Buffer::BeforeHost(Bytes bytes, Access access, Dying& dying) {
  return For(*this, bytes, access, uses.BeforeHost(bytes, access, dying));
}
Waits Buffer::AfterReaders(Bytes bytes, Dying& dying) {
  return For(*this, bytes, Access::kReadWrite, uses.Readers(bytes, dying));
}
Waits Buffer::Before(const Stream& on, Bytes bytes, Access access, Dying& dying) {
  return For(*this, bytes, access, uses.Foreign(bytes, access, on, dying));
}

}  // namespace ferry::detail
