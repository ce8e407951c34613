#include "support/op_case.h"

namespace rh::test {
namespace {

OpCase flex(std::vector<Attribute> attributes, std::vector<Input> inputs, const char* purpose, std::vector<std::string> fails = {},
            std::vector<Input> expected = {}) {
  return {.opset = 1,
          .attributes = std::move(attributes),
          .inputs = std::move(inputs),
          .purpose = purpose,
          .fails = std::move(fails),
          .domain = "ai.onnx.preview",
          .expected = std::move(expected)};
}

// With graphs it is in the official suite.
const std::vector<OpCase> kFlexAttention = {
    flex({}, {values({1, 1, 1, 1}, {0}), values({1, 1, 2, 1}, {1, 2}), values({1, 1, 2, 1}, {3, 5})}, "equal weights", {},
         {values({1, 1, 1, 1}, {4})}),
    flex({attr("scale", 2.0f)}, {values({1, 2, 1, 1}, {1, 0}), values({1, 1, 2, 1}, {0, 0.5}), values({1, 1, 2, 1}, {0, 1})},
         "a scale, two heads of queries", {}, {values({1, 2, 1, 1}, {0.7310585786300049, 0.5})}),
    flex({}, {normal({2, 4, 3, 8}), normal({2, 2, 5, 8}), normal({2, 2, 5, 6})}, "groups of heads"),
    flex({attr("softmax_precision", 11)}, {normal({2, 2, 3, 8}), normal({2, 2, 5, 8}), normal({2, 2, 5, 6})}, "in double"),
    flex({}, {normal({2, 4, 8}), normal({2, 2, 5, 8}), normal({2, 2, 5, 6})}, "rank", {"FlexAttention(1)", "[2, 4, 8]"}),
    flex({}, {normal({2, 4, 3, 8}), normal({2, 3, 5, 8}), normal({2, 3, 5, 6})}, "heads", {"[2, 4, 3, 8]", "[2, 3, 5, 8]"}),
};
RH_OP_TEST(FlexAttention, kFlexAttention, FloatingTypes::set)

}  // namespace
}  // namespace rh::test
