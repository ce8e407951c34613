#pragma once

#include <cstdint>
#include <limits>

/// Linear quantisation of contiguous elements, serial and vectorised. T is one of uint8_t, int8_t, uint16_t, int16_t.
namespace rh::compute {

/// Where quantised values lie: zero_point stands for 0, and they are kept within [low, high].
struct QuantRange {
  int32_t zero_point = 0;
  int32_t low = 0;
  int32_t high = 0;

  template <typename T>
  static QuantRange of(int32_t zero_point) {
    return {zero_point, std::numeric_limits<T>::min(), std::numeric_limits<T>::max()};
  }
};

/// y = clamp(rint(x / scale) + zero_point): to nearest even, NaN gives the lowest value.
template <typename T>
void quantize(const float* x, float scale, const QuantRange& range, T* y, int64_t count);

/// y = (x - zero_point) * scale.
template <typename T>
void dequantize(const T* x, float scale, int32_t zero_point, float* y, int64_t count);

/// An operand of quantised arithmetic: elements one after the other (step 1), or one for all (step 0), that stand for (x - zero_point) *
/// scale.
template <typename T>
struct QuantOperand {
  const T* data;
  int64_t step;
  float scale;
  int32_t zero_point;
};

/// y = what quantize(a + b, scale, range) gives, or of a * b if `multiplies`. T is uint8_t or int8_t.
template <typename T>
void quantized_binary(bool multiplies, const QuantOperand<T>& a, const QuantOperand<T>& b, float scale, const QuantRange& range, T* y,
                      int64_t count);

/// y = clamp(rint(x * scale) + zero_point), scale = scales[0], or scales[i] where `per_element`. T is uint8_t or int8_t.
template <typename T>
void requantize(const int32_t* x, const float* scales, bool per_element, const QuantRange& range, T* y, int64_t count);

/// The same of a matrix with a scale for each column, to bytes of either sign.
void requantize_rows(const int32_t* x, int64_t x_stride, const float* scales, const QuantRange& range, uint8_t* y, int64_t y_stride,
                     int64_t rows, int64_t columns);

/// y[i] = table[x[i]]; y may be x.
void look_up(const uint8_t (&table)[256], const uint8_t* x, uint8_t* y, int64_t count);

/// The exact sum of the elements. T is uint8_t or int8_t.
template <typename T>
int64_t sum_codes(const T* x, int64_t count);

/// sums[j]: of column j of [rows, columns] of bytes, rows `stride` apart, modulo 2^32. T is uint8_t or int8_t.
template <typename T>
void sum_code_columns(const T* x, int64_t stride, int64_t rows, int64_t columns, int32_t* sums);

/// y = x * scales[i] + shifts[i]; y may be shifts.
void scale_sums(const int32_t* x, const float* scales, const float* shifts, float* y, int64_t count);

/// The least and the largest element; {0, 0} where there is none. NaNs are passed over.
struct MinMax {
  float low = 0;
  float high = 0;
};
MinMax min_max(const float* x, int64_t count);

}  // namespace rh::compute
