#include "compute/gemm/thin_product.h"

#include <algorithm>

#include "base/cpu_features.h"
#include "compute/support.h"

namespace rh::compute {
namespace {

struct ThinCase {
  int64_t rows, columns, k;
  bool transpose_a = false;
  int64_t pad = 0;  ///< behind each row of C
  float alpha = 1, beta = 0;
  bool column_bias = false, row_bias = false, residual = false, bounds = false;
};

std::vector<ThinCase> thin_cases() {
  std::vector<ThinCase> all;
  for (int64_t k = 1; k <= kThinK; ++k)
    for (const int64_t columns : {1, 2, 3, 4, 5, 7, 8, 9, 12, 15, 16, 17, 20, 31, 32, 33, 47, 64, 70})
      for (const int64_t rows : {1, 2, 3, 21}) {
        all.push_back(
            {.rows = rows, .columns = columns, .k = k, .transpose_a = rows == 3, .column_bias = k % 2 == 0, .bounds = k % 3 == 0});
        all.push_back({.rows = rows, .columns = columns, .k = k, .pad = 2, .column_bias = true});
        all.push_back({.rows = rows, .columns = columns, .k = k, .alpha = 0.5f, .beta = -2, .column_bias = true, .residual = true});
        all.push_back({.rows = rows, .columns = columns, .k = k, .pad = 1, .row_bias = true, .bounds = true});
        all.push_back({.rows = rows, .columns = columns, .k = k, .alpha = -2, .row_bias = true});
        all.push_back({.rows = rows, .columns = columns, .k = k, .alpha = 0.5f, .column_bias = true, .bounds = true});
      }
  return all;
}

void check(const ThinCase& t) {
  const int64_t row = t.columns + t.pad, b_row = std::max(t.columns, kThinColumns);
  const std::vector<float> a = random_values(t.rows * t.k, 1), bias = random_values(std::max(t.rows, t.columns), 2);
  const std::vector<float> b = random_values(t.k * b_row, 3), before = random_values(t.rows * row + 20, 4);
  const std::vector<float> residual = random_values(t.rows * row, 5);
  std::vector<float> c = before;
  ThinArgs args{.rows = t.rows, .columns = t.columns, .k = t.k, .a = a.data(), .b = b.data(), .b_row = b_row, .c = c.data(), .c_row = row};
  args.a_row = t.transpose_a ? 1 : t.k;
  args.a_k = t.transpose_a ? t.rows : 1;
  args.alpha = t.alpha;
  args.beta = t.beta;
  if (t.column_bias) args.column_bias = bias.data();
  if (t.row_bias) args.row_bias = bias.data();
  if (t.residual) args.residual = residual.data();
  args.residual_row = row;
  args.residual_scale = 0.5f;
  if (t.bounds) args.low = -0.5f, args.high = 0.25f;
  multiply_thin(args);
  for (int64_t i = 0; i < static_cast<int64_t>(c.size()); ++i) {
    const int64_t y = i / row, x = i % row;
    const size_t at = static_cast<size_t>(i);
    if (y >= t.rows || x >= t.columns) {
      ASSERT_EQ(c[at], before[at]) << "outside of C, " << t.rows << "x" << t.columns << "x" << t.k << " at " << y << ", " << x;
      continue;
    }
    double sum = 0;
    for (int64_t k = 0; k < t.k; ++k)
      sum += double{a[static_cast<size_t>(y * args.a_row + k * args.a_k)]} * b[static_cast<size_t>(k * b_row + x)];
    sum *= t.alpha;
    if (t.beta != 0) sum += double{t.beta} * before[at];
    if (t.column_bias) sum += bias[static_cast<size_t>(x)];
    if (t.row_bias) sum += bias[static_cast<size_t>(y)];
    if (t.residual) sum += 0.5 * residual[at];
    if (t.bounds) sum = std::min(0.25, std::max(-0.5, sum));
    ASSERT_NEAR(c[at], sum, 3e-6) << t.rows << "x" << t.columns << "x" << t.k << " at " << y << ", " << x;
  }
}

class ThinProductTest : public EveryIsa {};

TEST_P(ThinProductTest, every_size_and_ending) {
  for (const ThinCase& t : thin_cases()) {
    check(t);
    if (HasFatalFailure()) return;
  }
}

RH_EVERY_ISA(ThinProductTest);

/// What lies between the sets of RH_EVERY_ISA.
TEST(ThinProduct, with_sse41) {
  if (!cpu_features().sse41) GTEST_SKIP() << "a processor without SSE4.1";
  CpuFeatures features = lowered(cpu_features(), "sse2");
  features.sse41 = true;
  const ScopedCpuFeatures scope(features);
  for (const ThinCase& t : thin_cases()) {
    check(t);
    if (HasFatalFailure()) return;
  }
}

}  // namespace
}  // namespace rh::compute
