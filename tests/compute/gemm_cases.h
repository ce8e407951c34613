#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <ostream>
#include <vector>

#include "compute/gemm/gemm.h"
#include "compute/support.h"

namespace rh::compute {

struct GemmCase {
  int64_t m, n, k;
  bool transpose_a = false, transpose_b = false;
  double alpha = 1, beta = 0;
  BiasKind bias = BiasKind::none;
  bool residual = false;
  int64_t pad = 0;  // of every leading dimension
};

inline std::ostream& operator<<(std::ostream& out, const GemmCase& c) {
  return out << c.m << "x" << c.n << "x" << c.k << (c.transpose_a ? " At" : "") << (c.transpose_b ? " Bt" : "") << " alpha " << c.alpha
             << " beta " << c.beta << " bias " << static_cast<int>(c.bias) << " residual " << c.residual << " pad " << c.pad;
}

template <typename T>
struct GemmData {
  GemmArgs<T> args;
  std::vector<T> a, b, c, bias, residual;

  explicit GemmData(const GemmCase& t) {
    const auto matrix = [&](int64_t rows, int64_t columns, uint32_t seed) { return random_values<T>(rows * (columns + t.pad) + 1, seed); };
    a = t.transpose_a ? matrix(t.k, t.m, 1) : matrix(t.m, t.k, 1);
    b = t.transpose_b ? matrix(t.n, t.k, 2) : matrix(t.k, t.n, 2);
    c = matrix(t.m, t.n, 3);
    residual = matrix(t.m, t.n, 4);
    bias = random_values<T>(std::max(t.m, t.n), 5);
    args.m = t.m;
    args.n = t.n;
    args.k = t.k;
    args.transpose_a = t.transpose_a;
    args.transpose_b = t.transpose_b;
    args.alpha = static_cast<T>(t.alpha);
    args.beta = static_cast<T>(t.beta);
    args.lda = (t.transpose_a ? t.m : t.k) + t.pad;
    args.ldb = (t.transpose_b ? t.k : t.n) + t.pad;
    args.ldc = t.n + t.pad;
    args.epilogue.bias_kind = t.bias;
    args.epilogue.bias = bias.data();
    if (t.residual) {
      args.epilogue.residual = residual.data();
      args.epilogue.residual_stride = t.n + t.pad;
      args.epilogue.residual_scale = static_cast<T>(0.5);
    }
  }
};

/// Half an ULP of a stored value, relative to it, and of the least one.
template <typename T>
struct Rounding {
  static constexpr double unit = 0, least = 0;  // it is part of the sum's bound
};
template <>
struct Rounding<Float16> {
  static constexpr double unit = 0x1p-11, least = 0x1p-25;
};
template <>
struct Rounding<BFloat16> {
  static constexpr double unit = 0x1p-8, least = 0x1p-134;
};

/// Every element within gamma_(k + 4) of the sum of absolute terms, in float64; nothing outside [m, n] is written.
template <typename T>
void check_product(const GemmData<T>& data, const std::vector<T>& result, const GemmCase& t) {
  const GemmArgs<T>& g = data.args;
  const std::vector<double> a(data.a.begin(), data.a.end()), b(data.b.begin(), data.b.end());
  const double unit = std::numeric_limits<Computed<T>>::epsilon() / 2, gamma = (t.k + 6) * unit;
  for (int64_t i = 0; i < g.m; ++i) {
    for (int64_t j = 0; j < g.ldc; ++j) {
      const size_t at = static_cast<size_t>(i * g.ldc + j);
      if (j >= g.n) {
        ASSERT_EQ(result[at], data.c[at]) << t << ": outside of C at row " << i << " column " << j;
        continue;
      }
      long double sum = 0, magnitude = 0;
      for (int64_t k = 0; k < g.k; ++k) {
        const long double left = a[static_cast<size_t>(g.transpose_a ? k * g.lda + i : i * g.lda + k)];
        const long double right = b[static_cast<size_t>(g.transpose_b ? j * g.ldb + k : k * g.ldb + j)];
        sum += left * right;
        magnitude += std::fabs(left * right);
      }
      long double expected = g.alpha * sum, bound = std::fabs(g.alpha) * magnitude;
      const auto add = [&](long double term) {
        expected += term;
        bound += std::fabs(term);
      };
      if (g.beta != 0) add(static_cast<long double>(g.beta) * data.c[at]);
      if (t.bias != BiasKind::none) add(data.bias[static_cast<size_t>(t.bias == BiasKind::per_row ? i : j)]);
      if (t.residual) add(0.5L * data.residual[at]);
      const long double rounding = Rounding<T>::unit * std::fabs(expected) + Rounding<T>::least;
      ASSERT_LE(std::fabs(result[at] - expected), gamma * bound * (1 + Rounding<T>::unit) + rounding)
          << t << " row " << i << " column " << j;
    }
  }
}

}  // namespace rh::compute
