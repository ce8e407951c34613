#include "compute/reduce/distances.h"

#include <cmath>
#include <limits>

#include "support.h"

namespace rh::compute {
namespace {

class DistancesTest : public EveryIsa {};

TEST_P(DistancesTest, norms_are_added_and_what_cancelled_is_counted) {
  constexpr float kInf = std::numeric_limits<float>::infinity();
  for (const int64_t count : {1, 3, 16, 17, 40}) {
    const std::vector<float> norms = random_values(count, 1, 0.5, 2), products = random_values(count, 2);
    std::vector<float> y = products;
    y.push_back(5);
    y[0] = count == 3 ? kInf : NAN;
    if (count > 16) y[16] = -(1 + norms[16]) * 0.999f;
    EXPECT_EQ(add_norms(1, norms.data(), 1.0f / 64, y.data(), count), count > 16 ? 2 : 1) << count;
    for (size_t i = 1; i < norms.size(); ++i) {
      if (i == 16) continue;
      EXPECT_FLOAT_EQ(y[i], products[i] + (1 + norms[i])) << i;
    }
    EXPECT_EQ(y.back(), 5) << count;
  }
}

RH_EVERY_ISA(DistancesTest);

}  // namespace
}  // namespace rh::compute
