#pragma once

// Timeouts of the tests, which are longer in sanitizer builds.

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

/// The timeout that ends a hanging test. It measures nothing: a passing test waits that long only on a busy machine.
constexpr std::chrono::milliseconds patience = std::chrono::seconds(sanitized ? 30 : 10);

/// The duration of a guard that a test waits for. It is longer than any other step of the test.
constexpr std::chrono::milliseconds short_guard{sanitized ? 1000 : 200};

}  // namespace test_support
