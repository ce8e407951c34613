#pragma once

#include <algorithm>

#include "compute/elementwise/narrow_floats.h"
#include "compute/scratch.h"
#include "providers/cpu/kernel.h"

namespace rh::cpu {

inline bool is_half(DType dtype) { return dtype == DType::float16 || dtype == DType::bfloat16; }
inline bool is_float_or_half(DType dtype) { return dtype == DType::float32 || is_half(dtype); }

/// Calls body(const float* x, float* y, Range rows) for disjoint ranges of rows of `length` elements that cover x and y, which have one
/// type out of float and the half types. Halves are widened a few rows at a time into memory of the thread, where x and y are the same.
template <typename F>
void for_float_rows(const Parallel& parallel, const TensorView& x, const MutableView& y, int64_t rows, int64_t length, const Cost& cost,
                    F body) {
  constexpr int64_t kPiece = 4096;  // elements, so that a piece stays in the first-level cache
  const auto narrow_rows = [&]<typename T>(const T* from, T* to, Range part) {
    const int64_t step = std::max<int64_t>(1, kPiece / std::max<int64_t>(1, length)), most = std::min(step, part.size()) * length;
    float* wide = static_cast<float*>(compute::thread_scratch(compute::ScratchSlot::row, static_cast<size_t>(most) * sizeof(float)));
    for (int64_t row = part.begin; row < part.end; row += step) {
      const Range some{row, std::min(row + step, part.end)};
      compute::widen(from + row * length, wide, some.size() * length);
      body(static_cast<const float*>(wide), wide, some);
      compute::narrow(wide, to + row * length, some.size() * length);
    }
  };
  parallel.for_range(rows, cost, [&](Range part) {
    if (x.dtype() == DType::float16) return narrow_rows(x.data<Float16>(), y.data<Float16>(), part);
    if (x.dtype() == DType::bfloat16) return narrow_rows(x.data<BFloat16>(), y.data<BFloat16>(), part);
    body(x.data<float>() + part.begin * length, y.data<float>() + part.begin * length, part);
  });
}

}  // namespace rh::cpu
