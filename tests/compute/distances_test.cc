#include "compute/reduce/distances.h"

#include <cmath>
#include <limits>

#include "support.h"

namespace rh::compute {
namespace {

class DistancesTest : public EveryIsa {};

template <typename T>
void adds_norms() {
  constexpr T kInf = std::numeric_limits<T>::infinity();
  for (const int64_t count : {1, 3, 16, 17, 40}) {
    const std::vector<T> norms = random_values<T>(count, 1, 0.5, 2), products = random_values<T>(count, 2);
    std::vector<T> y = products;
    y.push_back(5);
    y[0] = count == 3 ? kInf : std::numeric_limits<T>::quiet_NaN();
    if (count > 16) y[16] = -(1 + norms[16]) * T(0.999);
    EXPECT_EQ(add_norms(1, norms.data(), T(1) / 64, y.data(), count), count > 16 ? 2 : 1) << count;
    for (size_t i = 1; i < norms.size(); ++i) {
      if (i == 16) continue;
      EXPECT_NEAR(y[i], products[i] + (1 + norms[i]), 4 * std::numeric_limits<T>::epsilon()) << i;
    }
    EXPECT_EQ(y.back(), 5) << count;
  }
}

TEST_P(DistancesTest, norms_are_added_and_what_cancelled_is_counted) {
  adds_norms<float>();
  adds_norms<double>();
}

RH_EVERY_ISA(DistancesTest);

}  // namespace
}  // namespace rh::compute
