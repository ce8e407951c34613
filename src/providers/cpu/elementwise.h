#pragma once

#include <algorithm>

#include "compute/elementwise/int64_math.h"
#include "compute/elementwise/narrow_floats.h"
#include "compute/elementwise/number_math.h"
#include "compute/elementwise/vector_math.h"
#include "ops/elementwise.h"
#include "providers/cpu/broadcast.h"
#include "providers/cpu/kernel.h"

namespace rh::cpu {

/// y[i] = f(x[i]) for `count` elements; y may be x. `parameters` are the operator's numbers.
using UnaryRow = void (*)(const void* x, void* y, int64_t count, const float* parameters);
/// out[i] = f(a[i * step_a], b[i * step_b]), steps 0 or 1; out may be an input with step 1.
using BinaryRow = void (*)(const void* a, int64_t step_a, const void* b, int64_t step_b, void* out, int64_t count);

inline constexpr Alias kInPlaceOfFirst[] = {{0, 0, Alias::Kind::in_place}};
inline constexpr Alias kInPlaceOfEither[] = {{0, 0, Alias::Kind::in_place}, {0, 1, Alias::Kind::in_place}};

/// out[i] = f(i). By blocks of a known length, which compilers vectorise without checks for overlap.
template <typename R, typename F>
void fill_row(R* out, int64_t count, F f) {
  constexpr int64_t kBlock = 16;
  int64_t i = 0;
  if constexpr (std::is_trivially_copyable_v<R>) {
    for (; i + kBlock <= count; i += kBlock) {
      R block[kBlock];
      for (int64_t k = 0; k < kBlock; ++k) block[k] = f(i + k);
      std::copy_n(block, kBlock, out + i);
    }
  }
  for (; i < count; ++i) out[i] = f(i);
}

/// The row of f(T) or f(T, const float* parameters), a lambda without captures; it gives R.
template <typename T, typename R = T, typename F>
UnaryRow unary_row(F) {
  return [](const void* x, void* y, int64_t count, [[maybe_unused]] const float* parameters) {
    const T* from = static_cast<const T*>(x);
    if constexpr (std::is_invocable_v<F, T>) {
      fill_row(static_cast<R*>(y), count, [=](int64_t i) { return static_cast<R>(F()(from[i])); });
    } else {
      fill_row(static_cast<R*>(y), count, [=](int64_t i) { return static_cast<R>(F()(from[i], parameters)); });
    }
  };
}

/// The row of f(A, B), a lambda without captures; it gives R.
template <typename A, typename B, typename R, typename F>
BinaryRow binary_row(F) {
  return [](const void* a, int64_t step_a, const void* b, int64_t step_b, void* out, int64_t count) {
    const A* x = static_cast<const A*>(a);
    const B* y = static_cast<const B*>(b);
    R* result = static_cast<R*>(out);
    if (step_a && step_b) {
      fill_row(result, count, [=](int64_t i) { return static_cast<R>(F()(x[i], y[i])); });
    } else if (step_b) {
      fill_row(result, count, [=, &first = *x](int64_t i) { return static_cast<R>(F()(first, y[i])); });
    } else if (step_a) {
      fill_row(result, count, [=, &second = *y](int64_t i) { return static_cast<R>(F()(x[i], second)); });
    } else {
      std::fill_n(result, count, static_cast<R>(F()(*x, *y)));
    }
  };
}

/// Rows of float by the numeric library.
template <compute::Unary kOp>
void float_unary_row(const void* x, void* y, int64_t count, const float*) {
  compute::unary(kOp, static_cast<const float*>(x), static_cast<float*>(y), count);
}
template <compute::Binary kOp>
void float_binary_row(const void* a, int64_t step_a, const void* b, int64_t step_b, void* out, int64_t count) {
  const float* x = static_cast<const float*>(a);
  const float* y = static_cast<const float*>(b);
  float* result = static_cast<float*>(out);
  if (step_a && step_b) {
    compute::binary(kOp, x, y, result, count);
  } else if (step_a) {
    compute::binary_scalar(kOp, x, *y, result, count);
  } else if (step_b) {
    compute::scalar_binary(kOp, *x, y, result, count);
  } else {
    compute::binary(kOp, x, y, result, 1);
    std::fill_n(result + 1, count - 1, *result);
  }
}

/// The same for a half type, in pieces that stay in the first-level cache.
template <typename T, compute::Binary kOp>
void narrow_binary_row(const void* a, int64_t step_a, const void* b, int64_t step_b, void* out, int64_t count) {
  constexpr int64_t kPiece = 512;
  float x[kPiece], y[kPiece];
  for (int64_t i = 0; i < count; i += kPiece) {
    const int64_t n = std::min(kPiece, count - i);
    compute::widen(static_cast<const T*>(a) + i * step_a, x, step_a ? n : 1);
    compute::widen(static_cast<const T*>(b) + i * step_b, y, step_b ? n : 1);
    float_binary_row<kOp>(x, step_a, y, step_b, step_a ? x : y, n);
    compute::narrow(step_a ? x : y, static_cast<T*>(out) + i, n);
  }
}

/// The row of one operation for float and the half types.
template <compute::Binary kOp>
BinaryRow float_binary_row(DType dtype) {
  if (dtype == DType::float16) return narrow_binary_row<Float16, kOp>;
  if (dtype == DType::bfloat16) return narrow_binary_row<BFloat16, kOp>;
  return float_binary_row<kOp>;
}

/// The rows of operations of doubles, int32 and int64.
template <compute::Arithmetic kOp, DType kType>
void number_row(const void* a, int64_t step_a, const void* b, int64_t step_b, void* out, int64_t count) {
  compute::arithmetic(kOp, kType, a, step_a, b, step_b, out, count);
}
template <compute::PlainUnary kOp, DType kType>
void number_unary_row(const void* x, void* y, int64_t count, const float*) {
  compute::plain_unary(kOp, kType, x, y, count);
}
/// Whether these are there for the type.
template <typename T>
inline constexpr bool kHasNumberRows = std::is_same_v<T, double> || std::is_same_v<T, int32_t> || std::is_same_v<T, int64_t>;

/// The row of a division of 64-bit integers.
template <compute::Division kKind>
void division_row(const void* a, int64_t step_a, const void* b, int64_t step_b, void* out, int64_t count) {
  compute::divide(kKind, static_cast<const int64_t*>(a), step_a, static_cast<const int64_t*>(b), step_b, static_cast<int64_t*>(out), count);
}

/// The row that f<T>() gives for the C++ type of `dtype`; null where the list lacks it.
template <typename List, typename Row, typename F>
Row row_by_type(DType dtype, F f) {
  Row row = nullptr;
  if (List::set.contains(dtype))
    (void)dispatch<List>(dtype, "element-wise operator", [&]<typename T>() { row = f.template operator()<T>(); });
  return row;
}

/// A row over `count` elements of this type, which the results have as well; for a half type `row` is the one of float.
void run_unary_row(UnaryRow row, DType dtype, const void* x, void* y, int64_t count, const float* parameters);

/// Runs a row over input 0 into output 0. For float16 and bfloat16 inputs with outputs of the same type, `row` is the one of float.
void run_unary(RunContext& context, UnaryRow row, double operations_per_element, const float* parameters = nullptr);

/// `count` elements of so many bytes out of a pattern of `period` that repeats itself, from element `phase` of it on.
void repeat_pattern(const void* pattern, int64_t period, int64_t phase, int64_t bytes, void* out, int64_t count);

/// Runs a row over inputs 0 and 1 into output 0 of the type given, under broadcasting.
void run_binary(RunContext& context, BinaryRow row, const ops::LegacyBroadcast& legacy, DType out, double operations_per_element = 1);

/// One broadcast row loop over given operands: `out_shape` must be what they broadcast to, or more.
void run_binary(const Parallel& parallel, BinaryRow row, const TensorView& a, const TensorView& b, const MutableView& out,
                double operations_per_element = 1);

}  // namespace rh::cpu
