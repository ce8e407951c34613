#include "compute/sort/ranking.h"

#include <algorithm>
#include <limits>

#include "compute/support.h"

namespace rh::compute {
namespace {

TEST(Ranking, keys_order_as_values_do) {
  const float inf = std::numeric_limits<float>::infinity();
  const float values[] = {-inf, -3.4e38f, -1.5f, -1e-40f, 0, 1e-40f, 1e-3f, 1, 1.0000001f, 3.4e38f, inf};
  for (size_t i = 1; i < std::size(values); ++i) EXPECT_LT(ordered_key(values[i - 1]), ordered_key(values[i])) << values[i];
  EXPECT_EQ(ordered_key(-0.0f), ordered_key(0.0f));
}

TEST(Ranking, least_of_many) {
  for (const int64_t count : {1, 2, 100, 256, 257, 1000, 5000}) {
    for (const int kinds : {1, 3, 400, 1 << 30}) {
      std::mt19937 engine(static_cast<unsigned>(count + kinds));
      std::vector<uint64_t> values;
      // Keys of few bits, of the lower ones alone, and of all.
      for (int64_t i = 0; i < count; ++i) {
        const uint32_t key = engine() % static_cast<unsigned>(kinds);
        values.push_back(ranked(i % 2 ? key : key * 7919u, static_cast<uint32_t>(i)));
      }
      std::vector<uint64_t> sorted = values, scratch(values.size());
      std::sort(sorted.begin(), sorted.end());
      for (const int64_t k : {int64_t{0}, int64_t{1}, count / 7, count / 2, count}) {
        std::vector<uint64_t> found = values;
        rank_least(found.data(), count, k, scratch.data());
        EXPECT_TRUE(std::equal(sorted.begin(), sorted.begin() + k, found.begin())) << k << " of " << count << ", " << kinds;
      }
    }
  }
}

}  // namespace
}  // namespace rh::compute
