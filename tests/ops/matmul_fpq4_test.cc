#include <random>

#include "support/op_case.h"

namespace rh::test {
namespace {

/// Blocks of 32 codes, each behind its scale and, for types other than 0, a zero point.
Input blocks(int64_t count, bool has_zero_points) {
  std::mt19937 random(1);
  const auto below = [&](unsigned end) { return static_cast<double>(random() % end); };
  std::vector<double> bytes;
  for (int64_t i = 0; i < count; ++i) {
    bytes.insert(bytes.end(), {below(256), below(256), 0x80 + below(128), 0x3f});  // a float in [1, 2)
    if (has_zero_points) bytes.push_back(below(16));
    for (int k = 0; k < 16; ++k) bytes.push_back(below(256));
  }
  return values({static_cast<int64_t>(bytes.size())}, bytes).as(DType::uint8);
}

OpCase product(Shape a, int64_t n, int64_t k, int type, bool constant, const char* purpose, std::vector<std::string> fails = {}) {
  Input b = blocks(n * ((k + 31) / 32), type != 0), sizes = ints({k, n});
  if (constant) b = b.constant(), sizes = sizes.constant();
  return contributed({attr("blk_quant_type", type)}, {normal(std::move(a)), b, sizes}, purpose, std::move(fails), 1, 1e-5);
}

const std::vector<OpCase> kMatMulFpQ4 = {
    product({1, 64}, 12, 64, 0, true, "one row"),
    product({1, 70}, 9, 70, 1, true, "one row, zero points, an unfinished block"),
    product({7, 33}, 70, 33, 0, true, "many rows"),
    product({2, 3, 96}, 5, 96, 1, true, "a batch"),
    product({2, 70}, 3, 70, 0, false, "weights at run time"),
    product({2, 70}, 3, 70, 1, false, "weights and zero points at run time"),
    product({2, 32}, 3, 32, 2, true, "other types"),
    product({40}, 3, 40, 1, true, "a vector"),
    product({0, 32}, 3, 32, 1, true, "no rows"),
    product({2, 31}, 3, 32, 1, true, "A too short", {"[2, 31]", "32 (K)"}),
    contributed({}, {normal({2, 32}), blocks(3, true), ints({32, 4})}, "too few blocks", {"[63]", "4 blocks of 21 bytes"}),
    contributed({}, {normal({2, 32}), blocks(3, true), ints({32, -3})}, "sizes", {"[32, -3]"}),
    contributed({}, {normal({2, 32}), blocks(3, true), ints({32})}, "one size", {"B_shape", "[1]"}),
};
RH_OP_TEST(MatMulFpQ4, kMatMulFpQ4, Types<float>::set)

}  // namespace
}  // namespace rh::test
