#include "support/op_case.h"

namespace rh::test {
namespace {

OpCase expanded(std::vector<Attribute> attributes, Input x, Input expand, Input depthwise, const char* purpose, std::vector<Input> expected,
                std::vector<std::string> fails = {}) {
  OpCase c{1, std::move(attributes), {std::move(x), expand.constant(), depthwise.constant()}, purpose};
  c.domain = "roundhouse";
  c.expected = std::move(expected);
  c.fails = std::move(fails);
  return c;
}

const Input kX = values({1, 2, 1, 2}, {1, 2, 3, 4}), kExpand = values({1, 2, 1, 1}, {1, -1});
const Input kDepthwise = values({1, 1, 3, 3}, {0, 0, 0, 10, 1, 100, 0, 0, 0});

const std::vector<OpCase> kExpandDepthwise = {
    expanded({attr("pads", {1, 1, 1, 1})}, kX, kExpand, kDepthwise, "by hand", {values({1, 1, 1, 2}, {-202, -22})}),
    expanded({attr("pads", {1, 1, 1, 1}), attr("activation", "Relu")}, kX, kExpand, kDepthwise, "an activation",
             {values({1, 1, 1, 2}, {0, 0})}),
    expanded({attr("auto_pad", "SAME_UPPER"), attr("strides", {2, 2}), attr("expand", "HardSigmoid"),
              attr("expand_params", std::vector<float>{0.25f, 0.5f})},
             kX, kExpand, kDepthwise, "an activation between, stride 2", {values({1, 1, 1, 1}, {0})}),
    expanded({}, normal({1, 2, 2, 4}), kExpand, kDepthwise, "a window that does not fit", {}, {"window of 3", "2 elements"}),
    expanded({attr("pads", {1, 1, 1, 1})}, normal({0, 2, 4, 4}), kExpand, kDepthwise, "empty batch", {values({0, 1, 4, 4}, {})}),
    expanded({}, normal({1, 3, 4, 4}), kExpand, kDepthwise, "channels that do not fit", {}, {"ExpandDepthwise", "[1, 3, 4, 4]", "[N, 2,"}),
    expanded({}, normal({1, 2, 4}), kExpand, kDepthwise, "a rank that does not fit", {}, {"ExpandDepthwise", "[1, 2, 4]"}),
    expanded({attr("pads", {0, 3, 0, 0})}, normal({1, 2, 4, 4}), kExpand, kDepthwise, "too much padding", {}, {"pads are 3", "0 to 2"}),
    expanded({attr("dilations", {5, 5})}, normal({1, 2, 12, 12}), kExpand, kDepthwise, "strongly dilated", {}, {"[1, 1, 3, 3]", "up to 4"}),
    expanded({}, normal({1, 2, 4, 4}), kExpand, values({1, 1, 2, 2}, {1, 2, 3, 4}), "an even kernel", {}, {"[1, 1, 2, 2]", "K 3, 5 or 7"}),
    expanded({}, normal({1, 2, 4, 4}), values({1, 2}, {1, 2}), kDepthwise, "weights of rank 2", {}, {"input 1", "rank 4"}),
};
RH_OP_TEST(ExpandDepthwise, kExpandDepthwise, (Types<float>::set))

}  // namespace
}  // namespace rh::test
