#include "compute/vector_math.h"

#include <cmath>

namespace rh::compute {
namespace {

float softplus(float x) { return x > 0 ? x + std::log1p(std::exp(-x)) : std::log1p(std::exp(x)); }

float one(Unary op, float x) {
  switch (op) {
    case Unary::exp: return std::exp(x);
    case Unary::log: return std::log(x);
    case Unary::tanh: return std::tanh(x);
    case Unary::erf: return std::erf(x);
    case Unary::sigmoid: return 1 / (1 + std::exp(-x));
    case Unary::neg: return -x;
    case Unary::abs: return std::fabs(x);
    case Unary::sqrt: return std::sqrt(x);
    case Unary::reciprocal: return 1 / x;
    case Unary::floor: return std::floor(x);
    case Unary::ceil: return std::ceil(x);
    case Unary::round: return std::nearbyint(x);
    case Unary::square: return x * x;
    case Unary::relu: return x < 0 ? 0 : x;
    case Unary::hard_swish: {
      const float gate = x * (1.0f / 6) + 0.5f;
      return x * (gate < 0 ? 0 : gate > 1 ? 1 : gate);
    }
    case Unary::softplus: return softplus(x);
    case Unary::softsign: return x / (1 + std::fabs(x));
    case Unary::gelu_erf: return 0.5f * x * (1 + std::erf(x * 0.70710678118654752440f));
    case Unary::gelu_tanh: return 0.5f * x * (1 + std::tanh(0.79788456080286535588f * (x + 0.044715f * x * x * x)));
    case Unary::silu: return x / (1 + std::exp(-x));
  }
  return x;
}

float one(Binary op, float a, float b) {
  switch (op) {
    case Binary::add: return a + b;
    case Binary::sub: return a - b;
    case Binary::mul: return a * b;
    case Binary::div: return a / b;
    case Binary::min: return std::isnan(a) ? a : b < a || std::isnan(b) ? b : a;
    case Binary::max: return std::isnan(a) ? a : b > a || std::isnan(b) ? b : a;
  }
  return a;
}

}  // namespace

void unary(Unary op, const float* x, float* y, int64_t count) {
  for (int64_t i = 0; i < count; ++i) y[i] = one(op, x[i]);
}
void binary(Binary op, const float* a, const float* b, float* y, int64_t count) {
  for (int64_t i = 0; i < count; ++i) y[i] = one(op, a[i], b[i]);
}
void binary_scalar(Binary op, const float* a, float b, float* y, int64_t count) {
  for (int64_t i = 0; i < count; ++i) y[i] = one(op, a[i], b);
}
void scalar_binary(Binary op, float a, const float* b, float* y, int64_t count) {
  for (int64_t i = 0; i < count; ++i) y[i] = one(op, a, b[i]);
}
void scale_shift(const float* x, float scale, float shift, float* y, int64_t count) {
  for (int64_t i = 0; i < count; ++i) y[i] = scale * x[i] + shift;
}
void add_scaled(const float* x, float scale, float* y, int64_t count) {
  for (int64_t i = 0; i < count; ++i) y[i] += scale * x[i];
}

}  // namespace rh::compute
