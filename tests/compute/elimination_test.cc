#include "compute/elimination.h"

#include <cmath>
#include <numeric>

#include "support.h"

namespace rh::compute {
namespace {

class EliminationTest : public EveryIsa {
 protected:
  /// Of a contiguous matrix.
  Elimination make(const std::vector<double>& from, int64_t size) {
    matrix_.assign(static_cast<size_t>(size * Elimination::stride(size)), 7);
    work_.assign(static_cast<size_t>(Elimination::work_elements(size)), NAN);
    pivots_.assign(static_cast<size_t>(size), -1);
    order_ = pivots_;
    Elimination elimination{size, matrix_.data(), work_.data(), pivots_.data()};
    elimination.read(from.data());
    return elimination;
  }

  std::vector<double> matrix_, work_;
  std::vector<int64_t> pivots_, order_;
};

TEST_P(EliminationTest, an_inverse_times_its_matrix_is_the_identity) {
  for (const int64_t size : {1, 2, 4, 7, 8, 9, 16, 33, 100}) {
    const std::vector<double> x = random_values<double>(size * size, static_cast<uint32_t>(size));
    ASSERT_TRUE(make(x, size).invert(order_.data()));
    for (int64_t i = 0; i < size; ++i) {
      for (int64_t j = 0; j < size; ++j) {
        double sum = 0;
        for (int64_t k = 0; k < size; ++k) {
          sum += x[static_cast<size_t>(i * size + k)] *
                 matrix_[static_cast<size_t>(k * Elimination::stride(size) + order_[static_cast<size_t>(j)])];
        }
        ASSERT_NEAR(sum, i == j ? 1 : 0, 1e-10) << i << ", " << j << " of " << size;
      }
    }
  }
}

TEST_P(EliminationTest, determinants_are_those_of_row_by_row_elimination) {
  for (const int64_t size : {1, 2, 5, 8, 9, 24, 61}) {
    const std::vector<double> x = random_values<double>(size * size, static_cast<uint32_t>(size), -2, 2);
    std::vector<long double> m(x.begin(), x.end());
    const auto at = [&](int64_t row, int64_t column) -> long double& { return m[static_cast<size_t>(row * size + column)]; };
    long double expected = 1;
    for (int64_t column = 0; column < size; ++column) {
      int64_t pivot = column;
      for (int64_t row = column; row < size; ++row)
        if (std::fabs(at(row, column)) > std::fabs(at(pivot, column))) pivot = row;
      for (int64_t k = 0; pivot != column && k < size; ++k) std::swap(at(column, k), at(pivot, k));
      expected *= pivot == column ? at(column, column) : -at(column, column);
      for (int64_t row = column + 1; row < size; ++row) {
        const long double factor = at(row, column) / at(column, column);
        for (int64_t k = column; k < size; ++k) at(row, k) -= factor * at(column, k);
      }
    }
    EXPECT_NEAR(make(x, size).determinant() / static_cast<double>(expected), 1, 1e-11) << size;
  }
}

TEST_P(EliminationTest, matrices_without_an_inverse) {
  EXPECT_EQ(make({3, 1, 6, 2}, 2).determinant(), 0);
  EXPECT_FALSE(make({1, 2, 2, 4}, 2).invert(order_.data()));
  EXPECT_EQ(make(std::vector<double>(144, 0.0), 12).determinant(), 0);
  EXPECT_FALSE(make(std::vector<double>(144, 1.0), 12).invert(order_.data()));
}

RH_EVERY_ISA(EliminationTest);

}  // namespace
}  // namespace rh::compute
