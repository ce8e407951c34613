#include "compute/gemm/integer_gemm.h"

#include "compute/gemm/gemm_reference.h"
#include "compute/support.h"

namespace rh::compute {
namespace {

class IntegerGemm : public EveryIsa {};
RH_EVERY_ISA(IntegerGemm);

template <typename T>
void has_the_bits_of_the_plain_product() {
  std::mt19937_64 engine(1);
  for (const auto& [m, n, k] :
       {std::array<int64_t, 3>{1, 1, 1}, {1, 300, 20}, {4, 16, 0}, {3, 64, 5}, {5, 17, 9}, {20, 33, 8}, {70, 130, 31}, {64, 1, 40}}) {
    std::vector<T> a(static_cast<size_t>(m * k)), b(static_cast<size_t>(k * n)), c(static_cast<size_t>(m * n + 1), T(7)), expected = c;
    for (std::vector<T>* values : {&a, &b})
      for (T& value : *values) value = static_cast<T>(engine());  // whose products wrap around
    integer_gemm(a.data(), b.data(), c.data(), m, n, k, three_threads());
    gemm_reference(GemmArgs<T>{.m = m, .n = n, .k = k}, a.data(), b.data(), expected.data(), Parallel());
    ASSERT_EQ(c, expected) << m << " x " << n << " x " << k;
  }
}

TEST_P(IntegerGemm, has_the_bits_of_the_plain_product) {
  has_the_bits_of_the_plain_product<int32_t>();
  has_the_bits_of_the_plain_product<int64_t>();
}

}  // namespace
}  // namespace rh::compute
