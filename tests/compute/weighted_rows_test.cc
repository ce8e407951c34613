#include "compute/reduce/weighted_rows.h"

#include "compute/support.h"

namespace rh::compute {
namespace {

class WeightedRowsTest : public EveryIsa {};

TEST_P(WeightedRowsTest, sums_of_rows) {
  constexpr int64_t kRows = 9;
  const std::vector<WeightedRow> rows = {{3, 0.5f}, {0, -2}, {3, 1}, {8, 0.25f}, {1, 1}, {2, 0}, {7, 3}};
  const std::vector<size_t> ends = {2, 2, 3, 7};  // the second has none
  for (const int64_t length : {1, 7, 16, 33, 64, 100}) {
    const int64_t x_stride = length + 2, y_stride = length + 1;
    const std::vector<float> x = random_values(kRows * x_stride, 6);
    std::vector<float> y(static_cast<size_t>(4 * y_stride), 77);
    sum_rows(x.data(), x_stride, length, rows.data(), ends.data(), 4, y.data(), y_stride);
    size_t begin = 0;
    for (size_t sum = 0; sum < 4; ++sum) {
      for (int64_t i = 0; i < length; ++i) {
        double expected = 0;
        for (size_t k = begin; k < ends[sum]; ++k)
          expected += static_cast<double>(rows[k].weight) * static_cast<double>(x[static_cast<size_t>(rows[k].row * x_stride + i)]);
        ASSERT_NEAR(y[sum * static_cast<size_t>(y_stride) + static_cast<size_t>(i)], expected, 1e-5) << length;
      }
      ASSERT_EQ(y[sum * static_cast<size_t>(y_stride) + static_cast<size_t>(length)], 77) << "what lies behind a sum stays";
      begin = ends[sum];
    }
  }
}

RH_EVERY_ISA(WeightedRowsTest);

}  // namespace
}  // namespace rh::compute
