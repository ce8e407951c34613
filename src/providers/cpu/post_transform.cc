#include "providers/cpu/post_transform.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace rh::cpu {

namespace {

/// The inverse error function to about 2e-3, by Winitzki's formula: what the interface's probit is defined with.
double inverse_erf(double x) {
  const double a = 0.147, log = std::log((1 - x) * (1 + x));
  const double half = 2 / (3.14159 * a) + log / 2;
  return std::copysign(std::sqrt(std::sqrt(half * half - log / a) - half), x);
}

void softmax(double* scores, int64_t count, bool keep_zeros) {
  const double largest = *std::max_element(scores, scores + count);
  double sum = 0;
  for (int64_t i = 0; i < count; ++i) {
    const bool zero = keep_zeros && std::fabs(scores[i]) <= 1e-7;
    scores[i] = zero ? scores[i] * std::exp(-largest) : std::exp(scores[i] - largest);
    sum += scores[i];
  }
  for (int64_t i = 0; sum != 0 && i < count; ++i) scores[i] /= sum;
}

}  // namespace

void apply_post_transform(ops::PostTransform transform, double* scores, int64_t count) {
  using enum ops::PostTransform;
  if (count == 0) return;
  switch (transform) {
    case none: return;
    case softmax: return cpu::softmax(scores, count, false);
    case softmax_zero: return cpu::softmax(scores, count, true);
    case logistic:
      for (int64_t i = 0; i < count; ++i) scores[i] = 1 / (1 + std::exp(-scores[i]));
      return;
    case probit:
      for (int64_t i = 0; i < count; ++i) scores[i] = std::numbers::sqrt2 * inverse_erf(2 * scores[i] - 1);
      return;
  }
}

void apply_target_transform(ops::PostTransform transform, double* scores, int64_t count) {
  if (count > 1 || transform == ops::PostTransform::probit) apply_post_transform(transform, scores, count);
}

}  // namespace rh::cpu
