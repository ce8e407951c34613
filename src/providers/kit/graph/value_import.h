#pragma once

#include <functional>
#include <string>

#include "graph/type.h"
#include "providers/kit/host/host.h"
#include "tensor/value.h"

namespace rh::kit {

/// What the interface's functions with a char** or the like give, as text; "" for null.
template <typename Get, typename From>
std::string text_of(const Host& host, Get get, const From* from) {
  const char* text = nullptr;
  check(host, get(from, &text));
  return text ? text : "";
}

/// Lists of the interface: their number, then their entries.
template <typename T, typename From>
std::vector<T> list_of(const Host& host, OrtStatus*(ORT_API_CALL* count)(const From*, size_t*),
                       OrtStatus*(ORT_API_CALL* get)(const From*, T*, size_t), const From& from) {
  size_t number = 0;
  check(host, count(&from, &number));
  std::vector<T> entries(number);
  if (number > 0) check(host, get(&from, entries.data(), number));
  return entries;
}

/// The type of a value. Symbols that the model wrote stay; those that a host made up are unknown sizes.
ValueType import_type(const Host& host, const OrtTypeInfo& info);

/// A tensor that looks into the host's memory (strings are copied). Throws Error{not_implemented} for other kinds of values.
Tensor import_tensor(const Host& host, const OrtValue& value);

}  // namespace rh::kit
