#include "compute/reduce/row_math.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "compute/support.h"

namespace rh::compute {
namespace {

const float kInf = std::numeric_limits<float>::infinity();
const int64_t kLengths[] = {1, 2, 7, 16, 33, 64, 129, 1000};

class RowMathTest : public EveryIsa {};

/// Softmax of one strided row in float64.
std::vector<double> softmax(const float* x, int64_t length, int64_t stride, bool log) {
  double largest = -kInf, sum = 0;
  for (int64_t i = 0; i < length; ++i) largest = std::max<double>(largest, x[i * stride]);
  for (int64_t i = 0; i < length; ++i) sum += std::exp(x[i * stride] - largest);
  std::vector<double> y;
  for (int64_t i = 0; i < length; ++i) {
    const double away = x[i * stride] - largest;
    y.push_back(log ? away - std::log(sum) : std::exp(away) / sum);
  }
  return y;
}

TEST_P(RowMathTest, softmax_of_rows_and_columns) {
  for (const bool log : {false, true}) {
    for (const int64_t length : kLengths) {
      for (const int64_t inner : {1, 3, 17, 40}) {
        const std::vector<float> x = random_values(2 * length * inner, 5, -20, 20);
        std::vector<float> y(x.size()), in_place = x;
        softmax_strided(x.data(), y.data(), 2, length, inner, log);
        softmax_strided(in_place.data(), in_place.data(), 2, length, inner, log);
        ASSERT_EQ(y, in_place);
        for (int64_t o = 0; o < 2; ++o) {
          for (int64_t i = 0; i < inner; ++i) {
            const int64_t at = o * length * inner + i;
            const std::vector<double> expected = softmax(x.data() + at, length, inner, log);
            for (int64_t l = 0; l < length; ++l) {
              const double e = expected[static_cast<size_t>(l)];
              ASSERT_NEAR(y[static_cast<size_t>(at + l * inner)], e, 2e-6 * std::fabs(e) + (log ? 2e-7 : 1e-12))
                  << length << " of " << inner << " log " << log;
            }
          }
        }
      }
    }
  }
}

TEST_P(RowMathTest, exponentials_of_rows) {
  for (const int64_t rows : {1, 2, 3, 4, 7, 14}) {
    for (const int64_t length : kLengths) {
      const int64_t stride = length + rows % 3;
      std::vector<float> x = random_values(rows * stride, 6, -30, 30), shifts = random_values(rows, 7, -60, 60), sums(shifts.size(), 7);
      shifts[0] = -kInf;
      const std::vector<float> scores = x, before = shifts;
      const float factor = rows % 2 ? 1.44269504f : 0.37f;
      exp2_rows(x.data(), stride, rows, length, factor, shifts.data(), sums.data());
      for (int64_t row = 0; row < rows; ++row) {
        const size_t r = static_cast<size_t>(row), from = static_cast<size_t>(row * stride), end = from + static_cast<size_t>(length);
        const float largest = *std::max_element(&scores[from], &scores[from] + length);
        ASSERT_EQ(shifts[r], largest > before[r] + 11 / factor ? largest : before[r]) << row << " of " << rows << ", " << length;
        double sum = 0;
        for (size_t i = from; i < end; ++i) {
          const double exponent = (static_cast<double>(scores[i]) - shifts[r]) * factor, expected = std::exp2(exponent);
          sum += expected;
          ASSERT_NEAR(x[i], expected, (3e-7 + 1e-7 * std::fabs(exponent)) * expected + 2e-38) << row << " of " << rows << ", " << length;
        }
        ASSERT_NEAR(sums[r], sum, 4e-6 * sum + 1e-36);
        for (size_t i = end; i < from + static_cast<size_t>(stride); ++i) ASSERT_EQ(x[i], scores[i]);
      }
    }
  }
}

TEST_P(RowMathTest, exponentials_of_special_rows) {
  constexpr int64_t kLength = 19;
  std::vector<float> x(4 * kLength, -kInf), shifts{-kInf, -kInf, 3, -kInf}, sums(4, 7);
  x[kLength + 18] = 2;  // -inf beside a number
  x[3 * kLength] = std::numeric_limits<float>::quiet_NaN();
  exp2_rows(x.data(), kLength, 4, kLength, 1, shifts.data(), sums.data());
  EXPECT_EQ(shifts, (std::vector<float>{-kInf, 2, 3, -kInf}));
  EXPECT_EQ(std::vector<float>(sums.begin(), sums.begin() + 3), (std::vector<float>{0, 1, 0}));
  EXPECT_TRUE(std::isnan(sums[3]));
  EXPECT_TRUE(std::isnan(x[3 * kLength]));
  x[3 * kLength] = 0;
  x[kLength + 18] -= 1;
  EXPECT_EQ(x, std::vector<float>(x.size(), 0));
}

TEST_P(RowMathTest, softmax_of_special_rows) {
  std::vector<float> masked{-kInf, 1, -kInf, 1}, all_masked(20, -kInf), large{1e30f, -1e30f};
  softmax_rows(masked.data(), masked.data(), 1, 4, false);
  EXPECT_EQ(masked, (std::vector<float>{0, 0.5f, 0, 0.5f}));
  softmax_rows(all_masked.data(), all_masked.data(), 1, 20, false);
  for (const float v : all_masked) EXPECT_TRUE(std::isnan(v));
  softmax_rows(large.data(), large.data(), 1, 2, false);
  EXPECT_EQ(large, (std::vector<float>{1, 0}));
  softmax_rows(nullptr, nullptr, 3, 0, false);
  for (const int64_t length : {3, 16, 50}) {
    for (int64_t where = 0; where < length; ++where) {
      std::vector<float> x = random_values(length, 1);
      x[static_cast<size_t>(where)] = NAN;
      softmax_rows(x.data(), x.data(), 1, length, false);
      for (const float v : x) ASSERT_TRUE(std::isnan(v)) << where << " of " << length;
    }
  }
}

TEST_P(RowMathTest, normalisations) {
  for (const int64_t length : kLengths) {
    const std::vector<float> x = random_values(3 * length, 1, 90, 110), scale = random_values(length, 2), bias = random_values(length, 3);
    std::vector<float> y(x.size()), no_bias(x.size()), rms(x.size()), mean(3), inverse(3), inverse_root(3);
    layer_norm_rows(x.data(), scale.data(), bias.data(), 1e-5f, y.data(), mean.data(), inverse.data(), 3, length);
    layer_norm_rows(x.data(), scale.data(), nullptr, 1e-5f, no_bias.data(), nullptr, nullptr, 3, length);
    rms_norm_rows(x.data(), scale.data(), 1e-5f, rms.data(), inverse_root.data(), 3, length);
    for (int64_t r = 0; r < 3; ++r) {
      const float* row = x.data() + r * length;
      double centre = 0, variance = 0, square = 0;
      for (int64_t i = 0; i < length; ++i) centre += row[i] / static_cast<double>(length);
      for (int64_t i = 0; i < length; ++i) variance += (row[i] - centre) * (row[i] - centre) / static_cast<double>(length);
      for (int64_t i = 0; i < length; ++i) square += static_cast<double>(row[i]) * row[i] / static_cast<double>(length);
      const double factor = 1 / std::sqrt(variance + 1e-5);
      ASSERT_NEAR(mean[static_cast<size_t>(r)], centre, 1e-4);
      ASSERT_NEAR(inverse[static_cast<size_t>(r)], factor, 2e-2 * factor);
      ASSERT_NEAR(inverse_root[static_cast<size_t>(r)], 1 / std::sqrt(square + 1e-5), 1e-6);
      for (int64_t i = 0; i < length; ++i) {
        const size_t at = static_cast<size_t>(r * length + i), column = static_cast<size_t>(i);
        const double plain = (row[i] - centre) * factor * scale[column];
        ASSERT_NEAR(no_bias[at], plain, 1e-4 * factor + 1e-4) << length;
        ASSERT_NEAR(y[at], plain + bias[column], 1e-4 * factor + 1e-4) << length;
        ASSERT_NEAR(rms[at], row[i] / std::sqrt(square + 1e-5) * scale[column], 1e-6);
      }
    }
  }
}

TEST_P(RowMathTest, normalisation_of_columns) {
  const int64_t width = layer_norm_columns_width();
  for (const int64_t length : {1, 2, 31, 32, 33, 70, 300}) {
    for (const int64_t columns : {int64_t{1}, width / 4, width / 4 + 1, width - 1, width}) {
      const int64_t row = columns + 3;
      const std::vector<float> x = random_values(length * row, 1, 90, 110), scale = random_values(length, 2),
                               bias = random_values(length, 3);
      std::vector<float> memory(static_cast<size_t>(length * width)), y = x, no_bias(x.size(), 99);
      layer_norm_columns(y.data(), scale.data(), bias.data(), 1e-5f, {}, y.data(), row, length, columns, memory.data());
      layer_norm_columns(x.data(), scale.data(), nullptr, 1e-5f, {}, no_bias.data(), row, length, columns, memory.data());
      for (int64_t c = 0; c < row; ++c) {
        double centre = 0, variance = 0;
        const auto at = [&](int64_t r) { return static_cast<size_t>(r * row + c); };
        for (int64_t r = 0; r < length; ++r) centre += x[at(r)] / static_cast<double>(length);
        for (int64_t r = 0; r < length; ++r) variance += (x[at(r)] - centre) * (x[at(r)] - centre) / static_cast<double>(length);
        const double factor = 1 / std::sqrt(variance + 1e-5);
        for (int64_t r = 0; r < length; ++r) {
          const double plain = (x[at(r)] - centre) * factor * scale[static_cast<size_t>(r)];
          ASSERT_NEAR(no_bias[at(r)], c < columns ? plain : 99, 1e-4 * factor + 1e-4) << length << " x " << columns;
          if (c < columns)
            ASSERT_NEAR(y[at(r)], plain + bias[static_cast<size_t>(r)], 1e-4 * factor + 1e-4) << length << " x " << columns;
          else
            ASSERT_EQ(y[at(r)], x[at(r)]) << length << " x " << columns;
        }
      }
    }
  }
}

constexpr ActivationKind kAllActivations[] = {ActivationKind::none,
                                              ActivationKind::relu,
                                              ActivationKind::leaky_relu,
                                              ActivationKind::clip,
                                              ActivationKind::hard_sigmoid,
                                              ActivationKind::sigmoid,
                                              ActivationKind::tanh,
                                              ActivationKind::elu,
                                              ActivationKind::softsign,
                                              ActivationKind::hard_swish,
                                              ActivationKind::softplus,
                                              ActivationKind::silu,
                                              ActivationKind::gelu_erf,
                                              ActivationKind::mish,
                                              ActivationKind::gelu_tanh,
                                              ActivationKind::shrink,
                                              ActivationKind::thresholded_relu};

TEST_P(RowMathTest, normalisation_of_columns_with_an_activation) {
  const int64_t width = layer_norm_columns_width();
  for (const int64_t length : {1, 7, 40}) {
    const std::vector<float> slopes = random_values(length, 4);
    std::vector<Activation> activations{{.kind = ActivationKind::prelu, .slopes = slopes.data()}};
    for (const ActivationKind kind : kAllActivations) activations.push_back({kind, 0.25f, 0.75f});
    for (const int64_t columns : {int64_t{1}, width / 4 + 1, width - 1, width}) {
      const int64_t row = columns + 3;
      const std::vector<float> x = random_values(length * row, 1), scale = random_values(length, 2), bias = random_values(length, 3);
      std::vector<float> memory(static_cast<size_t>(length * width)), plain = x;
      layer_norm_columns(x.data(), scale.data(), bias.data(), 1e-5f, {}, plain.data(), row, length, columns, memory.data());
      for (const Activation& activation : activations) {
        std::vector<float> y = x;
        layer_norm_columns(y.data(), scale.data(), bias.data(), 1e-5f, activation, y.data(), row, length, columns, memory.data());
        for (int64_t r = 0; r < length; ++r)
          for (int64_t c = 0; c < row; ++c) {
            const size_t at = static_cast<size_t>(r * row + c);
            const double expected = c < columns ? activated(activation.of_channel(r), static_cast<double>(plain[at])) : x[at];
            ASSERT_NEAR(y[at], expected, 2e-6 * (1 + std::fabs(expected)))
                << static_cast<int>(activation.kind) << ", " << length << " x " << columns;
          }
      }
    }
  }
}

TEST_P(RowMathTest, statistics_of_rows_and_of_their_parts) {
  for (const int64_t length : {1, 5, 64, 4096, 4097, 30001}) {
    for (const float away : {0.0f, 100.0f}) {
      std::vector<float> x = random_values(length, 1, away - 2, away + 2);
      for (int64_t i = 0; i < length; ++i) x[static_cast<size_t>(i)] += static_cast<float>(i) / static_cast<float>(length);
      double mean = 0, variance = 0;
      for (const float v : x) mean += v / static_cast<double>(length);
      for (const float v : x) variance += (v - mean) * (v - mean) / static_cast<double>(length);
      const RowStatistics whole = row_statistics(x.data(), length);
      EXPECT_NEAR(whole.mean, mean, 1e-6 * (1 + away)) << length;
      EXPECT_NEAR(whole.variance, variance, 1e-5 * variance + 1e-9) << length;
      const int64_t first = length / 3;
      const RowStatistics both =
          joined(row_statistics(x.data(), first), first, row_statistics(x.data() + first, length - first), length - first);
      EXPECT_NEAR(both.mean, mean, 1e-6 * (1 + away)) << length;
      EXPECT_NEAR(both.variance, variance, 1e-5 * variance + 1e-9) << length;
    }
  }
  EXPECT_EQ(row_statistics(nullptr, 0).variance, 0);
}

TEST_P(RowMathTest, reductions_of_rows_and_columns) {
  constexpr int64_t kCount = 149;
  const struct {
    Reduction op;
    double start;
    double (*step)(double, double);
  } rows[] = {
      {Reduction::sum, 0, [](double a, double x) { return a + x; }},
      {Reduction::mean, 0, [](double a, double x) { return a + x; }},
      {Reduction::max, -kInf, [](double a, double x) { return std::max(a, x); }},
      {Reduction::min, kInf, [](double a, double x) { return std::min(a, x); }},
      {Reduction::sum_square, 0, [](double a, double x) { return a + x * x; }},
      {Reduction::l1, 0, [](double a, double x) { return a + std::fabs(x); }},
  };
  for (const auto& row : rows) {
    for (const int64_t length : kLengths) {
      const std::vector<float> x = random_values(length * kCount, 9);
      std::vector<float> by_row(kCount), by_column(kCount);
      reduce_rows(row.op, x.data(), by_row.data(), kCount, length);
      reduce_columns(row.op, x.data(), by_column.data(), length, kCount);
      for (int64_t r = 0; r < kCount; ++r) {
        double expected_row = row.start, expected_column = row.start;
        for (int64_t i = 0; i < length; ++i) {
          expected_row = row.step(expected_row, x[static_cast<size_t>(r * length + i)]);
          expected_column = row.step(expected_column, x[static_cast<size_t>(i * kCount + r)]);
        }
        const double divisor = row.op == Reduction::mean ? static_cast<double>(length) : 1;
        ASSERT_NEAR(by_row[static_cast<size_t>(r)], expected_row / divisor, 1e-6 * static_cast<double>(length)) << static_cast<int>(row.op);
        ASSERT_NEAR(by_column[static_cast<size_t>(r)], expected_column / divisor, 1e-6 * static_cast<double>(length));
      }
    }
  }
}

TEST_P(RowMathTest, extremes_keep_nan_and_empty_rows_give_the_neutral_value) {
  for (const int64_t length : {1, 5, 16, 70}) {
    for (int64_t where = 0; where < length; ++where) {
      std::vector<float> x = random_values(length, 2);
      x[static_cast<size_t>(where)] = NAN;
      float most = 0, least = 0;
      reduce_rows(Reduction::max, x.data(), &most, 1, length);
      reduce_rows(Reduction::min, x.data(), &least, 1, length);
      ASSERT_TRUE(std::isnan(most) && std::isnan(least)) << where << " of " << length;
    }
  }
  float most = 0, least = 0, sum = 1;
  reduce_rows(Reduction::max, nullptr, &most, 1, 0);
  reduce_rows(Reduction::min, nullptr, &least, 1, 0);
  reduce_rows(Reduction::sum, nullptr, &sum, 1, 0);
  EXPECT_EQ(most, -kInf);
  EXPECT_EQ(least, kInf);
  EXPECT_EQ(sum, 0);
}

RH_EVERY_ISA(RowMathTest);

}  // namespace
}  // namespace rh::compute
