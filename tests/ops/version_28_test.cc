// Operators of ai.onnx that version 28 gave more types: held against the stock library, which has kernels of that version.
#include "support/op_case.h"

namespace rh::test {
namespace {

OpCase at_28(const char* op_type, std::vector<Input> inputs, std::vector<Attribute> attributes, const char* purpose, int outputs = 1) {
  return {28, std::move(attributes), std::move(inputs), purpose, {}, outputs, 0, "", op_type};
}
Input shifts(std::vector<double> v) {
  const auto count = static_cast<int64_t>(v.size());
  return values({count}, std::move(v));
}

const std::vector<OpCase> kShifts = {
    at_28("BitShift", {shifts({1, -3, 100, -128}), shifts({1, 2, 3, 1})}, {attr("direction", "LEFT")}, "left, of signed numbers"),
    at_28("BitShift", {shifts({1, -3, 100, -128}), shifts({1, 2, 3, 1})}, {attr("direction", "RIGHT")}, "right, of signed numbers"),
};
TEST(Version28, BitShift) { run_op_cases("BitShift", kShifts, (Types<int8_t, int16_t, int32_t, int64_t>::set)); }

const std::vector<OpCase> kFloats = {
    at_28("Celu", {uniform({3, 5, 23}, -6, 6)}, {attr("alpha", 0.5f)}, "elements"),
    at_28("Einsum", {normal({3, 5}), normal({5, 4})}, {attr("equation", "ij,jk->ik")}, "products"),
    at_28("Mod", {uniform({40}, -9, 9), uniform({40}, 1, 3)}, {attr("fmod", 1)}, "remainders"),
    at_28("Unique", {values({6}, {2, 1, 1, 3, 4, 3})}, {}, "values", 4),
    at_28("Compress", {normal({3, 4}), values({3}, {0, 1, 1}).as(DType::boolean)}, {attr("axis", 0)}, "rows"),
    at_28("ReverseSequence", {normal({4, 3}), values({3}, {4, 1, 2}).as(DType::int64)}, {}, "sequences"),
    at_28("DepthToSpace", {normal({1, 8, 2, 3})}, {attr("blocksize", 2)}, "blocks"),
    at_28("SpaceToDepth", {normal({1, 2, 4, 6})}, {attr("blocksize", 2)}, "blocks"),
    at_28("Cast", {normal({3, 70})}, {attr("to", 7)}, "integers"),
    at_28("OneHot", {ints({0, 2, -1}), ints({4}), values({2}, {0.5, 3})}, {}, "numbers"),
};
TEST(Version28, Floats) { run_op_cases("", kFloats, (Types<float, double, Float16, BFloat16>::set)); }

}  // namespace
}  // namespace rh::test
