#include "compute/reduce/normalized_rows.h"

#include <cmath>
#include <vector>

#include "compute/support.h"

namespace rh::compute {
namespace {

class NormalizedRowsTest : public EveryIsa {};

constexpr float kLeast = 1e-20f, kMost = 1e30f;

double size_of(const float* row, int64_t length, bool squares) {
  double sum = 0;
  for (int64_t i = 0; i < length; ++i) sum += squares ? static_cast<double>(row[i]) * row[i] : std::fabs(static_cast<double>(row[i]));
  return squares ? std::sqrt(sum) : sum;
}

TEST_P(NormalizedRowsTest, rows_of_every_length) {
  for (const bool squares : {false, true}) {
    for (int64_t length = 1; length <= kShortNormalizedRow; ++length) {
      for (const int64_t rows : {1, 2, 3, 50}) {
        const std::vector<float> x = random_values(static_cast<size_t>(rows * length), 7);
        std::vector<float> y(x.size() + kShortNormalizedRow, 9.0f);
        ASSERT_EQ(normalize_short_rows(squares, x.data(), y.data(), rows, length, kLeast, kMost), rows);
        for (int64_t i = 0; i < rows * length; ++i) {
          const double expected = static_cast<double>(x[static_cast<size_t>(i)]) / size_of(x.data() + i / length * length, length, squares);
          ASSERT_NEAR(y[static_cast<size_t>(i)], expected, 4e-7 * std::fabs(expected)) << i << " of rows of " << length << ", " << squares;
        }
        for (size_t i = x.size(); i < y.size(); ++i) ASSERT_EQ(y[i], 9.0f) << "behind " << rows << " rows of " << length;
      }
    }
  }
}

TEST_P(NormalizedRowsTest, stops_at_a_sum_out_of_range) {
  constexpr int64_t kRows = 40, kLength = 5;
  for (const float number : {0.0f, 1e-25f, 1e35f, NAN, INFINITY}) {
    for (const int64_t place : {0, 17, 39}) {
      std::vector<float> x = random_values(kRows * kLength, 8), y(x.size());
      for (int64_t i = 0; i < kLength; ++i) x[static_cast<size_t>(place * kLength + i)] = number;
      EXPECT_EQ(normalize_short_rows(false, x.data(), y.data(), kRows, kLength, kLeast, kMost), place) << number;
    }
  }
}

RH_EVERY_ISA(NormalizedRowsTest);

}  // namespace
}  // namespace rh::compute
