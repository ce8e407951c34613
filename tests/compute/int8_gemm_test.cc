#include "compute/quant/int8_gemm.h"

#include <algorithm>
#include <cstring>

#include "base/shared_bytes.h"
#include "compute/quant/int8_kernels.h"
#include "compute/support.h"

namespace rh::compute {
namespace {

std::vector<uint8_t> bytes(int64_t count, uint32_t seed) {
  std::mt19937 engine(seed);
  std::vector<uint8_t> values(static_cast<size_t>(count));
  for (uint8_t& value : values) {
    const uint32_t draw = engine();
    value = draw % 5 == 0 ? 0xff : draw % 5 == 1 ? 0x80 : draw % 5 == 2 ? 0x7f : static_cast<uint8_t>(draw >> 8);  // many extremes
  }
  return values;
}

struct Signs {
  bool a, b;
};

/// Small numbers but for a few extremes, once they are signed.
std::vector<uint8_t> small_bytes(int64_t count, bool is_signed) {
  std::vector<uint8_t> values = random_values<uint8_t>(count, 2, 0, 100);
  for (size_t i = 0; i < values.size(); ++i) {
    values[i] = i % 1201 == 1200 ? 0x80 : i % 1201 == 601 ? 0x7f : static_cast<uint8_t>(values[i] - 50);
    if (!is_signed) values[i] ^= 0x80;
  }
  return values;
}

/// Runs the product and holds every sum against the plain one.
void check(int64_t m, int64_t n, int64_t k, Signs signs, bool rows, bool columns, bool transposed, bool bias, const Parallel& parallel,
           bool small = false) {
  SCOPED_TRACE(testing::Message() << m << "x" << n << "x" << k << " signed " << signs.a << signs.b << " zero points a row " << rows
                                  << " a column " << columns << " transposed " << transposed);
  const std::vector<uint8_t> a = bytes(m * (k + 3) + 1, 1), b = small ? small_bytes(k * n + 1, signs.b) : bytes(k * n + 1, 2);
  const std::vector<int32_t> a_zero = random_values<int32_t>(m + 1, 3, signs.a ? -128 : 0, signs.a ? 127 : 255);
  const std::vector<int32_t> b_zero = random_values<int32_t>(n + 1, 4, signs.b ? -128 : 0, signs.b ? 127 : 255);
  const std::vector<int32_t> biases = random_values<int32_t>(n + 1, 5, -1e9, 1e9);
  Int8GemmArgs args{.m = m, .a = {a.data(), signs.a, k + 3}, .a_zero = {a_zero.data(), rows}, .b_zero = {b_zero.data(), columns}};
  if (bias) args.bias = biases.data();
  std::vector<uint8_t> turned(b.size());
  for (int64_t i = 0; i < k; ++i) {
    for (int64_t j = 0; j < n; ++j) turned[static_cast<size_t>(j * k + i)] = b[static_cast<size_t>(i * n + j)];
  }
  std::vector<int32_t> expected(static_cast<size_t>(m * n)), found(expected.size(), 12345);
  int8_gemm_reference(args, {b.data(), signs.b, n}, k, n, expected.data());
  const Int8Matrix right{transposed ? turned.data() : b.data(), signs.b};
  const std::shared_ptr<void> memory = packing_memory(PackedInt8Matrix::memory_bytes(k, n));
  const PackedInt8Matrix packed[] = {{right, k, n, transposed}, {right, k, n, transposed, memory.get(), parallel}};
  const auto store = [&](const Int8Tile& tile) {
    for (int64_t i = 0; i < tile.rows; ++i) {
      std::memcpy(found.data() + (tile.row + i) * n + tile.column, tile.sums + i * tile.stride,
                  static_cast<size_t>(tile.columns) * sizeof(int32_t));
    }
  };
  if (small) {
    ASSERT_TRUE(!int8_split_kernels() || &packed[0].kernels() == int8_split_kernels());
  }
  for (const PackedInt8Matrix& one : packed) {
    std::ranges::fill(found, 12345);
    int8_gemm(args, one, store, parallel);
    ASSERT_EQ(found, expected) << (&one == packed ? "shared" : "of a run");
  }
  std::ranges::fill(found, 12345);
  const bool is_done = int8_gemm_unpacked(args, {b.data(), signs.b}, k, n, store, parallel);
  ASSERT_EQ(found, is_done ? expected : std::vector<int32_t>(found.size(), 12345)) << "unpacked";
}

class Int8GemmTest : public EveryIsa {};

TEST_P(Int8GemmTest, SumsAreExact) {
  for (const Signs signs : {Signs{false, false}, Signs{false, true}, Signs{true, false}, Signs{true, true}}) {
    for (const int64_t m : {1, 2, 3, 7, 13, 29}) {
      for (const int64_t n : {1, 16, 33, 70}) {
        for (const int64_t k : {0, 1, 3, 4, 37, 64}) check(m, n, k, signs, false, false, k % 2 == 0, m % 2 == 0, Parallel());
      }
    }
    check(19, 45, 130, signs, true, false, false, true, Parallel());
    check(19, 45, 130, signs, false, true, true, false, Parallel());
    check(19, 45, 130, signs, true, true, false, true, three_threads());
    check(100, 150, 300, signs, false, false, false, true, three_threads());
    check(9, 1100, 71, signs, true, true, false, true, three_threads());
    check(24, 130, 600, signs, false, true, false, true, three_threads());
    check(1, 2500, 33, signs, false, false, false, false, Parallel());
  }
}

TEST_P(Int8GemmTest, SumsWithRestsAreExact) {
  for (const Signs signs : {Signs{false, false}, Signs{false, true}, Signs{true, false}, Signs{true, true}}) {
    for (const int64_t m : {1, 5, 13}) {
      for (const int64_t n : {7, 16, 70}) {
        for (const int64_t k : {64, 301}) check(m, n, k, signs, false, false, k % 2 == 0, m % 2 == 0, Parallel(), true);
      }
    }
    check(100, 150, 300, signs, true, true, false, true, three_threads(), true);
  }
}

TEST_P(Int8GemmTest, SumsOfExtremesAreExact) {
  // Instructions that add two products of bytes in 16 bits would saturate here.
  const std::vector<uint8_t> a(4 * 256, 255), b(256 * 16, 0x80);
  const PackedInt8Matrix packed({b.data(), true}, 256, 16, false);
  Int8GemmArgs args{.m = 4, .a = {a.data(), false}};
  int8_gemm(
      args, packed,
      [](const Int8Tile& tile) {
        for (int64_t j = 0; j < tile.columns; ++j) ASSERT_EQ(tile.sums[j], 255 * -128 * 256);
      },
      Parallel());
}

RH_EVERY_INT8_ISA(Int8GemmTest);

}  // namespace
}  // namespace rh::compute
