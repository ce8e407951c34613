#pragma once

namespace rh::test {

/// Whether AddressSanitizer or ThreadSanitizer watches: both keep memory of their own beside the program's, and reserve much of it.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr bool kSanitized = true;
#elif defined(__has_feature)
inline constexpr bool kSanitized = __has_feature(address_sanitizer) || __has_feature(thread_sanitizer);
#else
inline constexpr bool kSanitized = false;
#endif

}  // namespace rh::test
