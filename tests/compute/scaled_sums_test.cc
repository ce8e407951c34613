#include "compute/elementwise/scaled_sums.h"

#include <cmath>

#include "compute/support.h"

namespace rh::compute {
namespace {

class ScaledSums : public EveryIsa {};
RH_EVERY_ISA(ScaledSums);

TEST_P(ScaledSums, round_products_and_sums_one_by_one) {
  for (const size_t count : {0, 1, 3, 4, 7, 8, 15, 16, 17, 33, 100}) {
    const std::vector<float> a = random_values(count, 1), b = random_values(count, 2);
    std::vector<float> y(count + 1, 5), z(count + 1, 5), in_place = b;
    add_product(a.data(), b.data(), 0.3f, y.data(), static_cast<int64_t>(count));
    scaled_sum(a.data(), b.data(), 0.5f, z.data(), static_cast<int64_t>(count));
    add_product(a.data(), in_place.data(), 0.3f, in_place.data(), static_cast<int64_t>(count));
    for (size_t i = 0; i < count; ++i) {
      const volatile float product = 0.3f * b[i], sum = a[i] + b[i];
      ASSERT_EQ(y[i], a[i] + product) << count << " at " << i;
      ASSERT_EQ(in_place[i], y[i]) << count << " at " << i;
      ASSERT_EQ(z[i], sum * 0.5f) << count << " at " << i;
    }
    EXPECT_EQ(y[count], 5);
    EXPECT_EQ(z[count], 5);
  }
}

}  // namespace
}  // namespace rh::compute
