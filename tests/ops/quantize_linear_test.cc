#include "support/op_case.h"

namespace rh::test {
namespace {

using Inputs = Types<float, Float16, BFloat16, int32_t>;

Input zero(DType dtype, double value = 0) { return values({}, {value}).as(dtype); }

const std::vector<OpCase> kQuantizeLinear = {
    {10, {}, {normal({5, 7}), values({}, {0.05}).as(DType::float32), zero(DType::uint8, 128)}, "per tensor"},
    {10, {}, {normal({5, 7}), values({}, {0.05}).as(DType::float32), zero(DType::int8, -3)}, "to int8"},
    {13, {}, {normal({5, 7}), values({1}, {0.05}).as(DType::float32)}, "without zero point, a list of one"},
    {13,
     {},
     {values({7}, {0.5, 1.5, 2.5, -0.5, -1.5, 300, -300}), values({}, {1}).as(DType::float32), zero(DType::int8)},
     "ties and saturation"},
    {13, {}, {normal({2, 3, 40}), uniform({3}, 0.01, 0.1).as(DType::float32), uniform({3}, 0, 255).as(DType::uint8)}, "per axis"},
    {13, {attr("axis", -1)}, {normal({2, 3, 40}), uniform({40}, 0.01, 0.1).as(DType::float32)}, "per index of the last axis"},
    {13,
     {attr("axis", 0)},
     {normal({70, 90}), uniform({70}, 0.01, 0.1).as(DType::float32), uniform({70}, -9, 9).as(DType::int8)},
     "per row"},
    {19, {}, {normal({5, 7}), uniform({}, 0.01, 0.1), zero(DType::uint8, 9)}, "scale of the input's type"},
    {23, {}, {normal({50}), values({}, {0.001}).as(DType::float32), zero(DType::float8e4m3fn)}, "to a float8, saturated"},
    {23, {attr("saturate", 0)}, {normal({50}), values({}, {0.001}).as(DType::float32), zero(DType::float8e5m2)}, "to infinity"},
    {23, {}, {normal({5, 7}), values({}, {0.3}).as(DType::float32), zero(DType::int4, 1)}, "to int4, an odd number"},
    {21, {}, {normal({5, 8}).as(DType::float32), values({}, {0.3}).as(DType::float32), zero(DType::int4, -2)}, "to int4"},
    {23, {}, {normal({5, 7}), values({}, {0.3}).as(DType::float32), zero(DType::uint4, 8)}, "to uint4"},
    {23, {}, {normal({5, 7}), values({}, {1e-4}).as(DType::float32), zero(DType::int16, -100)}, "to int16"},
    {23, {}, {normal({5, 7}), values({}, {1e-4}).as(DType::float32), zero(DType::uint16, 30000)}, "to uint16"},
    {23, {attr("output_dtype", 3)}, {normal({5, 7}), values({}, {0.02}).as(DType::float32)}, "type by attribute"},
    {23,
     {attr("axis", 1), attr("block_size", 3)},
     {normal({2, 7, 5}), uniform({2, 3, 5}, 0.01, 0.1).as(DType::float32), uniform({2, 3, 5}, 0, 9).as(DType::uint8)},
     "blocks inside"},
    {23,
     {attr("axis", -1), attr("block_size", 4)},
     {normal({3, 10}), uniform({3, 3}, 0.01, 0.1).as(DType::float32), uniform({3, 3}, -5, 5).as(DType::int8)},
     "blocks of the last axis"},
    {23, {attr("precision", 10)}, {normal({60}), values({}, {0.25}).as(DType::float32), zero(DType::int8)}, "divided in float16"},
    {23, {}, {normal({60}), values({}, {0.3}).as(DType::float32), zero(DType::float4e2m1)}, "to float4"},
    {24, {}, {normal({60}), values({}, {0.25}).as(DType::float8e8m0), zero(DType::int8)}, "a power of two as scale"},
    {25, {}, {normal({61}), values({}, {0.7}).as(DType::float32), zero(DType::uint2, 1)}, "to uint2"},
    {25, {}, {normal({61}), values({}, {0.7}).as(DType::float32), zero(DType::int2)}, "to int2"},
    {28, {}, {normal({61}), values({}, {0.3}).as(DType::float32), zero(DType::float6e3m2)}, "to float6"},
    {13, {}, {normal({0, 3}), values({}, {0.05}).as(DType::float32)}, "nothing"},
    {13, {}, {normal({2, 3}), uniform({4}, 0.01, 0.1).as(DType::float32)}, "scale of another length", {"4", "3", "axis 1"}},
    {13, {attr("axis", 2)}, {normal({2, 3}), uniform({3}, 0.01, 0.1).as(DType::float32)}, "no such axis", {"axis", "2"}},
    {21,
     {attr("block_size", 2)},
     {normal({2, 3}), uniform({2, 3}, 0.01, 0.1).as(DType::float32)},
     "blocks do not fit",
     {"[2, 3]", "block_size"}},
    {23, {attr("output_dtype", 2)}, {normal({2}), values({}, {1}).as(DType::float32), zero(DType::int8)}, "two types", {"uint8", "int8"}},
    {23, {attr("output_dtype", 11)}, {normal({2}), values({}, {1}).as(DType::float32)}, "to no quantised type", {"double"}},
};
RH_OP_TEST(QuantizeLinear, kQuantizeLinear, Inputs::set)

std::vector<OpCase> all_contributed(std::vector<OpCase> cases) {
  for (OpCase& c : cases) {
    c.opset = 1;
    c.domain = "com.microsoft";
  }
  return cases;
}

const std::vector<OpCase> kContribQuantizeLinear = all_contributed({
    {1, {}, {normal({5, 7}), uniform({}, 0.01, 0.1), zero(DType::uint16, 30000)}, "to uint16"},
    {1, {attr("axis", 0)}, {normal({5, 7}), uniform({5}, 0.01, 0.1), uniform({5}, -5, 5).as(DType::int8)}, "per row"},
    {1, {}, {normal({5, 7}), uniform({}, 0.1, 0.5), zero(DType::int4)}, "to int4"},
});
TEST(OpCases, ContribQuantizeLinear) { run_op_cases("QuantizeLinear", kContribQuantizeLinear, Inputs::set); }

const DTypeSet kQuantized{DType::int8,           DType::uint8,      DType::int16,          DType::uint16,     DType::int32,
                          DType::uint4,          DType::int4,       DType::uint2,          DType::int2,       DType::float8e4m3fn,
                          DType::float8e4m3fnuz, DType::float8e5m2, DType::float8e5m2fnuz, DType::float4e2m1, DType::float6e2m3};
const DTypeSet kIntegers{DType::int8, DType::uint8, DType::int16, DType::uint16, DType::uint4, DType::int4, DType::uint2, DType::int2};

const std::vector<OpCase> kDequantizeLinear = {
    {10, {}, {uniform({5, 7}, 0, 2), values({}, {0.05}).as(DType::float32)}, "per tensor"},
    {13, {}, {uniform({2, 3, 40}, 0, 2), uniform({3}, 0.01, 0.1).as(DType::float32)}, "per axis"},
    {13, {attr("axis", -1)}, {uniform({2, 3, 41}, 0, 2), uniform({41}, 0.01, 0.1).as(DType::float32)}, "per index of the last axis"},
    {19, {}, {uniform({5, 7}, 0, 2), values({}, {0.05}).as(DType::float16)}, "to float16"},
    {19, {attr("axis", 0)}, {uniform({5, 7}, 0, 2), uniform({5}, 0.01, 1).as(DType::bfloat16)}, "to bfloat16"},
    {21, {attr("block_size", 3)}, {uniform({2, 7, 5}, 0, 2), uniform({2, 3, 5}, 0.01, 0.1).as(DType::float32)}, "blocks inside"},
    {21,
     {attr("axis", -1), attr("block_size", 4)},
     {uniform({3, 10}, 0, 2), uniform({3, 3}, 0.01, 0.1).as(DType::float32)},
     "blocks of the last axis"},
    {23, {attr("output_dtype", 1)}, {uniform({5, 7}, 0, 2), values({}, {0.05}).as(DType::float16)}, "type by attribute"},
    {24, {attr("output_dtype", 10)}, {uniform({5, 7}, 0, 2), values({}, {0.5}).as(DType::float8e8m0)}, "a power of two as scale"},
    {13, {}, {uniform({2, 3}, 0, 2), uniform({4}, 0.01, 0.1).as(DType::float32)}, "scale of another length", {"4", "3", "axis 1"}},
    {24, {}, {uniform({5}, 0, 2), values({}, {0.5}).as(DType::float8e8m0)}, "to no float type", {"float8e8m0"}},
};
RH_OP_TEST(DequantizeLinear, kDequantizeLinear, kQuantized)

const std::vector<OpCase> kDequantizeLinearZeroPoint = {
    {10, {}, {uniform({5, 7}, -1, 2), values({}, {0.05}).as(DType::float32), uniform({}, 0, 2)}, "per tensor"},
    {13, {}, {uniform({2, 3, 40}, -1, 2), uniform({3}, 0.01, 0.1).as(DType::float32), uniform({3}, 0, 2)}, "per axis"},
    {21, {attr("block_size", 2)}, {uniform({6, 5}, -1, 2), uniform({6, 3}, 0.01, 0.1).as(DType::float32), uniform({6, 3}, 0, 2)}, "blocks"},
    {13,
     {},
     {uniform({2, 3}, 0, 2), uniform({3}, 0.01, 0.1).as(DType::float32), uniform({2}, 0, 2)},
     "zero points too few",
     {"zero point", "[2]"}},
};
TEST(OpCases, DequantizeLinearZeroPoint) { run_op_cases("DequantizeLinear", kDequantizeLinearZeroPoint, kIntegers); }

const std::vector<OpCase> kContribDequantizeLinear = all_contributed({
    {1, {}, {uniform({5, 7}, -1, 2), values({}, {0.05}).as(DType::float32), uniform({}, 0, 2)}, "per tensor"},
    {1, {}, {uniform({2, 3, 4}, -1, 2), uniform({3}, 0.01, 0.1).as(DType::float16), uniform({3}, 0, 2)}, "per axis, to float16"},
});
TEST(OpCases, ContribDequantizeLinear) { run_op_cases("DequantizeLinear", kContribDequantizeLinear, kIntegers); }

const std::vector<OpCase> kDynamicQuantizeLinear = {
    {11, {}, {normal({20, 50})}, "both signs", {}, 3},
    {11, {}, {uniform({3000}, 2, 9)}, "positive", {}, 3},
    {11, {}, {uniform({3, 3}, -9, -2)}, "negative", {}, 3},
    {11, {}, {values({3}, {0, 0, 0})}, "zeros", {}, 3},
    {11, {}, {normal({0})}, "nothing", {}, 3},
};
RH_OP_TEST(DynamicQuantizeLinear, kDynamicQuantizeLinear, Types<float>::set)

}  // namespace
}  // namespace rh::test
