#include "support/op_case.h"

namespace rh::test {
namespace {

OpCase with_bias(Input x, Input bias, const char* purpose, std::vector<std::string> fails = {}) {
  return {.opset = 1, .inputs = {std::move(x), std::move(bias)}, .purpose = purpose, .fails = std::move(fails), .domain = "com.microsoft"};
}
OpCase alone(Input x, const char* purpose, std::vector<Attribute> attributes = {}) {
  return {.opset = 1, .attributes = std::move(attributes), .inputs = {std::move(x)}, .purpose = purpose, .domain = "com.microsoft"};
}

const std::vector<OpCase> kBiased = {
    with_bias(normal({2, 3, 64}), normal({64}), "rows"),
    with_bias(normal({7, 33}), normal({33}), "odd rows"),
    with_bias(normal({5}), normal({5}), "one row"),
    with_bias(normal({0, 5}), normal({5}), "no rows"),
    with_bias(uniform({3, 17}, -40, 40), normal({17}), "far from 0"),
    with_bias(normal({2, 3}), normal({2}), "bias of another size", {"2", "3", "bias"}),
    with_bias(normal({2, 3}), normal({1, 3}), "bias of two dimensions", {"[1, 3]", "bias"}),
};
RH_OP_TEST(BiasGelu, kBiased, FloatingTypes::set)
// The stock library's constants are floats, with doubles too.
RH_OP_TEST(FastGelu, kBiased, (Types<float, Float16, BFloat16>::set))

const std::vector<OpCase> kAlone = {
    alone(normal({2, 3, 64}), "rows"),
    alone(uniform({77}, -40, 40), "far from 0"),
    alone(normal({0, 3}), "nothing"),
};
TEST(OpCases, GeluAlone) {
  for (const char* op_type : {"FastGelu", "Gelu", "QuickGelu"}) run_op_cases(op_type, kAlone, Types<float, Float16, BFloat16>::set);
}

const std::vector<OpCase> kQuickGelu = {
    alone(normal({5, 9}), "SiLU", {attr("alpha", 1.0f)}),
    alone(normal({5, 9}), "falling", {attr("alpha", -0.5f)}),
};
RH_OP_TEST(QuickGelu, kQuickGelu, FloatingTypes::set)

}  // namespace
}  // namespace rh::test
