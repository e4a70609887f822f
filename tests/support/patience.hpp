#pragma once

// How long tests wait for what is to come, also where a sanitizer makes it slow.

#include <chrono>

namespace test_support {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool sanitized = true;
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
constexpr bool sanitized = true;
#else
constexpr bool sanitized = false;
#endif
#else
constexpr bool sanitized = false;
#endif

/// A net for what hangs, never a bound: what is waited for comes at once, unless the machine is busy.
constexpr std::chrono::milliseconds patience = std::chrono::seconds(sanitized ? 30 : 10);

/// A guard that a test waits out: longer than anything else of the test takes.
constexpr std::chrono::milliseconds short_guard{sanitized ? 1000 : 200};

}  // namespace test_support
