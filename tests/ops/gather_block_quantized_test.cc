#include "support/op_case.h"

namespace rh::test {
namespace {

/// Gathers from data of one type; `scales` are of the type under test.
OpCase gather(std::vector<Attribute> attributes, Input data, DType type, Input indices, Shape scales, const char* purpose,
              Input zeros = absent(), std::vector<std::string> fails = {}) {
  std::vector<Input> inputs{data.as(type).constant(), std::move(indices), uniform(std::move(scales), 0.01, 1)};
  if (zeros.fill != Input::Fill::absent) inputs.push_back(zeros.as(type).constant());
  return contributed(std::move(attributes), std::move(inputs), purpose, std::move(fails));
}
Input codes(Shape shape, double low = 0, double high = 16) { return uniform(std::move(shape), low, high); }
Input picked(Shape shape, std::vector<double> v) { return values(std::move(shape), std::move(v)).as(DType::int32); }
Attribute block(int size) { return attr("block_size", size); }

const std::vector<OpCase> kGatherBlockQuantized = {
    gather({block(16)}, codes({5, 40}), DType::uint4, ints({1, -1, 4}), {5, 3}, "an unfinished block"),
    gather({block(16)}, codes({5, 32}, -8, 8), DType::int4, picked({2, 2}, {0, 2, -5, 1}), {5, 2}, "zero points", codes({5, 2}, -8, 8)),
    gather({block(16), attr("gather_axis", 1), attr("quantize_axis", 0)}, codes({20, 3}), DType::uint4, ints({2, 0}), {2, 3}, "columns",
           codes({2, 3})),
    gather({block(16), attr("gather_axis", -2), attr("quantize_axis", -2)}, codes({2, 35, 3}, -8, 8), DType::int4, ints({34, -20, 3}),
           {2, 3, 3}, "the axis that is quantised", codes({2, 3, 3}, -8, 8)),
    gather({block(16), attr("gather_axis", 0), attr("quantize_axis", 2)}, codes({3, 2, 17}), DType::uint4, picked({}, {1}), {3, 2, 2},
           "one index", codes({3, 2, 2})),
    gather({block(16)}, codes({5, 32}), DType::uint4, ints({5, -6, 1, 99999}), {5, 2}, "indices out of range give zeros"),
    gather({}, codes({5, 160}), DType::uint4, picked({0}, {}), {5, 2}, "no indices"),
    gather({block(32), attr("bits", 8)}, codes({6, 70}, 0, 256), DType::uint8, ints({5, 0}), {6, 3}, "bytes"),
    gather({block(32), attr("bits", 8)}, codes({6, 64}, 0, 256), DType::uint8, ints({5, 0}), {6, 2}, "bytes, zero points",
           codes({6, 2}, 0, 256)),
    gather({block(16)}, codes({6, 24}, 0, 256), DType::uint8, ints({5, 0}), {6, 3}, "packed by two"),
    gather({block(16), attr("bits", 4)}, codes({6, 24}, 0, 256), DType::uint8, ints({5, 0}), {6, 3}, "packed by two, zero points",
           codes({6, 2}, 0, 256)),
    gather({block(16), attr("bits", 2), attr("quantize_axis", 2)}, codes({6, 2, 12}, 0, 256), DType::uint8, ints({5, 0, 5}), {6, 2, 3},
           "packed by four, zero points", codes({6, 2, 1}, 0, 256)),
    gather({block(16)}, normal({5, 32}), DType::float8e4m3fn, ints({1, -1, 7}), {5, 2}, "FP8"),
    gather({block(16)}, normal({5, 32}), DType::float8e4m3fnuz, ints({1, -1}), {1, 2}, "FP8, one row of scales"),
    gather({block(0)}, normal({5, 33}), DType::float8e5m2, ints({1, -1}), {5, 1}, "FP8, a scale a row"),
    gather({block(0)}, normal({5, 33}), DType::float8e5m2fnuz, ints({1, -1}), {1, 1}, "FP8, one scale"),
    gather({block(0), attr("quantize_axis", 0)}, normal({5, 33}), DType::float8e5m2, ints({1, -1}), {1, 33}, "FP8, a scale a column"),
    gather({block(16)}, codes({5, 32}), DType::float4e2m1, ints({1, -1}), {5, 2}, "FP4"),
    gather({block(24)}, codes({5, 32}), DType::uint4, ints({1}), {5, 2}, "block size", absent(), {"block_size", "24"}),
    gather({block(0)}, codes({5, 32}), DType::uint4, ints({1}), {5, 1}, "no block size", absent(), {"block_size", "0"}),
    gather({block(16), attr("bits", 3)}, codes({5, 32}), DType::uint8, ints({1}), {5, 2}, "bits", absent(), {"bits", "3"}),
    gather({block(16), attr("bits", 8)}, codes({5, 32}), DType::uint4, ints({1}), {5, 2}, "bits of a type", absent(),
           {"bits", "8", "uint4"}),
    gather({block(16)}, codes({5, 32}), DType::uint4, ints({1}), {5, 3}, "scales of another shape", absent(), {"[5, 3]", "[5, 2]"}),
    gather({block(16)}, codes({5, 32}), DType::uint4, ints({1}), {1, 2}, "codes share no scales", absent(), {"[1, 2]", "[5, 2]"}),
    gather({block(16)}, codes({5, 32}), DType::uint4, ints({1}), {5, 2}, "zero points", codes({5, 1}), {"zero_points", "[5, 1]"}),
    gather({block(16)}, normal({5, 32}), DType::float8e5m2, ints({1}), {5, 2}, "zero points of floats", normal({5, 2}), {"zero_points"}),
    gather({block(16), attr("gather_axis", 1), attr("quantize_axis", 0)}, codes({32, 8}), DType::uint8, ints({1}), {2, 16},
           "columns of bytes", absent(), {"gather_axis is 1"}),
    gather({block(16), attr("gather_axis", 2)}, codes({5, 32}), DType::uint4, ints({1}), {5, 2}, "axis", absent(), {"gather_axis", "2"}),
    gather({block(16), attr("quantize_axis", -3)}, codes({5, 32}), DType::uint4, ints({1}), {5, 2}, "axis", absent(),
           {"quantize_axis", "-3"}),
};
RH_OP_TEST(GatherBlockQuantized, kGatherBlockQuantized, (Types<float, Float16, BFloat16>::set))

}  // namespace
}  // namespace rh::test
