#pragma once

#include <algorithm>
#include <cstddef>

#include "abi/status.h"

namespace rh::capi {

template <size_t N>
struct Name {
  constexpr Name(const char (&literal)[N]) { std::copy_n(literal, N, text); }
  char text[N];
};

/// Stands in a slot that is not built: a status says so with the slot's name; other results are null, zero or false.
template <Name kName, typename Function>
struct Stub;

template <Name kName, typename R, typename... Args>
struct Stub<kName, R(ORT_API_CALL*)(Args...)> {
  static R ORT_API_CALL call(Args...) { return R(); }
};

template <Name kName, typename... Args>
struct Stub<kName, OrtStatus*(ORT_API_CALL*)(Args...)> {
  static OrtStatus* ORT_API_CALL call(Args...) {
    return abi::make_status(ErrorCode::not_implemented,
                            "the function " + std::string(kName.text, sizeof(kName.text) - 1) + " is not built");
  }
};

}  // namespace rh::capi
