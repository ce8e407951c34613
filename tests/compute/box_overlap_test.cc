#include "compute/image/box_overlap.h"

#include <algorithm>
#include <limits>
#include <random>

#include "compute/support.h"

namespace rh::compute {
namespace {

bool overlap(const Box& a, const Box& b, float threshold) {
  const float height = std::min(a.y2, b.y2) - std::max(a.y1, b.y1), width = std::min(a.x2, b.x2) - std::max(a.x1, b.x1);
  if (!(height > 0) || !(width > 0) || !(a.area() > 0) || !(b.area() > 0)) return false;
  const float common = height * width;
  return common / (a.area() + b.area() - common) > threshold;
}

class BoxOverlapTest : public EveryIsa {};

TEST_P(BoxOverlapTest, finds_one_of_many) {
  for (const int64_t count : {0, 1, 3, 15, 16, 17, 40, 100}) {
    const std::vector<float> x = random_values(count * 4 + 4, 9, 0, 10);
    const auto box = [&](int64_t i) {
      const float* p = x.data() + 4 * i;
      return Box{p[0], p[1], p[0] + p[2] / 3, p[1] + p[3] / 3};
    };
    for (const float threshold : {0.0f, 0.1f, 0.3f, 0.99f}) {
      BoxSet set;
      bool expected = false;
      for (int64_t i = 0; i < count; ++i) {
        set.add(box(i));
        expected = expected || overlap(box(i), box(count), threshold);
        ASSERT_EQ(set.any_overlaps(box(count), threshold), expected) << i << " of " << count << ", " << threshold;
      }
      EXPECT_EQ(set.size(), count);
      set.clear();
      EXPECT_FALSE(set.any_overlaps(box(count), threshold));
    }
  }
}

TEST_P(BoxOverlapTest, boxes_without_area_overlap_nothing) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  BoxSet set;
  set.add({1, 1, 1, 5});
  set.add({nan, 0, 4, 4});
  EXPECT_FALSE(set.any_overlaps({0, 0, 5, 5}, 0));
  set.add({0, 0, 5, 5});
  EXPECT_FALSE(set.any_overlaps({2, 2, 2, 3}, 0));
  EXPECT_TRUE(set.any_overlaps({2, 2, 3, 3}, 0));
}

/// Boxes whose corners lie in [0, span) and whose sides are up to `side`, every tenth one as wide as all.
Box random_box(std::mt19937& engine, float span, float side) {
  std::uniform_real_distribution<float> unit(0, 1);
  const float x = unit(engine) * span, y = unit(engine) * span;
  if (engine() % 10 == 0) return {y, 0, y + unit(engine) * side, span};
  return {y, x, y + unit(engine) * side, x + unit(engine) * side};
}

TEST_P(BoxOverlapTest, an_index_finds_what_a_set_does) {
  const float inf = std::numeric_limits<float>::infinity(), nan = std::numeric_limits<float>::quiet_NaN();
  const Box odd[] = {{0, 0, inf, inf},   {-inf, -inf, 1, 1}, {nan, 0, 4, 4}, {3, 3, 3, 9}, {-1e38f, -1e38f, 3e38f, 3e38f},
                     {900, -50, 2000, 7}};
  // Narrow boxes, wide ones, points far from each other.
  for (const float side : {0.5f, 30.0f, 400.0f}) {
    std::mt19937 engine(5);
    BoxSet set;
    BoxIndex index;
    for (int i = 0; i < 3000; ++i) {
      const Box box = i % 100 == 99 ? odd[i / 100 % 6] : random_box(engine, 1000, side);
      ASSERT_EQ(index.any_overlaps(box, 0.2f), set.any_overlaps(box, 0.2f)) << i << ", sides of " << side;
      if (i % 100 != 99 && i % 3 == 0 && set.any_overlaps(box, 0.2f)) continue;
      set.add(box);
      index.add(box);
    }
    EXPECT_EQ(index.size(), set.size());
  }
}

TEST_P(BoxOverlapTest, an_index_of_one_place) {
  BoxSet set;
  BoxIndex index;
  for (int i = 0; i < 600; ++i) {
    const Box box{1, 1, 2, 2};
    EXPECT_EQ(index.any_overlaps(box, 0.5f), set.any_overlaps(box, 0.5f));
    set.add(box);
    index.add(box);
  }
}

RH_EVERY_ISA(BoxOverlapTest);

}  // namespace
}  // namespace rh::compute
