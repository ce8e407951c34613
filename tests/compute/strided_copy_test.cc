#include "compute/move/strided_copy.h"

#include <gtest/gtest.h>

#include <cstring>
#include <random>
#include <vector>

namespace rh::compute {
namespace {

int64_t offset(const Shape& shape, const Shape& strides, int64_t flat) {
  int64_t at = 0;
  for (int k = shape.rank() - 1; k >= 0; --k) {
    at += flat % shape[k] * strides[k];
    flat /= shape[k];
  }
  return at;
}

struct CopyCase {
  const char* purpose;
  Shape shape, x_strides, y_strides;
  int64_t x_start = 0, y_start = 0;
};

TEST(StridedCopy, MovesEveryElementToItsPlace) {
  const std::vector<CopyCase> cases = {
      {"pairs out of rows of four", {100, 2}, {4, 1}, {2, 1}},
      {"the second pairs", {100, 2}, {4, 1}, {2, 1}, 2},
      {"pairs that lie at odd places", {100, 2}, {4, 1}, {2, 1}, 1},
      {"pairs into rows of five", {100, 2}, {2, 1}, {5, 1}, 0, 3},
      {"triples", {70, 3}, {7, 1}, {3, 1}, 2},
      {"four into rows of eight", {70, 4}, {4, 1}, {8, 1}, 0, 4},
      {"single ones", {70, 1}, {3, 1}, {1, 1}, 1},
      {"five", {70, 5}, {9, 1}, {5, 1}},
      {"few pairs", {3, 2}, {4, 1}, {2, 1}},
      {"pairs in two outer dimensions", {5, 33, 2}, {400, 6, 1}, {66, 2, 1}, 2},
      {"pairs whose outer dimension is odd", {5, 33, 2}, {401, 6, 1}, {66, 2, 1}, 2},
      {"a transposed matrix", {40, 50}, {1, 40}, {50, 1}},
      {"a transposed matrix of few columns", {40, 3}, {1, 40}, {3, 1}},
      {"one for all", {40, 3}, {0, 0}, {3, 1}},
      {"backwards", {40, 2}, {-2, 1}, {2, 1}, 78},
      {"pairs backwards", {40, 2}, {2, -1}, {2, 1}, 1},
  };
  for (const CopyCase& c : cases) {
    for (const ElementKind kind :
         {ElementKind::bytes1, ElementKind::bytes2, ElementKind::bytes4, ElementKind::bytes8, ElementKind::bytes16}) {
      SCOPED_TRACE(std::string(c.purpose) + ", " + std::to_string(element_bytes(kind)) + " bytes");
      const size_t bytes = element_bytes(kind), room = 4096 * bytes;
      std::vector<Bytes16> x(room / sizeof(Bytes16) + 1), y(x.size()), expected(x.size());
      std::mt19937_64 random(1);
      for (Bytes16& element : x) element = {random(), random()};
      auto* from = reinterpret_cast<std::byte*>(x.data()) + static_cast<size_t>(c.x_start) * bytes;
      auto* to = reinterpret_cast<std::byte*>(y.data()) + static_cast<size_t>(c.y_start) * bytes;
      auto* right = reinterpret_cast<std::byte*>(expected.data()) + static_cast<size_t>(c.y_start) * bytes;
      for (int64_t i = 0; i < c.shape.elements(); ++i) {
        const auto size = static_cast<int64_t>(bytes);
        std::memcpy(right + offset(c.shape, c.y_strides, i) * size, from + offset(c.shape, c.x_strides, i) * size, bytes);
      }
      strided_copy(kind, c.shape, from, c.x_strides, to, c.y_strides, {});
      EXPECT_EQ(std::memcmp(y.data(), expected.data(), y.size() * sizeof(Bytes16)), 0);
    }
  }
}

}  // namespace
}  // namespace rh::compute
