#include "compute/row_math.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace rh::compute {

void softmax_rows(const float* x, float* y, int64_t rows, int64_t length, bool log) { softmax_strided(x, y, rows, length, 1, log); }

void softmax_strided(const float* x, float* y, int64_t outer, int64_t length, int64_t inner, bool log) {
  for (int64_t o = 0; o < outer; ++o) {
    for (int64_t i = 0; i < inner; ++i) {
      const float* in = x + o * length * inner + i;
      float* out = y + o * length * inner + i;
      float largest = -std::numeric_limits<float>::infinity();
      for (int64_t l = 0; l < length; ++l) largest = std::max(largest, in[l * inner]);
      double sum = 0;
      for (int64_t l = 0; l < length; ++l) sum += std::exp(in[l * inner] - largest);
      const float scale = static_cast<float>(1 / sum), shift = static_cast<float>(std::log(sum));
      for (int64_t l = 0; l < length; ++l) {
        const float value = in[l * inner] - largest;
        out[l * inner] = log ? value - shift : std::exp(value) * scale;
      }
    }
  }
}

void layer_norm_rows(const float* x, const float* scale, const float* bias, float epsilon, float* y, float* mean, float* inverse_deviation,
                     int64_t rows, int64_t length) {
  for (int64_t r = 0; r < rows; ++r, x += length, y += length) {
    double sum = 0, squares = 0;
    for (int64_t i = 0; i < length; ++i) sum += x[i];
    const double centre = length > 0 ? sum / static_cast<double>(length) : 0;
    for (int64_t i = 0; i < length; ++i) squares += (x[i] - centre) * (x[i] - centre);
    const double factor = 1 / std::sqrt(squares / static_cast<double>(std::max<int64_t>(length, 1)) + epsilon);
    for (int64_t i = 0; i < length; ++i) y[i] = static_cast<float>((x[i] - centre) * factor) * scale[i] + (bias ? bias[i] : 0);
    if (mean) mean[r] = static_cast<float>(centre);
    if (inverse_deviation) inverse_deviation[r] = static_cast<float>(factor);
  }
}

void rms_norm_rows(const float* x, const float* scale, float epsilon, float* y, int64_t rows, int64_t length) {
  for (int64_t r = 0; r < rows; ++r, x += length, y += length) {
    double squares = 0;
    for (int64_t i = 0; i < length; ++i) squares += static_cast<double>(x[i]) * x[i];
    const float factor = static_cast<float>(1 / std::sqrt(squares / static_cast<double>(std::max<int64_t>(length, 1)) + epsilon));
    for (int64_t i = 0; i < length; ++i) y[i] = x[i] * factor * scale[i];
  }
}

namespace {

float reduce(Reduction op, const float* x, int64_t length, int64_t stride) {
  const float inf = std::numeric_limits<float>::infinity();
  if (op == Reduction::max || op == Reduction::min) {
    float best = op == Reduction::max ? -inf : inf;
    for (int64_t i = 0; i < length; ++i) {
      const float v = x[i * stride];
      if (std::isnan(v)) return v;
      best = op == Reduction::max ? std::max(best, v) : std::min(best, v);
    }
    return best;
  }
  double sum = 0;
  for (int64_t i = 0; i < length; ++i) {
    const double v = x[i * stride];
    sum += op == Reduction::sum_square ? v * v : op == Reduction::l1 ? std::fabs(v) : v;
  }
  return static_cast<float>(op == Reduction::mean ? sum / static_cast<double>(length) : sum);
}

}  // namespace

void reduce_rows(Reduction op, const float* x, float* y, int64_t rows, int64_t length) {
  for (int64_t r = 0; r < rows; ++r) y[r] = reduce(op, x + r * length, length, 1);
}

void reduce_columns(Reduction op, const float* x, float* y, int64_t length, int64_t inner) {
  for (int64_t i = 0; i < inner; ++i) y[i] = reduce(op, x + i, length, inner);
}

}  // namespace rh::compute
