#include "support/op_case.h"

namespace rh::test {
namespace {

const DTypeSet kBytes{DType::int8, DType::uint8};

// Zero for both signs, the whole range and the extremes.
Input bytes(Shape shape) { return uniform(std::move(shape), 0, 128); }
Input any(Shape shape, DType type) {
  return (type == DType::int8 ? uniform(std::move(shape), -128, 128) : uniform(std::move(shape), 0, 256)).as(type);
}
Input scale(Shape shape) { return uniform(std::move(shape), 0.01, 0.05).as(DType::float32); }

const std::vector<OpCase> kMatMulInteger = {
    {10, {}, {bytes({5, 70}), any({70, 33}, DType::uint8)}, "without zero points"},
    {10, {}, {bytes({5, 70}), any({70, 33}, DType::int8).constant(), bytes({})}, "packed constant, zero point of A"},
    {10, {}, {bytes({1, 70}), any({70, 33}, DType::uint8).constant(), bytes({}), any({}, DType::uint8)}, "one row"},
    {10, {}, {bytes({17, 9}), any({9, 40}, DType::int8), bytes({}), any({40}, DType::int8)}, "zero points a column"},
    {10, {}, {bytes({17, 9}), any({9, 40}, DType::uint8), bytes({17}), any({40}, DType::uint8)}, "zero points a row"},
    {10, {}, {bytes({2, 3, 5, 6}), any({3, 6, 7}, DType::uint8), bytes({}), any({}, DType::uint8)}, "batches"},
    {10, {}, {bytes({2, 5, 6}), any({2, 6, 7}, DType::int8), bytes({2, 5, 1}), any({2, 1, 7}, DType::int8)}, "zero points of each product"},
    {10, {}, {bytes({2, 5, 3}), any({2, 3, 19}, DType::int8), bytes({2, 5, 1}), any({2, 1, 19}, DType::int8)}, "sums of a few terms"},
    {10, {}, {bytes({3, 5, 1}), any({3, 1, 8}, DType::uint8).constant(), bytes({})}, "products of single bytes"},
    {10, {}, {bytes({3, 5, 6}), any({6, 7}, DType::int8).constant()}, "batch against one matrix"},
    {10, {}, {bytes({6}), any({6}, DType::int8)}, "vectors"},
    {10, {}, {bytes({0, 6}), any({6, 7}, DType::int8)}, "no rows"},
    {10, {}, {bytes({2, 6}), any({5, 7}, DType::int8)}, "sizes do not fit", {"[2, 6]", "[5, 7]"}},
    {10, {}, {bytes({2, 6}), any({6, 7}, DType::int8), absent(), any({3}, DType::int8)}, "zero points do not fit", {"3", "7"}},
};
RH_OP_TEST(MatMulInteger, kMatMulInteger, kBytes)

OpCase contributed_product(std::vector<Input> inputs, const char* purpose, std::vector<std::string> fails = {}) {
  return {1, {}, std::move(inputs), purpose, std::move(fails), 1, 2e-6, "com.microsoft"};
}

const std::vector<OpCase> kMatMulIntegerToFloat = {
    contributed_product({any({5, 70}, DType::uint8), bytes({70, 33}).constant(), scale({}), scale({})}, "scales alone"),
    contributed_product({any({5, 70}, DType::int8), bytes({70, 33}), scale({}), scale({33}), any({}, DType::int8), bytes({33})},
                        "a column"),
    contributed_product({any({2, 5, 70}, DType::uint8), bytes({70, 33}), scale({}), scale({33}), any({}, DType::uint8), bytes({}),
                         normal({33}).as(DType::float32)},
                        "bias"),
    contributed_product({any({5, 7}, DType::uint8), bytes({7, 3}), scale({}), scale({2})}, "scales do not fit", {"2", "3"}),
};
RH_OP_TEST(MatMulIntegerToFloat, kMatMulIntegerToFloat, kBytes)

const std::vector<OpCase> kDynamicQuantizeMatMul = {
    contributed_product({normal({5, 70}).as(DType::float32), bytes({70, 33}).constant(), scale({})}, "one scale"),
    contributed_product({normal({2, 5, 70}).as(DType::float32), bytes({70, 33}), scale({33}), bytes({33}), normal({33}).as(DType::float32)},
                        "everything a column"),
};
RH_OP_TEST(DynamicQuantizeMatMul, kDynamicQuantizeMatMul, kBytes)

// A product of a and b whose result needs a scale that keeps it within 8 bits.
OpCase quantized(Shape a, Shape b, DType b_type, Shape b_scale, DType y, const char* purpose) {
  return {10,
          {},
          {bytes(a), scale({}), bytes({}), any(b, b_type).constant(), scale(b_scale), any(b_scale, b_type),
           values({}, {0.9}).as(DType::float32), any({}, y)},
          purpose};
}

const std::vector<OpCase> kQLinearMatMul = {
    quantized({5, 70}, {70, 33}, DType::int8, {}, DType::uint8, "one scale"),
    quantized({17, 40}, {40, 50}, DType::uint8, {50}, DType::uint8, "scales a column"),
    quantized({2, 3, 10}, {10, 6}, DType::int8, {}, DType::int8, "batch"),
    quantized({2, 3, 10}, {2, 10, 6}, DType::uint8, {}, DType::uint8, "batches"),
    {21,
     {},
     {bytes({3, 10}), scale({3}), bytes({3}), bytes({10, 6}), scale({6}), bytes({6}), values({}, {0.5}).as(DType::float32), bytes({})},
     "scales a row"},
    {10,
     {},
     {bytes({3, 10}), scale({}), bytes({}), bytes({10, 6}), scale({4}), bytes({}), scale({}), bytes({})},
     "scales do not fit",
     {"4", "6"}},
};
RH_OP_TEST(QLinearMatMul, kQLinearMatMul, kBytes)

const std::vector<OpCase> kQLinearMatMulFloat8 = {
    {21,
     {},
     {uniform({3, 10}, -2, 2), scale({}), values({}, {0}), uniform({10, 6}, -2, 2), scale({}), values({}, {0}),
      values({}, {0.001}).as(DType::float32), values({}, {0})},
     "8-bit floats"},
};
TEST(OpCases, QLinearMatMulFloat8) {
  run_op_cases("QLinearMatMul", kQLinearMatMulFloat8, (Types<Float8E4M3FN, Float8E5M2, Float8E4M3FNUZ, Float8E5M2FNUZ>::set));
}

}  // namespace
}  // namespace rh::test
