#include "compute/reduce/similarity.h"

#include "compute/support.h"

namespace rh::compute {
namespace {

class Similarity : public EveryIsa {};
RH_EVERY_ISA(Similarity);

TEST_P(Similarity, SquaredDistancesOfAllSizes) {
  for (const int64_t length : {0, 1, 5, 20}) {
    for (const int64_t count : {1, 3, 15, 16, 17, 64, 65, 100, 147}) {
      const std::vector<float> x = random_values(length, 1), columns = random_values(length * count, 2);
      std::vector<float> y(static_cast<size_t>(count + 1), -1.0f);
      squared_distances(x.data(), columns.data(), length, count, y.data());
      for (int64_t k = 0; k < count; ++k) {
        double expected = 0;
        for (int64_t i = 0; i < length; ++i) {
          const double difference =
              static_cast<double>(x[static_cast<size_t>(i)]) - static_cast<double>(columns[static_cast<size_t>(i * count + k)]);
          expected += difference * difference;
        }
        ASSERT_NEAR(y[static_cast<size_t>(k)], expected, 3e-6 * expected) << length << " of " << count << ", " << k;
      }
      ASSERT_EQ(y.back(), -1.0f);
    }
  }
}

TEST_P(Similarity, DotProductsOfAllLengths) {
  for (const int64_t count : {0, 1, 7, 8, 9, 16, 100, 1003}) {
    const std::vector<float> a = random_values(count, 3), b = random_values(count, 4);
    double expected = 0;
    for (size_t i = 0; i < a.size(); ++i) expected += static_cast<double>(a[i]) * static_cast<double>(b[i]);
    ASSERT_NEAR(dot_product(a.data(), b.data(), count), expected, 1e-12) << count;
  }
}

}  // namespace
}  // namespace rh::compute
