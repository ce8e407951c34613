#include "tensor/narrowed.h"

#include <gtest/gtest.h>

#include "tensor/extent.h"
#include "tensor/tensor.h"

namespace rh {
namespace {

template <typename T, typename From>
void expect_ends_hold() {
  constexpr From infinity = std::numeric_limits<From>::infinity();
  constexpr T least = std::numeric_limits<T>::min(), most = std::numeric_limits<T>::max();
  for (From high : {infinity, From(1e30), From(2) * static_cast<From>(most / 2 + 1)}) EXPECT_EQ(narrowed<T>(high), most) << high;
  for (From low : {-infinity, From(-1e30), static_cast<From>(least)}) EXPECT_EQ(narrowed<T>(low), least) << low;
  EXPECT_EQ(narrowed<T>(std::numeric_limits<From>::quiet_NaN()), T(0));
  EXPECT_EQ(narrowed<T>(From(99.75)), T(99));
  EXPECT_EQ(narrowed<T>(From(-0.75)), T(0));
}

TEST(Narrowed, IntegersEndAtTheirEnds) {
  expect_ends_hold<int8_t, float>();
  expect_ends_hold<uint8_t, float>();
  expect_ends_hold<int32_t, float>();
  expect_ends_hold<int64_t, float>();
  expect_ends_hold<uint64_t, float>();
  expect_ends_hold<uint32_t, double>();
  expect_ends_hold<int64_t, double>();
  expect_ends_hold<uint64_t, double>();
}

TEST(Narrowed, ElementsOfFloatsAsIntegersEndAtTheEnds) {
  const Tensor tensor = Tensor::from<float>({4}, std::vector<float>{1e30f, -1e30f, std::numeric_limits<float>::quiet_NaN(), -2.5f});
  EXPECT_EQ(element_as_int(tensor.view(), 0), std::numeric_limits<int64_t>::max());
  EXPECT_EQ(element_as_int(tensor.view(), 1), std::numeric_limits<int64_t>::min());
  EXPECT_EQ(element_as_int(tensor.view(), 2), 0);
  EXPECT_EQ(element_as_int(tensor.view(), 3), -2);
}

TEST(Extent, LeavesOutDimensionsOfNothing) {
  EXPECT_EQ(extent({}), 1);
  EXPECT_EQ(extent({2, 0, 3}), 6);
  EXPECT_EQ(extent({0, int64_t{1} << 62}), int64_t{1} << 62);
  EXPECT_EQ(extent({int64_t{1} << 32, 0, int64_t{1} << 31}), std::numeric_limits<int64_t>::max());
}

}  // namespace
}  // namespace rh
