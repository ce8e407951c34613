#include "compute/reduce/wide_reductions.h"

#include <cmath>
#include <limits>

#include "compute/support.h"

namespace rh::compute {
namespace {

const float kInf = std::numeric_limits<float>::infinity();

class WideReductionsTest : public EveryIsa {};

double reduced(WideReduction op, const std::vector<double>& x) {
  double product = 1, sum = 0, squares = 0, largest = -INFINITY, exps = 0;
  for (const double value : x) {
    product *= value;
    sum += value;
    squares += value * value;
    largest = std::max(largest, value);
  }
  for (const double value : x) exps += std::exp(value - largest);
  if (op == WideReduction::product) return product;
  if (op == WideReduction::log_sum) return std::log(sum);
  if (op == WideReduction::squares) return squares;
  return op == WideReduction::l2 ? std::sqrt(squares) : largest + std::log(exps);
}

TEST_P(WideReductionsTest, rows_and_columns) {
  for (const WideReduction op :
       {WideReduction::product, WideReduction::squares, WideReduction::l2, WideReduction::log_sum, WideReduction::log_sum_exp}) {
    for (const int64_t length : {1, 2, 7, 16, 33, 64, 129, 1000}) {
      for (const int64_t others : {1, 5, 32, 71}) {
        const std::vector<float> x = random_values(length * others, 3, 0.7, 1.4);
        std::vector<float> rows(static_cast<size_t>(others)), columns(rows.size());
        reduce_rows(op, x.data(), rows.data(), others, length);
        reduce_columns(op, x.data(), columns.data(), length, others);
        for (int64_t r = 0; r < others; ++r) {
          std::vector<double> row, column;
          for (int64_t i = 0; i < length; ++i) {
            row.push_back(x[static_cast<size_t>(r * length + i)]);
            column.push_back(x[static_cast<size_t>(i * others + r)]);
          }
          const double by_row = reduced(op, row), by_column = reduced(op, column);
          ASSERT_NEAR(rows[static_cast<size_t>(r)], by_row, 2e-6 * std::fabs(by_row) + 1e-7) << length;
          ASSERT_NEAR(columns[static_cast<size_t>(r)], by_column, 2e-6 * std::fabs(by_column) + 1e-7) << length;
        }
      }
    }
  }
}

TEST_P(WideReductionsTest, long_rows_whose_squares_or_sums_no_float_holds) {
  for (const float size : {1e-25f, 1e-19f, 1.0f, 1e25f, 2e38f}) {
    const std::vector<float> x = random_values(200, 5, 0.5 * size, size);
    const std::vector<double> wide(x.begin(), x.end());
    for (const WideReduction op : {WideReduction::l2, WideReduction::log_sum}) {
      float y = 0;
      reduce_rows(op, x.data(), &y, 1, 200);
      const double expected = reduced(op, wide);
      if (expected < 1e38) {
        EXPECT_NEAR(y, expected, 2e-7 * std::fabs(expected)) << size;
      } else {
        EXPECT_EQ(y, kInf);
      }
    }
  }
}

TEST_P(WideReductionsTest, products_and_squares_that_no_float_holds) {
  const std::vector<float> x = {1e30f, 1e30f, 1e30f, 1e-30f, 1e-30f, 1e-30f, 2};
  float y = 0;
  reduce_rows(WideReduction::product, x.data(), &y, 1, 7);
  EXPECT_NEAR(y, 2, 1e-5);
  reduce_rows(WideReduction::l2, x.data(), &y, 1, 2);
  EXPECT_NEAR(y, std::sqrt(2.0) * 1e30, 1e24);
}

TEST_P(WideReductionsTest, infinities_of_logarithms) {
  const std::vector<float> x = {-kInf, -kInf, kInf, 1, 500, -kInf, NAN, 1, 1000, 999, 1000, 1000, 0, 0, 0, 0};
  float rows[4], columns[4];
  reduce_rows(WideReduction::log_sum_exp, x.data(), rows, 4, 4);
  EXPECT_EQ(rows[0], kInf);
  EXPECT_TRUE(std::isnan(rows[1]));
  EXPECT_NEAR(rows[2], 1000 + std::log(3 + std::exp(-1.0)), 1e-3);
  reduce_columns(WideReduction::log_sum_exp, x.data(), columns, 4, 4);
  EXPECT_NEAR(columns[0], 1000, 1e-3);
  EXPECT_TRUE(std::isnan(columns[2]));
  reduce_rows(WideReduction::log_sum_exp, x.data(), rows, 1, 2);
  EXPECT_EQ(rows[0], -kInf);
  reduce_columns(WideReduction::log_sum_exp, x.data(), columns, 1, 2);
  EXPECT_EQ(columns[1], -kInf);
}

RH_EVERY_ISA(WideReductionsTest);

}  // namespace
}  // namespace rh::compute
