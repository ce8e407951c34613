#include "compute/image/resample.h"

#include <algorithm>

#include "compute/support.h"

namespace rh::compute {
namespace {

class ResampleTest : public EveryIsa {};

/// An axis whose outputs are made of `taps` neighbours, around where they lie among the inputs.
struct Axis {
  Axis(int64_t inputs, int64_t outputs, int64_t taps) : weight(random_values(outputs * taps, static_cast<int>(outputs))) {
    for (int64_t i = 0; i < outputs; ++i)
      for (int64_t t = 0; t < taps; ++t)
        index.push_back(std::clamp<int64_t>((2 * i + 1) * inputs / (2 * outputs) - taps / 2 + t, 0, inputs - 1));
    if (taps == 1) std::ranges::fill(weight, 1.0f);
    axis = {inputs, outputs, taps, index.data(), weight.data()};
  }
  double sum(const std::vector<double>& x, int64_t i) const {
    double sum = 0;
    for (int64_t t = i * axis.taps; t < (i + 1) * axis.taps; ++t)
      sum += double{weight[static_cast<size_t>(t)]} * x[static_cast<size_t>(index[static_cast<size_t>(t)])];
    return sum;
  }

  std::vector<int64_t> index;
  std::vector<float> weight;
  ResampledAxis axis;
};

TEST_P(ResampleTest, rows_and_columns) {
  struct Case {
    int64_t rows_in, rows_out, columns_in, columns_out, taps;
  };
  constexpr int64_t kPlanes = 3;
  for (const Case& c : {Case{7, 14, 7, 14, 2}, Case{5, 3, 40, 20, 2}, Case{1, 4, 1, 9, 2}, Case{6, 12, 50, 100, 4}, Case{9, 4, 33, 11, 4},
                        Case{4, 9, 100, 7, 2}, Case{30, 3, 90, 9, 20}, Case{3, 3, 17, 35, 1}, Case{8, 5, 16, 16, 3}}) {
    const Axis down(c.rows_in, c.rows_out, c.taps), along(c.columns_in, c.columns_out, c.taps);
    ASSERT_TRUE(resamples_rows(down.axis, along.axis));
    const std::vector<float> x = random_values(kPlanes * c.rows_in * c.columns_in, 3);
    const int64_t rows = kPlanes * c.rows_out;
    std::vector<float> y(static_cast<size_t>(rows * c.columns_out) + 1, 77);
    resample_rows(x.data(), down.axis, along.axis, 0, 2, y.data());
    resample_rows(x.data(), down.axis, along.axis, 2, rows, y.data());
    ASSERT_EQ(y.back(), 77);
    for (int64_t row = 0; row < rows; ++row) {
      std::vector<double> between;
      for (int64_t column = 0; column < c.columns_in; ++column) {
        std::vector<double> there;
        for (int64_t i = 0; i < c.rows_in; ++i)
          there.push_back(double{x[static_cast<size_t>((row / c.rows_out * c.rows_in + i) * c.columns_in + column)]});
        between.push_back(down.sum(there, row % c.rows_out));
      }
      for (int64_t column = 0; column < c.columns_out; ++column)
        ASSERT_NEAR(y[static_cast<size_t>(row * c.columns_out + column)], along.sum(between, column), 2e-5)
            << c.rows_in << " to " << c.rows_out << ", " << c.columns_in << " to " << c.columns_out << ": " << row << ", " << column;
    }
  }
}

TEST(ResampleRows, rows_far_apart_are_refused) {
  const Axis along(8, 16, 2);
  const int64_t index[] = {0, 5};
  const float weight[] = {0.5f, 0.5f};
  EXPECT_FALSE(resamples_rows({8, 1, 2, index, weight}, along.axis));
}

RH_EVERY_ISA(ResampleTest);

}  // namespace
}  // namespace rh::compute
