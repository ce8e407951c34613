#include "compute/nbits.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "compute/support.h"

namespace rh::compute {
namespace {

struct Case {
  int bits;
  int64_t block, m, n, k;
  bool has_zero_points, has_groups, has_bias;
  int shift;  ///< of the codes in memory, which need not lie on whole words
};

std::ostream& operator<<(std::ostream& out, const Case& c) {
  return out << c.bits << " bits, blocks of " << c.block << ", " << c.m << "x" << c.n << "x" << c.k << " zero points " << c.has_zero_points
             << " groups " << c.has_groups << " bias " << c.has_bias << " shift " << c.shift;
}

/// A matrix with its memory, and what it stands for by the definition.
struct Weights {
  std::vector<uint8_t> bytes;
  std::vector<float> scales, zero_points;
  std::vector<int32_t> groups;
  NBitsMatrix matrix;

  explicit Weights(const Case& c) {
    matrix = {.n = c.n, .k = c.k, .bits = c.bits, .block = c.block};
    std::mt19937 engine(7);
    bytes.resize(static_cast<size_t>(c.n * matrix.row_bytes() + c.shift));
    for (uint8_t& byte : bytes) byte = static_cast<uint8_t>(engine() >> 8);
    scales = random_values(c.n * matrix.blocks(), 8, 0.01, 0.1);
    zero_points.resize(scales.size());
    for (float& zero : zero_points) zero = static_cast<float>(engine() % (1u << c.bits));
    groups.resize(static_cast<size_t>(c.k));
    for (int32_t& group : groups) group = static_cast<int32_t>(engine() % static_cast<uint32_t>(matrix.blocks()));
    matrix.data = bytes.data() + c.shift;
    matrix.scales = scales.data();
    if (c.has_zero_points) matrix.zero_points = zero_points.data();
    if (c.has_groups) matrix.block_of_k = groups.data();
  }

  double at(int64_t row, int64_t k) const {
    const int64_t bit = k * matrix.bits;
    const int code = matrix.data[row * matrix.row_bytes() + bit / 8] >> (bit % 8) & ((1 << matrix.bits) - 1);
    const int64_t block = matrix.block_of_k ? matrix.block_of_k[k] : k / matrix.block;
    const double zero = matrix.zero_points ? double{matrix.zero_points[row * matrix.blocks() + block]} : double(1 << (matrix.bits - 1));
    return (code - zero) * double{matrix.scales[row * matrix.blocks() + block]};
  }
};

/// Every element within `tolerance` x sum |a b|.
void check(const Case& c, double tolerance, const Parallel& parallel) {
  SCOPED_TRACE(testing::Message() << c);
  const Weights weights(c);
  const std::vector<float> a = random_values(c.m * c.k, 1), bias = random_values(c.n, 2);
  std::vector<float> y(static_cast<size_t>(c.m * c.n), 12345.0f);
  nbits_multiply(weights.matrix, c.m, a.data(), c.has_bias ? bias.data() : nullptr, y.data(), parallel);
  for (int64_t i = 0; i < c.m; ++i) {
    for (int64_t j = 0; j < c.n; ++j) {
      double expected = c.has_bias ? double{bias[static_cast<size_t>(j)]} : 0, size = std::abs(expected) + 1e-30;
      for (int64_t k = 0; k < c.k; ++k) {
        const double product = double{a[static_cast<size_t>(i * c.k + k)]} * weights.at(j, k);
        expected += product;
        size += std::abs(product);
      }
      ASSERT_NEAR(y[static_cast<size_t>(i * c.n + j)], expected, tolerance * size) << "at " << i << ", " << j;
    }
  }
}

class NBitsTest : public EveryIsa {};

TEST_P(NBitsTest, EveryBlockSize) {
  for (const int bits : {2, 4, 8}) {
    for (const int64_t block : {16, 32, 64, 128, 256}) {
      for (const int64_t m : {1, 2, 3, 4, 5, 13, 70}) {
        for (const int64_t k : {int64_t{1}, block, 3 * block, int64_t{333}}) {
          const bool odd = (m + k) % 2 == 1;
          check({bits, block, m, 37, k, odd, false, m % 2 == 0, 0}, 1e-6, Parallel());
        }
      }
    }
  }
}

TEST_P(NBitsTest, DeepBlocksThreadsGroupsAndUnalignedCodes) {
  for (const int bits : {2, 4, 8}) {
    for (const int64_t m : {1, 6, 40}) {
      check({bits, 32, m, 130, 900, true, false, true, 1}, 1e-6, three_threads());
      check({bits, 128, m, 65, 1700, false, false, false, 3}, 1e-6, three_threads());
      check({bits, 32, m, 33, 96, true, true, true, 0}, 1e-6, three_threads());
      check({bits, 24, m, 33, 100, true, false, true, 0}, 1e-6, three_threads());
    }
  }
}

RH_EVERY_ISA(NBitsTest);

}  // namespace
}  // namespace rh::compute
