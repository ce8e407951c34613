#include <gtest/gtest.h>

#include "base/cpu_features.h"
#include "compute/conv/conv_variants.h"

namespace rh::compute {
namespace {

/// Sizes that a file merely states are not counted one by one.
TEST(ConvCosts, of_depths_without_end_are_told_at_once) {
  Window w;
  w.input[0] = w.output[0] = int64_t{1} << 40;
  w.kernel[0] = int64_t{1} << 30;
  w.pad_begin[0] = int64_t{1} << 29;
  EXPECT_FALSE(choose_conv_variant<float>({1, 1, 1}, {&w, 1}, ConvAccuracy::usual, false, {}).name.empty());
}

/// A way that suits one of them alone, as taking planes apart by a dilation that is larger than some, is not taken for all.
TEST(ConvCosts, of_several_sizes_count_by_what_each_takes_at_best) {
  CpuFeatures cpu = cpu_features();
  if (!cpu.avx512) GTEST_SKIP() << "costs were measured with AVX-512";
  const auto windows = [](std::initializer_list<int64_t> sizes, int64_t kernel, int64_t dilation) {
    std::vector<Window> list;
    for (const int64_t size : sizes) {
      Window& w = list.emplace_back();
      for (int d = 1; d < 3; ++d) {
        w.input[d] = w.output[d] = size;
        w.kernel[d] = kernel;
        w.dilation[d] = dilation;
        w.pad_begin[d] = dilation * (kernel / 2);
      }
    }
    return list;
  };
  const auto chosen = [](const ConvChannels& channels, std::span<const Window> of) {
    return choose_conv_variant<float>(channels, of, ConvAccuracy::usual, false, {}).name;
  };
  EXPECT_EQ(chosen({96, 64, 1}, windows({300}, 3, 12)), "phases");
  EXPECT_NE(chosen({96, 64, 1}, windows({20, 10, 48}, 3, 12)), "phases");
  EXPECT_NE(chosen({96, 64, 1}, windows({300, 10, 48}, 3, 12)), "phases");
  EXPECT_EQ(chosen({40, 40, 40}, windows({10, 4, 24}, 9, 1)), "depthwise");
}

}  // namespace
}  // namespace rh::compute
