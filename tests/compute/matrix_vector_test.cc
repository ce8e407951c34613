#include "compute/gemm/matrix_vector.h"

#include <cmath>

#include "compute/support.h"

namespace rh::compute {
namespace {

class MatrixVectorTest : public EveryIsa {};

TEST_P(MatrixVectorTest, sums_of_every_length) {
  for (const int64_t rows : {1, 3, 4, 5, 8, 11}) {
    for (const int64_t columns : {0, 1, 3, 7, 8, 15, 16, 17, 31, 32, 33, 100, 513}) {
      const std::vector<float> a = random_values(rows * columns, 1), x = random_values(columns, 2);
      std::vector<float> y(static_cast<size_t>(rows + 1), 77);
      matrix_vector(a.data(), x.data(), y.data(), rows, columns);
      for (int64_t i = 0; i < rows; ++i) {
        double sum = 0, magnitude = 0;
        for (int64_t k = 0; k < columns; ++k) {
          const double product =
              static_cast<double>(a[static_cast<size_t>(i * columns + k)]) * static_cast<double>(x[static_cast<size_t>(k)]);
          sum += product;
          magnitude += std::fabs(product);
        }
        ASSERT_NEAR(y[static_cast<size_t>(i)], sum, 6e-8 * static_cast<double>(columns) * magnitude) << rows << " x " << columns;
      }
      ASSERT_EQ(y.back(), 77) << "what lies behind the sums stays";
    }
  }
}

RH_EVERY_ISA(MatrixVectorTest);

}  // namespace
}  // namespace rh::compute
