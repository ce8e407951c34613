#pragma once

#include <type_traits>
#include <utility>

#include "abi/status.h"

namespace rh::capi {

/// Runs the body of an API function. What it throws becomes the status that is returned; nothing crosses the C ABI.
/// The body returns nothing, an OrtStatus* or a Status.
template <typename F>
OrtStatus* guard(F&& body) {
  try {
    using Result = std::invoke_result_t<F&>;
    if constexpr (std::is_void_v<Result>) {
      body();
      return nullptr;
    } else if constexpr (std::is_same_v<Result, Status>) {
      return abi::make_status(body());
    } else {
      return body();
    }
  } catch (...) {
    return abi::status_of_current_exception();
  }
}

/// The body of an API function without a status: `otherwise` when it throws.
template <typename T, typename F>
T guard_or(T otherwise, F&& body) {
  try {
    return body();
  } catch (...) {
    return otherwise;
  }
}

/// The handle or result pointer behind an argument. Throws Error{invalid_argument} naming it where it is null.
template <typename T>
T& checked(T* pointer, const char* argument) {
  if (!pointer) fail(ErrorCode::invalid_argument, "argument '{}' must not be null", argument);
  return *pointer;
}

/// Checks an array that may be null only where it is empty.
template <typename T>
T* checked_array(T* pointer, size_t count, const char* argument) {
  if (!pointer && count != 0) fail(ErrorCode::invalid_argument, "argument '{}' must not be null: it has {} entries", argument, count);
  return pointer;
}

}  // namespace rh::capi
