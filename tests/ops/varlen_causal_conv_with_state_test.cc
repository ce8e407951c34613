#include "support/op_case.h"

namespace rh::test {
namespace {

using FloatsAndHalves = Types<float, Float16, BFloat16>;

Input whole(std::vector<double> v) {
  const auto count = static_cast<int64_t>(v.size());
  return values({count}, std::move(v)).as(DType::int32);
}
const Input kX = normal({9, 5}), kWeight = normal({5, 1, 4}), kBegins = whole({0, 2, 2, 9}), kBias = normal({5}),
            kState = normal({3, 5, 3});

OpCase varlen(std::vector<Attribute> attributes, std::vector<Input> inputs, const char* purpose, std::vector<std::string> fails = {},
              int outputs = 2) {
  return contributed(std::move(attributes), std::move(inputs), purpose, std::move(fails), outputs);
}
OpCase with_expected(OpCase row, std::vector<Input> expected) {
  row.expected = std::move(expected);
  return row;
}

const std::vector<OpCase> kVarlenCausalConvWithState = {
    with_expected(varlen({}, {values({3, 1}, {1, 2, 3}), values({1, 1, 2}, {10, 1}), whole({0, 1, 3}), absent(), values({2, 1, 1}, {4, 5})},
                         "each request begins with its state"),
                  {values({3, 1}, {41, 52, 23}), values({2, 1, 1}, {1, 3})}),
    varlen({}, {kX, kWeight, kBegins, kBias, kState}, "bias, a request without tokens"),
    varlen({attr("activation", "silu")}, {kX, kWeight, kBegins, absent(), kState}, "activation"),
    varlen({attr("activation", "swish"), attr("dilation", 3)}, {kX, kWeight, kBegins, kBias, normal({3, 5, 9})}, "dilation"),
    varlen({}, {kX, normal({5, 1, 1}), kBegins, kBias, normal({3, 5, 0})}, "one tap"),
    varlen({attr("state_update_capacity", 3)}, {kX, kWeight, kBegins, kBias, kState, whole({1, 4, 9})}, "captured tokens", {}, 3),
    varlen({attr("activation", "tanh")}, {kX, kWeight, kBegins, kBias, kState}, "activation", {"'tanh'"}),
    varlen({attr("dilation", 0)}, {kX, kWeight, kBegins, kBias, kState}, "dilation", {"dilation is 0"}),
    varlen({attr("state_update_capacity", 9)}, {kX, kWeight, kBegins, kBias, kState, whole({1, 4, 9})}, "capacity",
           {"state_update_capacity is 9"}, 3),
    varlen({attr("state_update_capacity", 2)}, {kX, kWeight, kBegins, kBias, kState}, "no counts", {"needs the input capture_count"}, 3),
    varlen({attr("group_size", 5)}, {kX, kWeight, kBegins, kBias, kState}, "deltas", {"group_size", "not supported on CPU"}),
    varlen({}, {kX, kWeight, whole({0, 4, 2, 9}), kBias, kState}, "order", {"falls from 4 to 2"}),
    varlen({}, {kX, kWeight, whole({0, 4, 5, 8}), kBias, kState}, "end", {"0 to 8", "0 to 9"}),
    varlen({}, {kX, kWeight, kBegins, kBias, normal({3, 5, 2})}, "state", {"2", "3"}),
    varlen({}, {kX, normal({4, 1, 4}), kBegins, absent(), kState}, "channels", {"4", "5"}),
};
RH_OP_TEST(VarlenCausalConvWithState, kVarlenCausalConvWithState, FloatsAndHalves::set)

}  // namespace
}  // namespace rh::test
