#include "compute/random.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <vector>

#include "compute/support.h"

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
  std::vector<double> uniforms(kCount), normals(kCount);
  random.uniform(0, kCount, 53, uniforms.data());
  random.normal(0, kCount, normals.data());
  for (size_t i = 0; i < kCount; ++i) {
    const double u = uniforms[i], n = normals[i];
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

/// The upper bits of two words of a block as a number below 1.
double fraction(uint32_t high, uint32_t low, int bits) {
  return std::ldexp(static_cast<double>((static_cast<uint64_t>(high) << 32 | low) >> (64 - bits)), -bits);
}

TEST(RandomStream, FillsWithTheNumbersOfItsBlocks) {  // beyond 32 bits of indices, and with a rest beside whole vectors
  const RandomStream random(0x123456789abcdef0, 0xfedcba9876543210);
  constexpr uint64_t kFirst = 0xfffffff0;
  constexpr size_t kCount = 37;
  std::array<double, kCount + 1> out{};
  for (const int bits : {1, 8, 24, 53}) {
    out.back() = -1;
    random.uniform(kFirst, kCount, bits, out.data());
    for (size_t i = 0; i < kCount; ++i) {
      const auto c = random.block(kFirst + i);
      ASSERT_EQ(out[i], fraction(c[0], c[1], bits)) << bits << " bits, " << i;
    }
    ASSERT_EQ(out.back(), -1);
  }
  random.normal(kFirst, kCount, out.data());
  for (size_t i = 0; i < kCount; ++i) {
    const auto c = random.block(kFirst + i);
    const double radius = std::sqrt(-2 * std::log(fraction(c[0], c[1], 53) + 0x1p-53));
    ASSERT_NEAR(out[i], radius * std::cos(2 * std::numbers::pi * fraction(c[2], c[3], 53)), 1e-14) << i;
  }
  ASSERT_EQ(out.back(), -1);
}

class RandomFloats : public EveryIsa {};
RH_EVERY_ISA(RandomFloats);

TEST_P(RandomFloats, AreTheWordsOfTheirBlocks) {  // wherever a piece begins and ends
  const RandomStream random(0x123456789abcdef0, 3);
  constexpr uint64_t kStart = uint64_t{0x1fffffffe} * 4;
  for (const uint64_t skipped : {0, 1, 2, 3, 30}) {
    for (const size_t count : {size_t{0}, size_t{1}, size_t{2}, size_t{3}, size_t{31}, size_t{32}, size_t{33}, size_t{100}}) {
      std::vector<float> out(count + 1, -9.0f);
      random.uniform(kStart + skipped, static_cast<int64_t>(count), -1, 2, out.data());
      for (size_t i = 0; i < count; ++i) {
        const uint64_t n = kStart + skipped + i;
        ASSERT_EQ(out[i], 2 * std::ldexp(static_cast<float>(random.block(n / 4)[n % 4] >> 8), -24) - 1) << n << ", " << count;
      }
      ASSERT_EQ(out.back(), -9.0f);
    }
  }
}

TEST_P(RandomFloats, CoverTheirRangeEvenly) {
  constexpr size_t kCount = 1 << 20, kBins = 64;
  std::vector<float> out(kCount);
  RandomStream(5, 9).uniform(0, kCount, 2, 3, out.data());
  double mean = 0, neighbours = 0;
  std::array<int, kBins> bins{};
  for (size_t i = 0; i < kCount; ++i) {
    ASSERT_TRUE(out[i] >= 2 && out[i] <= 5);
    const double u = (static_cast<double>(out[i]) - 2) / 3;
    mean += u / kCount;
    if (i > 0) neighbours += (u - 0.5) * ((static_cast<double>(out[i - 1]) - 2) / 3 - 0.5) / kCount;
    ++bins[std::min(kBins - 1, static_cast<size_t>(u * kBins))];
  }
  double chi_square = 0;
  for (const int bin : bins) chi_square += std::pow(bin - double{kCount} / kBins, 2) / (double{kCount} / kBins);
  EXPECT_NEAR(mean, 0.5, 0.0015);
  EXPECT_NEAR(neighbours, 0, 0.0005);
  EXPECT_LT(chi_square, 120);  // 63 is expected, with a deviation of 11
}

}  // namespace
}  // namespace rh::compute
