#include "compute/reduce/prefix_sums.h"

#include <cmath>
#include <limits>

#include "compute/support.h"

namespace rh::compute {
namespace {

class PrefixSums : public EveryIsa {};
RH_EVERY_ISA(PrefixSums);

TEST_P(PrefixSums, OfAllLengthsInPlaceToo) {
  for (const int64_t count : {0, 1, 2, 7, 8, 9, 16, 31, 200}) {
    const std::vector<float> x = random_values(count, 1, -10, 10);
    for (const bool exclusive : {false, true}) {
      for (const bool reverse : {false, true}) {
        std::vector<float> y = x;
        y.push_back(77);
        const double total = prefix_sums(y.data(), y.data(), count, 3, exclusive, reverse);
        double sum = 3;
        for (int64_t i = 0; i < count; ++i) {
          const auto at = static_cast<size_t>(reverse ? count - 1 - i : i);
          const double after = sum + static_cast<double>(x[at]);
          ASSERT_FLOAT_EQ(y[at], static_cast<float>(exclusive ? sum : after)) << at << " of " << count;
          sum = after;
        }
        ASSERT_NEAR(total, sum, 1e-12 * static_cast<double>(count + 1));
        ASSERT_EQ(y.back(), 77);
      }
    }
  }
}

TEST_P(PrefixSums, DownColumnsInPlaceToo) {
  constexpr int64_t kRows = 6;
  for (const int64_t columns : {1, 3, 8, 9, 16, 21, 31, 70}) {
    const std::vector<float> x = random_values(kRows * columns, 1, -10, 10);
    for (const bool exclusive : {false, true}) {
      std::vector<float> y = x;
      std::vector<double> totals(static_cast<size_t>(columns), 3);
      prefix_sums_down(y.data(), y.data(), columns, kRows, columns, totals.data(), exclusive);
      for (int64_t c = 0; c < columns; ++c) {
        double sum = 3;
        for (int64_t row = 0; row < kRows; ++row) {
          const auto at = static_cast<size_t>(row * columns + c);
          const double after = sum + static_cast<double>(x[at]);
          ASSERT_FLOAT_EQ(y[at], static_cast<float>(exclusive ? sum : after)) << row << " " << c << " of " << columns;
          sum = after;
        }
        ASSERT_EQ(totals[static_cast<size_t>(c)], sum);
      }
    }
  }
}

TEST_P(PrefixSums, CarryInfinitiesAndNaNOn) {
  const float inf = std::numeric_limits<float>::infinity();
  std::vector<float> x(40, 1.0f), y(40);
  x[5] = inf, x[20] = -inf;
  prefix_sums(x.data(), y.data(), 40, 0, false, false);
  for (size_t i = 0; i < x.size(); ++i) {
    if (i < 5) {
      ASSERT_EQ(y[i], static_cast<float>(i + 1));
    } else if (i < 20) {
      ASSERT_EQ(y[i], inf) << i;
    } else {
      ASSERT_TRUE(std::isnan(y[i])) << i;
    }
  }
}

}  // namespace
}  // namespace rh::compute
