#include "compute/elementwise/narrow_floats.h"

#include <bit>

#include "compute/support.h"

namespace rh::compute {
namespace {

class NarrowFloats : public EveryIsa {};
RH_EVERY_ISA(NarrowFloats);

template <typename T>
void check_widen() {
  std::vector<T> x(65536 + 3);
  for (size_t i = 0; i < x.size(); ++i) x[i].bits = static_cast<uint16_t>(i);
  std::vector<float> y(x.size());
  widen(x.data(), y.data(), static_cast<int64_t>(x.size()));
  for (size_t i = 0; i < x.size(); ++i) ASSERT_EQ(std::bit_cast<uint32_t>(y[i]), std::bit_cast<uint32_t>(static_cast<float>(x[i]))) << i;
}

TEST_P(NarrowFloats, WidenEveryCode) {
  check_widen<Float16>();
  check_widen<BFloat16>();
}

// Around every boundary between two narrow numbers: all high halves, with low bits at, just below and just above the half way.
template <typename T>
void check_narrow() {
  std::vector<float> x;
  for (uint32_t high = 0; high < 65536; ++high) {
    for (uint32_t low : {0u, 1u, 0xfffu, 0x1000u, 0x1001u, 0x3000u, 0x7fffu, 0x8000u, 0x8001u, 0xffffu})
      x.push_back(std::bit_cast<float>(high << 16 | low));
  }
  std::vector<T> y(x.size());
  narrow(x.data(), y.data(), static_cast<int64_t>(x.size()));
  for (size_t i = 0; i < x.size(); ++i) ASSERT_EQ(y[i].bits, T(x[i]).bits) << std::hex << std::bit_cast<uint32_t>(x[i]);
}

TEST_P(NarrowFloats, NarrowAtEveryBoundary) {
  check_narrow<Float16>();
  check_narrow<BFloat16>();
}

TEST_P(NarrowFloats, TruncateToInt32) {
  constexpr int32_t kLeast = std::numeric_limits<int32_t>::min();
  const float least = -0x1p31f, infinity = std::numeric_limits<float>::infinity();
  const std::vector<float> x{0.9f,     -0.9f,
                             2.5f,     -2.5f,
                             0x1p31f,  std::nextafter(0x1p31f, 0.0f),
                             least,    std::nextafter(least, -infinity),
                             1e20f,    -1e20f,
                             infinity, -infinity,
                             NAN,      -0.0f,
                             1.0f,     -1.0f,
                             7e8f};
  const std::vector<int32_t> expected{0,      0,      2,      -2,     kLeast, 2147483520, kLeast, kLeast,   kLeast,
                                      kLeast, kLeast, kLeast, kLeast, 0,      1,          -1,     700000000};
  for (size_t count = 0; count <= x.size(); ++count) {
    std::vector<int32_t> y(x.size(), 5);
    truncate(x.data(), y.data(), static_cast<int64_t>(count));
    for (size_t i = 0; i < x.size(); ++i) ASSERT_EQ(y[i], i < count ? expected[i] : 5) << x[i];
  }
}

}  // namespace
}  // namespace rh::compute
