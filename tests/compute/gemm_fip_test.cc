#include "compute/gemm/gemm_fip.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <optional>
#include <vector>

#include "compute/gemm/compact_panel.h"
#include "compute/gemm_cases.h"

namespace rh::compute {
namespace {

/// The kernels run on every processor with AVX-512, whether they are faster there or not.
class GemmFip : public testing::Test {
 protected:
  void SetUp() override {
    if (!cpu_features().avx512) GTEST_SKIP() << "no AVX-512 here";
    CpuFeatures cpu = cpu_features();
    cpu.own_adders = true;
    scope_.emplace(cpu);
  }

  static PackedMatrix<float> packed(const std::vector<float>& b, int64_t k, int64_t n, bool transposed = false, int64_t ldb = 0) {
    return PackedMatrix<float>(b.data(), k, n, transposed, ldb, {.fip = true});
  }

  static std::vector<float> product(const std::vector<float>& a, const PackedMatrix<float>& b, int64_t m) {
    std::vector<float> c(static_cast<size_t>(m * b.n()));
    gemm({.m = m, .n = b.n(), .k = b.k()}, a.data(), b, c.data(), Parallel());
    return c;
  }

 private:
  std::optional<ScopedCpuFeatures> scope_;
};

/// The same on processors that have a feature and on others.
template <bool CpuFeatures::* kFeature>
class GemmFipWith : public GemmFip, public testing::WithParamInterface<bool> {
 protected:
  void SetUp() override {
    GemmFip::SetUp();
    CpuFeatures cpu = cpu_features();
    cpu.*kFeature = GetParam();
    scope_.emplace(cpu);
  }

 private:
  std::optional<ScopedCpuFeatures> scope_;
};

/// Where sums are in vectors of half the size.
class GemmFipVectors : public GemmFipWith<&CpuFeatures::half_vectors> {};
INSTANTIATE_TEST_SUITE_P(, GemmFipVectors, testing::Bool(), [](const auto& info) { return info.param ? "halves" : "whole"; });

TEST_P(GemmFipVectors, within_the_bound_of_a_float_sum) {
  std::vector<GemmCase> cases;
  for (const int64_t m : {1, 3, 14, 15, 16, 29, 61})
    for (const int64_t n : {1, 16, 17, 33, 100})
      for (const int64_t k : {1, 5, 6, 17, 96, 97, 257}) cases.push_back({m, n, k});
  for (const int mode : {0, 1, 2, 3}) {
    cases.push_back({31, 45, 300, (mode & 1) != 0, (mode & 2) != 0, 0.5, 0, BiasKind::per_column, false, 3});
    cases.push_back({33, 70, 100, (mode & 1) != 0, (mode & 2) != 0, 1, 1, BiasKind::per_row, true, 5});
    cases.push_back({7, 70, 100, (mode & 1) != 0, (mode & 2) != 0, 1, 1, BiasKind::per_row, true, 5});
    cases.push_back({90, 64, 200, (mode & 1) != 0, (mode & 2) != 0, -2, 0.25, BiasKind::none, true, 0});
  }
  cases.push_back({260, 300, 520, false, false, 1, 0, BiasKind::per_column, true, 0});
  cases.push_back({40, 130, 1024, false, false, 1, 0, BiasKind::per_row, false, 0});
  cases.push_back({150, 129, 2100, true, true, 0.5, 1, BiasKind::per_column, true, 24});
  for (const GemmCase& t : cases) {
    const GemmData<float> data(t);
    const PackedMatrix<float> b = packed(data.b, t.k, t.n, t.transpose_b, data.args.ldb);
    ASSERT_TRUE(b.is_fip()) << t;
    std::vector<float> c = data.c, serial = data.c;
    gemm(data.args, data.a.data(), b, c.data(), three_threads());
    check_product(data, c, t);
    if (HasFatalFailure()) return;
    gemm(data.args, data.a.data(), b, serial.data(), Parallel());
    ASSERT_EQ(std::memcmp(c.data(), serial.data(), c.size() * sizeof(float)), 0) << t << ": the bits depend on the number of threads";
  }
}

/// Root mean square of what products are off the exact ones, beside that of the plain kernels.
double error_by_plain(const std::vector<float>& a, const std::vector<float>& b, int64_t m, int64_t n, int64_t k) {
  std::vector<double> exact(static_cast<size_t>(m * n));
  for (int64_t i = 0; i < m; ++i)
    for (int64_t p = 0; p < k; ++p)
      for (int64_t j = 0; j < n; ++j)
        exact[static_cast<size_t>(i * n + j)] += double{a[static_cast<size_t>(i * k + p)]} * double{b[static_cast<size_t>(p * n + j)]};
  const auto error = [&](PackedUse use) {
    std::vector<float> c(exact.size());
    gemm({.m = m, .n = n, .k = k}, a.data(), PackedMatrix<float>(b.data(), k, n, false, 0, use), c.data(), Parallel());
    double sum = 0;
    for (size_t i = 0; i < c.size(); ++i) sum += (c[i] - exact[i]) * (c[i] - exact[i]);
    return std::sqrt(sum);
  };
  return error({.fip = true}) / error({});
}

/// Scales of rows, columns and values of k leave no mark, nor does what has one sign.
TEST_P(GemmFipVectors, rounds_about_as_much_as_multiply_add) {
  const int64_t m = 64, n = 64, k = 768;
  const std::vector<float> a = random_values(m * k, 1), b = random_values(k * n, 2);
  EXPECT_LT(error_by_plain(a, b, m, n, k), 1.0);
  std::vector<float> positive = a;
  for (float& x : positive) x = std::max(x, 0.0f);
  EXPECT_LT(error_by_plain(positive, b, m, n, k), 1.15);
  std::vector<float> scaled_a = a, scaled_b = b;
  for (int64_t p = 0; p < k; ++p) {
    const float scale = std::exp2(static_cast<float>(p % 9) - 4);
    for (int64_t i = 0; i < m; ++i) scaled_a[static_cast<size_t>(i * k + p)] *= scale * std::exp2(static_cast<float>(i % 40) - 20);
    for (int64_t j = 0; j < n; ++j) scaled_b[static_cast<size_t>(p * n + j)] *= std::exp2(static_cast<float>(j % 30) - 15) / scale;
  }
  EXPECT_LT(error_by_plain(scaled_a, scaled_b, m, n, k), 1.15);
  EXPECT_LT(error_by_plain(a, scaled_b, m, n, k), 1.15);
  std::vector<float> outliers = a;
  for (int64_t i = 0; i < m; ++i) outliers[static_cast<size_t>(i * k + 7)] *= 50;
  EXPECT_LT(error_by_plain(outliers, b, m, n, k), 1.15);
}

TEST_P(GemmFipVectors, small_integers_are_exact) {
  const int64_t m = 40, n = 50, k = 300;
  std::vector<float> a(static_cast<size_t>(m * k)), b(static_cast<size_t>(k * n)), expected(static_cast<size_t>(m * n));
  for (size_t i = 0; i < a.size(); ++i) a[i] = static_cast<float>(static_cast<int>(i * 7 % 23) - 11);
  for (size_t i = 0; i < b.size(); ++i) b[i] = static_cast<float>(static_cast<int>(i * 5 % 17) - 8);
  for (int64_t i = 0; i < m; ++i)
    for (int64_t p = 0; p < k; ++p)
      for (int64_t j = 0; j < n; ++j)
        expected[static_cast<size_t>(i * n + j)] += a[static_cast<size_t>(i * k + p)] * b[static_cast<size_t>(p * n + j)];
  EXPECT_EQ(product(a, packed(b, k, n), m), expected);
}

/// As channels have them that training has left at zero.
TEST_P(GemmFipVectors, columns_of_zeros_give_zero) {
  const int64_t m = 40, n = 50, k = 300;
  const std::vector<float> a = random_values(m * k, 1);
  std::vector<float> b = random_values(k * n, 2);
  for (int64_t p = 0; p < k; ++p) b[static_cast<size_t>(p * n + 7)] = b[static_cast<size_t>(p * n + 40)] = 0;
  const PackedMatrix<float> right = packed(b, k, n);
  ASSERT_TRUE(right.is_fip());
  const std::vector<float> c = product(a, right, m);
  for (int64_t i = 0; i < m; ++i)
    for (int64_t j = 0; j < n; ++j) ASSERT_EQ(c[static_cast<size_t>(i * n + j)] == 0, j == 7 || j == 40) << i << ", " << j;
}

/// Bank of filters, each over a few neighbouring values, of spectra that fall by 2^-30: each sum is as exact as multiply-add has it.
TEST_P(GemmFipVectors, sparse_columns_are_summed_plainly) {
  const int64_t m = 40, n = 80, k = 257;
  std::vector<float> a = random_values(m * k, 1), b(static_cast<size_t>(k * n), 0.0f);
  for (int64_t i = 0; i < m * k; ++i)
    a[static_cast<size_t>(i)] = std::fabs(a[static_cast<size_t>(i)]) * std::exp2f(-static_cast<float>(i % k) * 30 / k);
  for (int64_t j = 0; j < n; ++j)
    for (int64_t p = 3 * j; p < 3 * j + 6; ++p) b[static_cast<size_t>(p * n + j)] = 0.25f + static_cast<float>(p % 3);
  const std::vector<float> c = product(a, packed(b, k, n), m);
  for (int64_t i = 0; i < m; ++i) {
    for (int64_t j = 0; j < n; ++j) {
      double sum = 0;
      for (int64_t p = 0; p < k; ++p)
        sum += static_cast<double>(a[static_cast<size_t>(i * k + p)]) * static_cast<double>(b[static_cast<size_t>(p * n + j)]);
      ASSERT_NEAR(static_cast<double>(c[static_cast<size_t>(i * n + j)]) / sum, 1, 1e-6) << i << ", " << j;
    }
  }
}

/// Inputs in units of their own, as tables of features have them, with weights that make up for it.
TEST_P(GemmFipVectors, inputs_of_unlike_magnitude_are_as_exact_as_others) {
  const int64_t m = 40, n = 64, k = 240;
  for (const int exponent : {8, 20, 30, 50}) {
    std::vector<float> a = random_values(m * k, 1), b = random_values(k * n, 2);
    for (int64_t p = 0; p < k; p += 12) {
      for (int64_t i = 0; i < m; ++i) a[static_cast<size_t>(i * k + p)] *= std::exp2f(static_cast<float>(exponent));
      for (int64_t j = 0; j < n; ++j) b[static_cast<size_t>(p * n + j)] *= std::exp2f(static_cast<float>(-exponent));
    }
    const PackedMatrix<float> right = packed(b, k, n);
    ASSERT_TRUE(right.is_fip());
    const std::vector<float> c = product(a, right, m);
    for (int64_t i = 0; i < m; ++i) {
      for (int64_t j = 0; j < n; ++j) {
        double sum = 0, magnitude = 0;
        for (int64_t p = 0; p < k; ++p) {
          const double term =
              static_cast<double>(a[static_cast<size_t>(i * k + p)]) * static_cast<double>(b[static_cast<size_t>(p * n + j)]);
          sum += term;
          magnitude += std::fabs(term);
        }
        ASSERT_NEAR(static_cast<double>(c[static_cast<size_t>(i * n + j)]), sum, 1e-6 * magnitude)
            << "2^" << exponent << ", " << i << ", " << j;
      }
    }
  }
}

/// Rows whose values pairs cannot be made of are multiplied plainly, and their neighbours as ever.
TEST_P(GemmFipVectors, rows_of_zeros_infinities_and_extremes_are_as_multiply_add_has_them) {
  const int64_t m = 48, n = 40, k = 130;
  const float inf = std::numeric_limits<float>::infinity();
  std::vector<float> a = random_values(m * k, 1), b = random_values(k * n, 2);
  for (float& x : b) x *= 0x1p-10f;
  const auto row = [&](int64_t i) { return a.begin() + i * k; };
  std::fill(row(3), row(4), 0.0f);
  *(row(9) + 5) = inf;
  *(row(17) + 129) = NAN;
  std::transform(row(25), row(26), row(25), [](float x) { return x * 0x1p-140f; });
  std::transform(row(33), row(34), row(33), [](float x) { return x * 0x1p127f; });
  std::transform(row(41), row(42), row(41), [](float x) { return x * 0x1p-60f; });
  const PackedMatrix<float> right = packed(b, k, n);
  const std::vector<float> plain = product(a, PackedMatrix<float>(b.data(), k, n, false), m);
  const std::vector<float> c = product(a, right, m), few = product({row(33), row(34)}, right, 1);
  for (int64_t j = 0; j < n; ++j) ASSERT_NEAR(few[static_cast<size_t>(j)] / plain[static_cast<size_t>(33 * n + j)], 1, 1e-3);
  for (int64_t i = 0; i < m; ++i) {
    double most = 0;
    for (int64_t j = 0; j < n; ++j) most = std::max(most, std::fabs(double{plain[static_cast<size_t>(i * n + j)]}));
    for (int64_t j = 0; j < n; ++j) {
      const float x = c[static_cast<size_t>(i * n + j)], y = plain[static_cast<size_t>(i * n + j)];
      if (i == 3) {
        ASSERT_EQ(x, 0.0f);
      }
      if (std::isfinite(y)) {
        ASSERT_NEAR(x, y, 2e-6 * most + 0x1p-143) << "row " << i << ", column " << j;
      } else {
        ASSERT_TRUE(std::isnan(y) ? std::isnan(x) : x == y) << "row " << i << ", column " << j << ": " << x << ", expected " << y;
      }
    }
  }
}

TEST_F(GemmFip, matrices_that_cannot_be_scaled_are_packed_plainly) {
  std::vector<float> b = random_values(64 * 64, 2);
  EXPECT_TRUE(packed(b, 64, 64).is_fip());
  b[70] = std::numeric_limits<float>::infinity();
  EXPECT_FALSE(packed(b, 64, 64).is_fip());
  EXPECT_FALSE(packed(b, 64, 64).empty());
  b[70] = 0x1p100f;
  EXPECT_FALSE(packed(b, 64, 64).is_fip());
  for (int64_t i = 0; i < 64; ++i) b[static_cast<size_t>(i * 64 + 6)] = 0;  // a column of zeros
  EXPECT_TRUE(packed(b, 64, 64).is_fip());
}

/// Values as weights have them that were of a half type once: 8 bits of mantissa.
void shorten(std::vector<float>& values) {
  for (float& x : values) {
    uint32_t bits;
    std::memcpy(&bits, &x, sizeof(bits));
    bits &= 0xffff0000u;
    std::memcpy(&x, &bits, sizeof(bits));
  }
}

/// Compact matrices, by pairs and where these do not pay.
class GemmCompact : public GemmFipWith<&CpuFeatures::own_adders> {};
INSTANTIATE_TEST_SUITE_P(, GemmCompact, testing::Bool(), [](const auto& info) { return info.param ? "by_pairs" : "plainly"; });

/// The same products of a compact matrix, by pairs and of many rows bit for bit: it is decoded for them. Deep ones are cut into other
/// blocks.
TEST_P(GemmCompact, loses_nothing) {
  for (const CompactForm form : {CompactForm::bits28, CompactForm::bits16})
    for (const auto& [k, n] : {std::pair<int64_t, int64_t>{768, 96}, {100, 33}, {2, 40}, {7, 5}, {2050, 70}, {3000, 31}}) {
      std::vector<float> b = random_values(k * n, 2);
      if (form == CompactForm::bits16) shorten(b);
      b[static_cast<size_t>(k * n / 2)] = 0;  // exceptions
      b[static_cast<size_t>(k * n / 3)] *= 0x1p-30f;
      b[static_cast<size_t>(k * n - 1)] *= 0x1p-120f;
      const PackedMatrix<float> plain = packed(b, k, n), compact(b.data(), k, n, false, 0, {.compact = true});
      ASSERT_EQ(compact.compact_form(), form) << k << " x " << n;
      if (k * n > 50000) {
        const double most = form == CompactForm::bits28 ? 0.9 : 0.53, floats = static_cast<double>(FipLayout(k, n).floats());
        EXPECT_LT(static_cast<double>(compact.bytes()), most * floats * sizeof(float));
      }
      for (const int64_t m : {1, 2, 3, 4, 5, 6, 7, 8, 9, 14, 15, 40}) {
        const std::vector<float> a = random_values(m * k, 1), expected = product(a, plain, m), c = product(a, compact, m);
        const double bound = 2e-6 * std::sqrt(static_cast<double>(k));
        for (size_t i = 0; i < c.size(); ++i) {
          if (GetParam() && m > kFewFipRows && k <= kFipBlock) {
            ASSERT_EQ(c[i], expected[i]) << k << " x " << n << ", " << m << " rows, " << i;
          } else {
            ASSERT_NEAR(c[i], expected[i], bound) << k << " x " << n << ", " << m << " rows, " << i;
          }
        }
      }
    }
}

TEST_F(GemmFip, compact_panels_are_decoded_bit_for_bit) {
  const int64_t rows = 96, live = 91, columns = 20;
  for (const CompactForm form : {CompactForm::bits28, CompactForm::bits16}) {
    const bool longer = form == CompactForm::bits28;
    const int least = compact_least_exponent(form), exponents = longer ? 16 : 32;
    std::vector<float> panel = random_values(rows * kCompactWidth, 3), decoded(panel.size());
    for (int64_t i = 0; i < rows * kCompactWidth; ++i) {
      float& x = panel[static_cast<size_t>(i)];
      const float one = longer ? 1 + std::fabs(x) / 2 : 1 + static_cast<float>(i % 1021) / 1024;
      x = std::ldexp(std::copysign(one, x), static_cast<int>(i % exponents) + least);
      if (i / kCompactWidth >= live) x = 0;
    }
    const int64_t specials[] = {0, 5, 333, (live - 1) * kCompactWidth + columns - 1};
    const float values[] = {0.0f, -0.0f, 0x1p-126f, -0x1.8p8f};
    for (int i = 0; i < 4; ++i) panel[static_cast<size_t>(specials[i])] = values[i];
    std::vector<uint32_t> codes(static_cast<size_t>(compact_words(form, rows)), ~0u);
    ASSERT_TRUE(encode_compact(form, panel.data(), rows, {live, columns}, codes.data()));
    for (const auto& [begin, count] : {std::pair<int64_t, int64_t>{0, rows}, {12, 24}, {84, 12}}) {
      decode_compact(form, codes.data(), rows, live, begin, count, decoded.data());
      for (int64_t i = 0; i < count * kCompactWidth; ++i) {
        const size_t at = static_cast<size_t>(begin * kCompactWidth + i);
        if (i % kCompactWidth >= columns && begin + i / kCompactWidth < live) continue;
        ASSERT_EQ(std::memcmp(&decoded[static_cast<size_t>(i)], &panel[at], sizeof(float)), 0)
            << "row " << begin + i / kCompactWidth << ", column " << i % kCompactWidth << ": " << decoded[static_cast<size_t>(i)];
      }
    }
  }
}

TEST_F(GemmFip, matrices_of_many_exceptions_are_not_compact) {
  std::vector<float> b = random_values(96 * 64, 2);
  for (size_t i = 0; i < b.size(); i += 9) b[i] = 0;
  const PackedMatrix<float> right(b.data(), 96, 64, false, 0, {.fip = true, .compact = true});
  EXPECT_TRUE(right.is_fip());
  EXPECT_EQ(right.compact_form(), CompactForm::none);
}

TEST_F(GemmFip, columns_from_one_on) {
  const int64_t m = 30, n = 100, k = 96;
  const std::vector<float> a = random_values(m * k, 1), b = random_values(k * n, 2);
  const PackedMatrix<float> right = packed(b, k, n);
  const std::vector<float> all = product(a, right, m);
  for (const int64_t rows : {int64_t{2}, m}) {
    std::vector<float> some(static_cast<size_t>(rows * 36));
    gemm({.m = rows, .n = 36, .k = k, .first_column = 64}, a.data(), right, some.data(), Parallel());
    for (int64_t i = 0; i < rows; ++i)
      for (int64_t j = 0; j < 36; ++j) ASSERT_NEAR(some[static_cast<size_t>(i * 36 + j)], all[static_cast<size_t>(i * n + 64 + j)], 1e-4);
  }
}

}  // namespace
}  // namespace rh::compute
