#include "support/op_case.h"

namespace rh::test {
namespace {

OpCase product(Shape a, int n, int k, int block, int codes, const char* purpose, std::vector<std::string> fails = {}) {
  const int weights = n * k;
  return contributed({attr("K", k), attr("N", n), attr("block_size", block), attr("quant_type", codes)},
                     {normal(std::move(a)), uniform({(weights + 1) / 2}, 0, 256).as(DType::uint8).constant(),
                      uniform({(weights + block - 1) / block}, 0.1, 1)},
                     purpose, std::move(fails), 1, 1e-5);
}

OpCase untransposed() {
  OpCase c = product({2, 3}, 3, 20, 16, 1, "weights as they are");
  c.attributes.push_back(attr("transB", 0));
  c.stock_is_wrong = true;
  return c;
}

OpCase absmax_too_short() {
  OpCase c = product({2, 20}, 3, 20, 16, 1, "absmax too short", {"absmax", "[3]", "4"});
  c.inputs[2].shape = {3};
  return c;
}

const std::vector<OpCase> kMatMulBnb4 = {
    product({1, 64}, 12, 64, 64, 0, "FP4, one row"),
    product({5, 64}, 70, 64, 32, 1, "NF4, more weights than a piece"),
    product({2, 3, 20}, 3, 20, 16, 1, "blocks across rows"),
    product({3, 17}, 1, 17, 16, 0, "an odd number of weights"),
    product({33}, 4, 33, 128, 1, "a vector"),
    product({0, 16}, 2, 16, 16, 0, "no rows"),
    untransposed(),
    product({2, 15}, 2, 16, 16, 0, "A too short", {"[2, 15]", "16 (K)"}),
    product({2, 16}, 2, 16, 24, 0, "block size", {"block_size", "24"}),
    product({2, 16}, 2, 16, 16, 2, "codes", {"quant_type", "2"}),
    product({2, 16}, -2, 16, 16, 0, "sizes", {"N -2"}),
    absmax_too_short(),
};
RH_OP_TEST(MatMulBnb4, kMatMulBnb4, (Types<float, Float16, BFloat16>::set))

// N = K = 16, A the unit matrix: row 0 of the weights has the codes 0 to 15, the others code 7 (0 in NF4).
TEST(MatMulBnb4, gives_the_weights_themselves) {
  std::vector<double> unit(256), codes(128, 0x77), expected(256);
  const double nf4[] = {-1,        -0.6961928, -0.5250731, -0.3949175, -0.2844414, -0.1847734, -0.0910500, 0,
                        0.0795803, 0.1609302,  0.2461123,  0.3379152,  0.4407098,  0.5626170,  0.7229568,  1};
  for (size_t i = 0; i < 16; ++i) {
    unit[17 * i] = 1;
    expected[i] = 2 * nf4[i];
    if (i % 2 == 0) codes[i / 2] = static_cast<double>(16 * i + i + 1);
  }
  OpCase c =
      contributed({attr("K", 16), attr("N", 16), attr("block_size", 16), attr("quant_type", 1), attr("transB", 0)},
                  {values({16, 16}, unit), values({128}, codes).as(DType::uint8), values({16}, std::vector<double>(16, 2))}, "codes");
  c.expected = {values({16, 16}, expected)};
  c.stock_is_wrong = true;
  run_op_cases("MatMulBnb4", {c}, Types<float>::set);
}

}  // namespace
}  // namespace rh::test
