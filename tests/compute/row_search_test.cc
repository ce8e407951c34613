#include "compute/sort/row_search.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "compute/support.h"

namespace rh::compute {
namespace {

const float kInf = std::numeric_limits<float>::infinity();
const float kNan = std::numeric_limits<float>::quiet_NaN();

class RowSearchTest : public EveryIsa {};

bool comes_first(float a, float b, bool largest) {
  const float first = largest ? a : b, second = largest ? b : a;
  if (std::isnan(first) || std::isnan(second)) return std::isnan(first) && !std::isnan(second);
  return first > second;
}

TEST_P(RowSearchTest, finds_the_first_beyond_a_limit) {
  for (const int64_t count : {0, 1, 5, 16, 63, 64, 65, 300}) {
    for (const float limit : {0.5f, 0.97f, -kInf, kInf, kNan}) {
      for (const int64_t odd : {int64_t{-1}, count / 3, count - 1}) {
        std::vector<float> x = random_values(count, 4, 0, 1);
        if (odd >= 0 && odd < count) x[static_cast<size_t>(odd)] = kNan;
        for (const bool largest : {false, true}) {
          int64_t expected = 0;
          while (expected < count && !comes_first(x[static_cast<size_t>(expected)], limit, largest)) ++expected;
          ASSERT_EQ(find_beyond(x.data(), count, limit, largest), expected) << limit << " of " << count << ", largest " << largest;
        }
      }
    }
  }
}

TEST_P(RowSearchTest, finds_the_first_that_is_not_below) {
  for (const int64_t count : {0, 1, 5, 16, 63, 64, 65, 300}) {
    for (const float limit : {0.5f, 0.97f, 0.0f, -kInf, kInf, kNan}) {
      const std::vector<float> x = random_values(count, 4, 0, 1);
      const auto first = std::find_if(x.begin(), x.end(), [=](float value) { return value >= limit; });
      ASSERT_EQ(find_not_below(x.data(), count, limit), first - x.begin()) << limit << " of " << count;
    }
  }
}

TEST_P(RowSearchTest, bounds_of_the_first_few_leave_these_and_not_many_more) {
  for (const int64_t count : {16, 63, 64, 129, 1000, 1024}) {
    for (const int64_t k : {int64_t{1}, int64_t{2}, int64_t{10}, int64_t{16}, int64_t{40}}) {
      for (const bool largest : {false, true}) {
        for (const float step : {0.0f, 0.1f}) {  // equal ones too
          std::vector<float> x = random_values(count, static_cast<uint32_t>(count + k), -1, 1);
          for (float& value : x) value = step > 0 ? std::floor(value / step) * step : value;
          const float bound = kth_bound(x.data(), count, k, largest);
          if (std::isnan(bound)) {
            ASSERT_TRUE(count < 64 || k > 4) << k << " of " << count;  // which vectors of one number give as well
            continue;
          }
          std::vector<int32_t> places(static_cast<size_t>(count)), expected;
          for (int32_t i = 0; i < count; ++i) {
            if (!comes_first(bound, x[static_cast<size_t>(i)], largest)) expected.push_back(i);
          }
          const int64_t found = find_from(x.data(), count, bound, largest, places.data(), count);
          places.resize(static_cast<size_t>(found));
          ASSERT_EQ(places, expected) << k << " of " << count;
          ASSERT_GE(found, k);
          if (step == 0 && count == 1024) {
            ASSERT_LE(found, 5 * k + 16) << k;
          }
          ASSERT_EQ(find_from(x.data(), count, bound, largest, places.data(), k), found) << "no more than there is room for is written";
        }
      }
    }
  }
}

TEST_P(RowSearchTest, no_bound_beside_a_nan) {
  for (const size_t at : {size_t{0}, size_t{63}, size_t{64}, size_t{129}}) {
    std::vector<float> x = random_values(130, 3, -1, 1);
    EXPECT_FALSE(std::isnan(kth_bound(x.data(), 130, 3, true)));
    x[at] = kNan;
    EXPECT_TRUE(std::isnan(kth_bound(x.data(), 130, 3, true)));
    EXPECT_TRUE(std::isnan(kth_bound(x.data(), 130, 3, false)));
  }
}

TEST_P(RowSearchTest, infinities_are_bounds_or_leave_none) {
  for (const bool both : {false, true}) {
    std::vector<float> x = random_values(130, 5, -1, 1);
    x[70] = -kInf;
    if (both) x[86] = kInf;
    const float least = kth_bound(x.data(), 130, 1, false), most = kth_bound(x.data(), 130, 1, true);
    EXPECT_TRUE(std::isnan(least) ? both : least == -kInf) << least;
    EXPECT_TRUE(std::isnan(most) ? both : most == *std::max_element(x.begin(), x.end())) << most;
  }
}

TEST_P(RowSearchTest, extremes_of_columns) {
  for (const int64_t length : {1, 2, 19, 200}) {
    for (const int64_t stride : {kArgColumns, kArgColumns + 5}) {
      std::vector<float> x = random_values(length * stride, 8, 0, 9);
      for (float& value : x) value = std::floor(value);  // many are equal
      for (size_t i = 7; i < x.size(); i += 131) x[i] = kNan;
      for (int choice = 0; choice < 4; ++choice) {
        const bool largest = choice % 2 != 0, last = choice / 2 != 0;
        std::vector<int64_t> found(kArgColumns);
        arg_columns(x.data(), length, stride, largest, last, found.data());
        for (int64_t c = 0; c < kArgColumns; ++c) {
          const auto at = [&](int64_t row) { return x[static_cast<size_t>(row * stride + c)]; };
          int64_t best = 0;
          for (int64_t row = 1; row < length; ++row) {
            const bool equal = at(row) == at(best) || (std::isnan(at(row)) && std::isnan(at(best)));
            const bool better = std::isnan(at(row)) || std::isnan(at(best)) ? std::isnan(at(row)) && !std::isnan(at(best))
                                                                            : comes_first(at(row), at(best), largest);
            if (better || (last && equal)) best = row;
          }
          ASSERT_EQ(found[static_cast<size_t>(c)], best) << "column " << c << " of " << length << " rows";
        }
      }
    }
  }
}

TEST_P(RowSearchTest, selects_words_by_a_condition) {
  for (const int64_t count : {0, 1, 15, 16, 17, 100}) {
    std::vector<uint32_t> a(static_cast<size_t>(count) + 1), b(a.size()), y(a.size(), 7);
    const auto condition = std::make_unique<bool[]>(a.size());
    for (size_t i = 0; i < a.size(); ++i) {
      a[i] = static_cast<uint32_t>(i * 2654435761u);
      b[i] = ~a[i];
      condition[i] = i % 3 == 0 || i % 7 == 2;
    }
    for (int steps = 0; steps < 4; ++steps) {
      const int64_t a_step = steps % 2, b_step = steps / 2;
      select_words(condition.get(), a.data(), a_step, b.data(), b_step, y.data(), count);
      for (int64_t i = 0; i < count; ++i) {
        const size_t k = static_cast<size_t>(i);
        ASSERT_EQ(y[k], condition[k] ? a[static_cast<size_t>(i * a_step)] : b[static_cast<size_t>(i * b_step)]) << i << " of " << count;
      }
      ASSERT_EQ(y.back(), 7u);
    }
  }
}

RH_EVERY_ISA(RowSearchTest);

}  // namespace
}  // namespace rh::compute
