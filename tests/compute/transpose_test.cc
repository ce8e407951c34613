#include "compute/move/transpose.h"

#include <algorithm>
#include <cstring>
#include <numeric>

#include "compute/support.h"

namespace rh::compute {
namespace {

/// Every permutation of these shapes, for every element size, against index arithmetic.
TEST(Transpose, all_permutations_of_all_sizes) {
  const std::vector<std::vector<int64_t>> shapes{{},          {5},          {3, 4},       {70, 33},       {1, 6, 1},       {2, 3, 4},
                                                 {20, 1, 31}, {2, 3, 4, 5}, {1, 2, 1, 3}, {3, 17, 2, 16}, {2, 1, 3, 2, 2}, {4, 0, 3},
                                                 {9, 20, 2},  {3, 5, 4, 2}};
  for (const auto& dims : shapes) {
    const int64_t count = std::accumulate(dims.begin(), dims.end(), int64_t{1}, std::multiplies<>());
    std::vector<int64_t> permutation(dims.size());
    std::iota(permutation.begin(), permutation.end(), 0);
    std::vector<int64_t> strides(dims.size(), 1);
    for (size_t i = dims.size(); i-- > 1;) strides[i - 1] = strides[i] * dims[i];
    do {
      for (const size_t bytes : {1, 2, 4, 8, 16}) {
        std::vector<unsigned char> x(static_cast<size_t>(count) * bytes), y(x.size() + 1, 0xee), apart(x.size() + bytes);
        for (size_t i = 0; i < x.size(); ++i) x[i] = static_cast<unsigned char>(i * 31 + i / 251);
        transpose(x.data(), dims, permutation, bytes, y.data(), three_threads());
        transpose(x.data(), dims, permutation, bytes, apart.data() + bytes, {});  // aligned for an element, not for two
        ASSERT_EQ(y.back(), 0xee);
        ASSERT_TRUE(std::equal(y.begin(), y.end() - 1, apart.begin() + static_cast<int64_t>(bytes)));
        for (int64_t at = 0; at < count; ++at) {
          int64_t rest = at, from = 0;
          for (size_t i = dims.size(); i-- > 0;) {
            const size_t axis = static_cast<size_t>(permutation[i]);
            from += rest % dims[axis] * strides[axis];
            rest /= dims[axis];
          }
          ASSERT_EQ(std::memcmp(&y[static_cast<size_t>(at) * bytes], &x[static_cast<size_t>(from) * bytes], bytes), 0)
              << "rank " << dims.size() << ", " << bytes << " bytes, at " << at;
        }
      }
    } while (std::next_permutation(permutation.begin(), permutation.end()));
  }
}

}  // namespace
}  // namespace rh::compute
