// SPDX-License-Identifier: BSD-2-Clause
#pragma once

namespace ferry::testing {

#if defined(__SANITIZE_THREAD__)
inline constexpr bool kThreadSanitized = true, kAddressSanitized = false;
#elif defined(__SANITIZE_ADDRESS__)
inline constexpr bool kThreadSanitized = false, kAddressSanitized = true;
#elif defined(__has_feature)
inline constexpr bool kThreadSanitized = __has_feature(thread_sanitizer);
inline constexpr bool kAddressSanitized = __has_feature(address_sanitizer);
#else
inline constexpr bool kThreadSanitized = false, kAddressSanitized = false;
#endif
/// Whether each access of memory is checked, which takes tens of times as long.
inline constexpr bool kSanitized = kThreadSanitized || kAddressSanitized;

}  // namespace ferry::testing
