#include "support/op_case.h"

namespace rh::test {
namespace {

/// A product of [.., k] with weights [n, k]; `more` are the inputs after the scales.
OpCase product(Shape a, int n, int k, int bits, int block, std::vector<Input> more, const char* purpose,
               std::vector<std::string> fails = {}) {
  const int blocks = (k + block - 1) / block;
  std::vector<Input> inputs{normal(std::move(a)), uniform({n, blocks, block * bits / 8}, 0, 256).as(DType::uint8).constant(),
                            uniform({n, blocks}, 0.01, 0.1).constant()};
  inputs.insert(inputs.end(), more.begin(), more.end());
  return {1,
          {attr("K", k), attr("N", n), attr("bits", bits), attr("block_size", block)},
          inputs,
          purpose,
          std::move(fails),
          1,
          1e-5,
          "com.microsoft"};
}
/// The same at an accuracy level. At level 4 the stock library rounds A to 8 bits.
OpCase at_level(int level, OpCase row) {
  row.attributes.push_back(attr("accuracy_level", level));
  if (level == 4) row.tolerance = 0.02;
  return row;
}
Input codes(Shape shape) { return uniform(std::move(shape), 0, 256).as(DType::uint8).constant(); }

/// The same without weights.
OpCase left_out(OpCase row, Shape b) {
  row.inputs[1] = values(std::move(b), {}).as(DType::uint8);
  row.inputs[2] = values({8, 0}, {});
  return row;
}

const std::vector<OpCase> kMatMulNBits = {
    product({1, 64}, 12, 64, 4, 32, {}, "one row, middle as zero point"),
    product({1, 96}, 7, 96, 4, 32, {codes({7, 2})}, "zero points packed, an odd number of blocks"),
    product({3, 70}, 9, 70, 4, 32, {codes({9, 2})}, "three rows, an unfinished block"),
    product({4, 256}, 9, 256, 4, 128, {codes({9, 1})}, "four rows, long blocks"),
    product({2, 5, 64}, 70, 64, 4, 16, {codes({70, 2})}, "many rows, short blocks"),
    product({2, 64}, 8, 64, 8, 32, {codes({8, 2})}, "8 bits"),
    product({1, 210}, 5, 210, 4, 32, {codes({5, 4})}, "one row, seven blocks, the last one not whole"),
    product({1, 600}, 5, 600, 4, 64, {codes({5, 5})}, "one row, ten blocks of 64"),
    product({3, 350}, 5, 350, 4, 32, {codes({5, 6})}, "three rows, eleven blocks"),
    product({1, 70}, 9, 70, 8, 16, {}, "8 bits, one row, short blocks"),
    product({3, 200}, 9, 200, 8, 128, {codes({9, 2})}, "8 bits, three rows, an unfinished block"),
    product({4, 64}, 9, 64, 8, 32, {absent(), absent(), normal({9})}, "8 bits, four rows and bias"),
    product({7, 70}, 70, 70, 8, 16, {codes({70, 5})}, "8 bits, many rows"),
    product({2, 64}, 8, 64, 2, 32, {codes({8, 1})}, "2 bits"),
    product({1, 64}, 8, 64, 4, 32, {absent(), absent(), normal({8})}, "bias"),
    product({6, 64}, 8, 64, 4, 32, {codes({8, 1}), absent(), normal({8})}, "many rows and bias"),
    product({1, 64}, 8, 64, 4, 32, {uniform({8, 2}, 2, 9).constant()}, "zero points as numbers"),
    product({2, 64}, 8, 64, 4, 32, {absent(), uniform({64}, 0, 2).as(DType::int32).constant()}, "blocks by index"),
    at_level(1, product({1, 96}, 7, 96, 4, 32, {codes({7, 2})}, "float at one row")),
    at_level(1, product({9, 96}, 40, 96, 8, 32, {codes({40, 3})}, "float at many rows")),
    at_level(4, product({1, 512}, 37, 512, 4, 32, {codes({37, 8})}, "8 bits of A are enough, one row")),
    at_level(4, product({1, 300}, 37, 300, 4, 16, {codes({37, 10})}, "8 bits of A are enough, short blocks")),
    at_level(4, product({2, 700}, 9, 700, 4, 256, {}, "8 bits of A are enough, long blocks")),
    at_level(4, product({3, 333}, 70, 333, 4, 64, {absent(), absent(), normal({70})}, "8 bits of A are enough, three rows and bias")),
    at_level(4, product({23, 333}, 70, 333, 4, 128, {codes({70, 2}), absent(), normal({70})}, "8 bits of A are enough, many rows")),
    at_level(4, product({1, 333}, 19, 333, 8, 32, {codes({19, 11})}, "8 bits of A and of B, one row")),
    at_level(4, product({2, 7, 333}, 70, 333, 8, 128, {codes({70, 3})}, "8 bits of A and of B, many rows")),
    at_level(4, product({3, 333}, 19, 333, 8, 32, {codes({19, 11})}, "8 bits of A and of B, three rows")),
    at_level(4, product({9, 333}, 40, 333, 2, 64, {codes({40, 2})}, "8 bits of A and 2 of B, many rows")),
    at_level(4, product({5, 64}, 8, 64, 4, 32, {uniform({8, 2}, 2, 9).constant()}, "8 bits of A are enough, zero points as numbers")),
    left_out(product({2, 3, 64}, 8, 64, 4, 32, {}, "no weights: zeros"), {8, 2, 0}),
    left_out(product({2, 64}, 8, 64, 4, 32, {absent(), absent(), normal({8})}, "no weights: the bias"), {0, 0, 0}),
    left_out(product({2, 64}, 8, 64, 4, 32, {}, "no weights of another shape", {"[0, 3, 16]", "[8, 2, 16]"}), {0, 3, 16}),
    product({0, 64}, 8, 64, 4, 32, {}, "no rows"),
    product({2, 60}, 8, 64, 4, 32, {}, "A too short", {"[2, 60]", "64"}),
    product({2, 64}, 8, 64, 3, 32, {}, "3 bits", {"bits", "3"}),
    product({2, 64}, 8, 64, 4, 24, {}, "block size", {"block_size", "24"}),
    product({2, 64}, 8, 64, 4, 32, {codes({8, 2})}, "too many zero points", {"zero_points", "[8, 2]"}),
    product({2, 64}, 8, 64, 4, 32, {codes({8, 1}), uniform({64}, 2, 3).as(DType::int32)}, "index past the end", {"g_idx", "2"}),
};
RH_OP_TEST(MatMulNBits, kMatMulNBits, (Types<float, Float16, BFloat16>::set))

}  // namespace
}  // namespace rh::test
