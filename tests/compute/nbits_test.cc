#include "compute/quant/nbits.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "compute/support.h"

namespace rh::compute {
namespace {

enum class Zeros : uint8_t { none, codes, numbers };

struct Case {
  int bits;
  int64_t block, m, n, k;
  Zeros zeros;
  bool has_groups, has_bias;
  int shift;  ///< of the codes in memory, which need not lie on whole words
};

std::ostream& operator<<(std::ostream& out, const Case& c) {
  return out << c.bits << " bits, blocks of " << c.block << ", " << c.m << "x" << c.n << "x" << c.k << " zero points "
             << static_cast<int>(c.zeros) << " groups " << c.has_groups << " bias " << c.has_bias << " shift " << c.shift;
}

/// A matrix with its memory, and what it stands for by the definition.
struct Weights {
  std::vector<uint8_t> bytes;
  std::vector<float> scales;
  std::vector<uint8_t> zero_codes;
  std::vector<float> zero_points;
  std::vector<int32_t> groups;
  NBitsMatrix matrix;

  explicit Weights(const Case& c) {
    matrix = {.n = c.n, .k = c.k, .bits = c.bits, .block = c.block};
    std::mt19937 engine(7);
    bytes.resize(static_cast<size_t>(c.n * matrix.row_bytes() + c.shift));
    for (uint8_t& byte : bytes) byte = static_cast<uint8_t>(engine() >> 8);
    scales = random_values(c.n * matrix.blocks(), 8, 0.01, 0.1);
    zero_codes.resize(scales.size());
    for (uint8_t& zero : zero_codes) zero = static_cast<uint8_t>(engine() % (1u << c.bits));
    groups.resize(static_cast<size_t>(c.k));
    for (int32_t& group : groups) group = static_cast<int32_t>(engine() % static_cast<uint32_t>(matrix.blocks()));
    matrix.data = bytes.data() + c.shift;
    matrix.scales = scales.data();
    zero_points = random_values(static_cast<int64_t>(scales.size()), 9, 0.0, (1 << c.bits) - 1);
    if (c.zeros == Zeros::codes) matrix.zero_codes = zero_codes.data();
    if (c.zeros == Zeros::numbers) matrix.zero_points = zero_points.data();
    if (c.has_groups) matrix.block_of_k = groups.data();
  }

  int64_t scale_of(int64_t row, int64_t k) const {
    return row * matrix.blocks() + (matrix.block_of_k ? matrix.block_of_k[k] : k / matrix.block);
  }
  /// What the zero point stands for.
  double zero_at(int64_t row, int64_t k) const {
    const int64_t at = scale_of(row, k);
    return double{matrix.zero_point(at)} * double{matrix.scales[at]};
  }
  /// What the middle of the range stands for.
  double middle_at(int64_t row, int64_t k) const { return (1 << (matrix.bits - 1)) * double{matrix.scales[scale_of(row, k)]}; }
  double at(int64_t row, int64_t k) const {
    const int64_t bit = k * matrix.bits;
    const int code = matrix.data[row * matrix.row_bytes() + bit / 8] >> (bit % 8) & ((1 << matrix.bits) - 1);
    return code * double{matrix.scales[scale_of(row, k)]} - zero_at(row, k);
  }
};

/// The largest whole number that a block of A has where it is rounded; 0 where it is not.
float most_of(const Case& c, NBitsLeft left) {
  const bool fits = c.block >= 16 && c.block <= 256 && std::has_single_bit(static_cast<uint64_t>(c.block)) && !c.has_groups;
  if (left == NBitsLeft::exact || !fits || c.zeros == Zeros::numbers) return 0;
  if (!cpu_features().avx512_vnni) {  // few rows alone
    const bool by_dots = cpu_features().avx2 && c.m <= 4 && c.bits != 2 && c.block >= 32;
    return left == NBitsLeft::bytes && by_dots ? 127 : 0;
  }
  const bool fits_bytes = c.bits != 2 || (c.block >= 32 && c.block <= 128);
  return left == NBitsLeft::bytes && fits_bytes ? 127 : 32639;
}

/// A row of A as the product takes it, and the largest magnitude of each of its blocks.
struct Row {
  std::vector<double> values, sizes;

  Row(const float* row, const NBitsMatrix& matrix, float most) : values(row, row + matrix.k), sizes(static_cast<size_t>(matrix.blocks())) {
    for (int64_t b = 0; b < matrix.blocks(); ++b) {
      const int64_t begin = b * matrix.block, end = std::min(matrix.k, begin + matrix.block);
      float size = 0;
      for (int64_t k = begin; k < end; ++k) size = std::max(size, std::abs(row[k]));
      sizes[static_cast<size_t>(b)] = size;
      const float factor = most / size, scale = size / most;
      for (int64_t k = begin; most > 0 && k < end; ++k)
        values[static_cast<size_t>(k)] = size > 0 ? std::nearbyint(row[k] * factor) * double{scale} : 0;
    }
  }
};

/// Every element within 1e-6 x sum |a b| of the product by A as it is rounded; where it is, or where they are no whole numbers, zero points
/// may be taken off the sums.
void check(const Case& c, NBitsLeft left, const Parallel& parallel) {
  SCOPED_TRACE(testing::Message() << c << " left " << static_cast<int>(left));
  const Weights weights(c);
  const std::vector<float> a = random_values(c.m * c.k, 1), bias = random_values(c.n, 2);
  std::vector<float> y(static_cast<size_t>(c.m * c.n), 12345.0f);
  nbits_multiply(weights.matrix, c.m, a.data(), c.has_bias ? bias.data() : nullptr, y.data(), parallel, left);
  for (int64_t i = 0; i < c.m; ++i) {
    const float most = most_of(c, left);
    const bool late_zeros = most > 0 || c.zeros == Zeros::numbers;
    const Row row(a.data() + i * c.k, weights.matrix, most);
    for (int64_t j = 0; j < c.n; ++j) {
      double expected = c.has_bias ? double{bias[static_cast<size_t>(j)]} : 0, bound = 1e-6 * std::abs(expected) + 1e-30;
      for (int64_t k = 0; k < c.k; ++k) {
        const double product = row.values[static_cast<size_t>(k)] * weights.at(j, k);
        expected += product;
        bound += 1e-6 * std::abs(product);
        if (late_zeros) bound += 1e-6 * row.sizes[static_cast<size_t>(k / c.block)] * (weights.zero_at(j, k) + weights.middle_at(j, k));
      }
      ASSERT_NEAR(y[static_cast<size_t>(i * c.n + j)], expected, bound) << "at " << i << ", " << j;
    }
  }
}

/// A row with a NaN or an infinity has nothing finite, and the others are as they were; zeros give zeros, and so do tiny numbers, nearly.
void check_odd_numbers(const Case& c, NBitsLeft left) {
  SCOPED_TRACE(testing::Message() << c << " left " << static_cast<int>(left));
  const Weights weights(c);
  for (const int64_t m : {1, 6}) {
    std::vector<float> a = random_values(m * c.k, 3), y(static_cast<size_t>(m * c.n));
    const auto run = [&] { nbits_multiply(weights.matrix, m, a.data(), nullptr, y.data(), Parallel(), left); };
    for (const float odd : {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity()}) {
      a[40] = odd;
      run();
      for (int64_t i = 0; i < m * c.n; ++i) EXPECT_EQ(std::isfinite(y[static_cast<size_t>(i)]), i >= c.n) << i;
    }
    std::fill(a.begin(), a.end(), 0.0f);
    run();
    for (const float value : y) EXPECT_EQ(value, 0.0f);
    std::fill(a.begin(), a.end(), 1e-38f);
    run();
    for (const float value : y) EXPECT_NEAR(value, 0.0, 1e-35);
  }
}

/// An instruction set and how exactly A is read.
struct Way {
  const char* isa;
  NBitsLeft left;
};
class NBitsTest : public testing::TestWithParam<Way> {
 protected:
  NBitsTest() : scope_(lowered(cpu_features(), GetParam().isa)) {}

 private:
  ScopedCpuFeatures scope_;
};
std::vector<Way> ways() {
  std::vector<Way> all;
  for (const char* isa : int8_isas()) {
    for (const NBitsLeft left : {NBitsLeft::exact, NBitsLeft::rounded, NBitsLeft::bytes}) all.push_back({isa, left});
  }
  return all;
}

TEST_P(NBitsTest, EveryBlockSize) {
  for (const int bits : {2, 4, 8}) {
    for (const int64_t block : {16, 32, 64, 128, 256}) {
      for (const int64_t m : {1, 2, 3, 4, 7, 13}) {
        for (const int64_t k : {int64_t{1}, block, 3 * block, int64_t{333}}) {
          const auto zeros = static_cast<Zeros>((m + k) % 3);
          check({bits, block, m, 37, k, zeros, false, m % 2 == 0, 0}, GetParam().left, Parallel());
        }
      }
    }
  }
}

TEST_P(NBitsTest, DeepBlocksThreadsGroupsAndUnalignedCodes) {
  for (const int bits : {2, 4, 8}) {
    for (const int64_t m : {1, 6, 40}) {
      check({bits, 32, m, 130, 900, Zeros::codes, false, true, 1}, GetParam().left, three_threads());
      check({bits, 128, m, 65, 1700, Zeros::none, false, false, 3}, GetParam().left, three_threads());
      check({bits, 16, m, 40, 1100, Zeros::numbers, false, true, 0}, GetParam().left, three_threads());
      check({bits, 32, m, 33, 96, Zeros::codes, true, true, 0}, GetParam().left, three_threads());
      check({bits, 24, m, 33, 100, Zeros::codes, false, true, 0}, GetParam().left, three_threads());
    }
    // More rows than are whole numbers together.
    check({bits, 32, 490, 35, 70, Zeros::codes, false, true, 0}, GetParam().left, three_threads());
  }
}

TEST_P(NBitsTest, RowsOfZerosOfNothingFiniteAndOfTinyNumbers) {
  for (const int bits : {2, 4, 8}) check_odd_numbers({bits, 32, 6, 40, 96, Zeros::codes, false, false, 0}, GetParam().left);
  check_odd_numbers({4, 32, 6, 40, 96, Zeros::numbers, false, false, 0}, GetParam().left);
}

TEST_P(NBitsTest, ThreadsDoNotChangeTheBits) {
  const Case c{4, 32, 70, 130, 900, Zeros::codes, false, true, 0};
  const Weights weights(c);
  const std::vector<float> a = random_values(c.m * c.k, 1);
  std::vector<float> one(static_cast<size_t>(c.m * c.n)), three(one.size());
  nbits_multiply(weights.matrix, c.m, a.data(), nullptr, one.data(), Parallel(), GetParam().left);
  nbits_multiply(weights.matrix, c.m, a.data(), nullptr, three.data(), three_threads(), GetParam().left);
  EXPECT_EQ(one, three);
}

INSTANTIATE_TEST_SUITE_P(, NBitsTest, testing::ValuesIn(ways()), [](const auto& info) {
  return std::string(info.param.isa) + (info.param.left == NBitsLeft::exact     ? ""
                                        : info.param.left == NBitsLeft::rounded ? "_rounded"
                                                                                : "_bytes");
});

}  // namespace
}  // namespace rh::compute
