#pragma once

#include <algorithm>
#include <string>
#include <type_traits>

#include "compute/elementwise/vector_math.h"
#include "ops/tensor/scatter_reduction.h"
#include "providers/cpu/elements.h"

namespace rh::cpu {

/// Strings are joined and compared; they have no product.
inline std::string reduced(ops::ScatterReduction reduction, const std::string& old, const std::string& update) {
  switch (reduction) {
    case ops::ScatterReduction::add: return old + update;
    case ops::ScatterReduction::min: return std::min(old, update);
    case ops::ScatterReduction::max: return std::max(old, update);
    default: fail(ErrorCode::invalid_argument, "reduction is mul, expected add, min or max for strings");
  }
}

/// What a scatter puts in the place of `old`. NaN spreads through minimum and maximum. Floats are combined in float.
template <typename T>
T reduced(ops::ScatterReduction reduction, T old, T update) {
  using Wide = std::conditional_t<std::is_arithmetic_v<T>, T, float>;
  const Wide a = static_cast<Wide>(old), b = static_cast<Wide>(update);
  switch (reduction) {
    case ops::ScatterReduction::add: return static_cast<T>(a + b);
    case ops::ScatterReduction::mul: return static_cast<T>(a * b);
    case ops::ScatterReduction::min: return b != b || b < a ? update : old;
    case ops::ScatterReduction::max: return b != b || a < b ? update : old;
    default: return update;
  }
}

/// The same of `count` elements side by side.
template <typename T>
void reduce_run(ops::ScatterReduction reduction, T* out, const T* updates, int64_t count) {
  constexpr int64_t kLeastVectors = 16;
  if constexpr (std::is_same_v<T, float>) {
    if (count >= kLeastVectors) {
      switch (reduction) {
        case ops::ScatterReduction::add: return compute::binary(compute::Binary::add, out, updates, out, count);
        case ops::ScatterReduction::mul: return compute::binary(compute::Binary::mul, out, updates, out, count);
        case ops::ScatterReduction::min: return compute::binary(compute::Binary::min, out, updates, out, count);
        case ops::ScatterReduction::max: return compute::binary(compute::Binary::max, out, updates, out, count);
        default: break;
      }
    }
  }
  for (int64_t i = 0; i < count; ++i) out[i] = reduced(reduction, out[i], updates[i]);
}

/// Calls update(write) where write(to, from, count) puts `count` updates, from position `from` of the updates on, to position `to` of the
/// output.
template <typename Update>
Status with_scatter_write(ops::ScatterReduction reduction, DType dtype, const ElementInput& updates, const ElementOutput& y,
                          Update&& update) {
  if (reduction == ops::ScatterReduction::none) {
    compute::dispatch_kind(y.kind(), [&]<typename T>() {
      const T* x = reinterpret_cast<const T*>(updates.data());
      T* out = reinterpret_cast<T*>(y.data());
      update([&](int64_t to, int64_t from, int64_t count) { compute::copy_block(y.kind(), x + from, out + to, count); });
    });
    return {};
  }
  return dispatch<Concat<NumericTypes, Types<bool, std::string>>>(dtype, "reduction", [&]<typename T>() {
    const T* x = reinterpret_cast<const T*>(updates.data());
    T* out = reinterpret_cast<T*>(y.data());
    update([&](int64_t to, int64_t from, int64_t count) { reduce_run(reduction, out + to, x + from, count); });
  });
}

/// The output begins as a copy of input 0, unless it took over its memory.
inline void start_from_data(const ElementInput& x, const ElementOutput& y) {
  if (y.data() != x.data()) compute::copy_elements(x.kind(), x.data(), y.data(), x.elements());
}

/// Input 0 may be overwritten unless the node reads the same value again as indices or updates.
inline bool may_overwrite_data(const NodeView& node) {
  const auto& inputs = node.node().inputs;
  return inputs.size() == 3 && inputs[0] != inputs[1] && inputs[0] != inputs[2];
}

inline constexpr Alias kInPlaceOfFirstInput[] = {{0, 0, Alias::Kind::in_place}};

}  // namespace rh::cpu
