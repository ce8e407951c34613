#pragma once

#include <string_view>
#include <type_traits>
#include <utility>

#include "abi/status.h"
#include "base/error.h"

namespace rh::plugin {

/// Calls a plugin's function that returns an OrtStatus*. What it throws, against the rules of the ABI, becomes a status that says so; the
/// message names provider and function.
template <typename F>
Status try_call(std::string_view provider, std::string_view function, F&& body) {
  Status status;
  std::string_view thrown;
  try {
    status = abi::take_status(body());
  } catch (...) {
    status = status_of_current_exception();
    thrown = " threw an exception through the C interface:";
  }
  if (status.ok()) return status;
  return error_status(status.code() == ErrorCode::ok ? ErrorCode::ep_fail : status.code(), "{}: {}{} {}", provider, function,
                      thrown.empty() ? " failed:" : thrown, status.message());
}

/// The same; throws Error.
template <typename F>
void call(std::string_view provider, std::string_view function, F&& body) {
  if (Status status = try_call(provider, function, std::forward<F>(body)); !status.ok()) {
    throw Error(status.code(), std::string(status.message()));
  }
}

/// A plugin's function that returns something else, or nothing; `otherwise` when it throws.
template <typename T, typename F>
T ask(T otherwise, F&& body) {
  try {
    return body();
  } catch (...) {
    return otherwise;
  }
}
template <typename F>
void tell(F&& body) {
  try {
    body();
  } catch (...) {
  }
}

}  // namespace rh::plugin

/// Whether a table that a plugin filled in has a function: its version must reach the one that brought the field.
#define RH_HAS(table, since, field) ((table).ort_version_supported >= (since) && (table).field != nullptr)
