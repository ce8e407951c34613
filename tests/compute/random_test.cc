#include "compute/random.h"

#include <gtest/gtest.h>

#include <cmath>

namespace rh::compute {
namespace {

TEST(RandomStream, GivesTheNumbersOfThePaper) {  // known answers of Philox4x32-10
  EXPECT_EQ(RandomStream(0, 0).block(0), (std::array<uint32_t, 4>{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  EXPECT_EQ(RandomStream(~uint64_t{0}, ~uint64_t{0}).block(~uint64_t{0}),
            (std::array<uint32_t, 4>{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
}

TEST(RandomStream, HasTheDistributionsItNames) {
  const RandomStream random(7, 1);
  constexpr int kCount = 200000;
  double uniform = 0, uniform_square = 0, normal = 0, normal_square = 0, normal_fourth = 0;
  for (int i = 0; i < kCount; ++i) {
    const double u = random.uniform(static_cast<uint64_t>(i)), n = random.normal(static_cast<uint64_t>(i));
    ASSERT_TRUE(u >= 0 && u < 1);
    uniform += u, uniform_square += u * u;
    normal += n, normal_square += n * n, normal_fourth += n * n * n * n;
  }
  EXPECT_NEAR(uniform / kCount, 0.5, 0.005);
  EXPECT_NEAR(uniform_square / kCount, 1.0 / 3, 0.005);
  EXPECT_NEAR(normal / kCount, 0, 0.02);
  EXPECT_NEAR(normal_square / kCount, 1, 0.02);
  EXPECT_NEAR(normal_fourth / kCount, 3, 0.15);
}

TEST(RandomStream, KeepsToTheBitsAskedFor) {
  for (uint64_t i = 0; i < 1000; ++i) {
    const double scaled = RandomStream(1, 2).uniform(i, 8) * 256;
    ASSERT_EQ(scaled, std::floor(scaled));
  }
}

}  // namespace
}  // namespace rh::compute
