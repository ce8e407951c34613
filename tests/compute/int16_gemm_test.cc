#include "compute/quant/int16_gemm.h"

#include "compute/support.h"

namespace rh::compute {
namespace {

class Int16GemmTest : public EveryIsa {};
RH_EVERY_ISA(Int16GemmTest);

template <typename A, typename B>
void check(int64_t m, int64_t k, int64_t n) {
  SCOPED_TRACE(testing::Message() << m << "x" << k << "x" << n);
  const auto numbers = [](int64_t count, uint32_t seed) { return random_values<int32_t>(count + 1, seed, -70000, 70000); };
  const std::vector<int32_t> a_drawn = numbers(m * k, 1), b_drawn = numbers(k * n, 2);
  const std::vector<A> a(a_drawn.begin(), a_drawn.end());
  const std::vector<B> b(b_drawn.begin(), b_drawn.end());
  std::vector<int32_t> found(static_cast<size_t>(m * n), 12345);
  for (int64_t begin = 0; begin < n; begin += 50) int16_gemm(m, k, n, begin, std::min(n, begin + 50), a.data(), b.data(), found.data());
  for (int64_t i = 0; i < m; ++i) {
    for (int64_t j = 0; j < n; ++j) {
      uint32_t sum = 0;
      for (int64_t p = 0; p < k; ++p) {
        sum += static_cast<uint32_t>(int64_t{a[static_cast<size_t>(i * k + p)]} * int64_t{b[static_cast<size_t>(p * n + j)]});
      }
      ASSERT_EQ(found[static_cast<size_t>(i * n + j)], static_cast<int32_t>(sum)) << i << ", " << j;
    }
  }
}

TEST_P(Int16GemmTest, SumsWrap) {
  for (const int64_t m : {0, 1, 3, 4, 9}) {
    for (const int64_t n : {1, 15, 16, 70, 130}) {
      for (const int64_t k : {0, 1, 37}) {
        check<int16_t, int16_t>(m, k, n);
        check<int16_t, uint16_t>(m, k, n);
        check<uint16_t, int16_t>(m, k, n);
        check<uint16_t, uint16_t>(m, k, n);
      }
    }
  }
}

}  // namespace
}  // namespace rh::compute
