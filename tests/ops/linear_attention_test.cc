#include "support/op_case.h"

namespace rh::test {
namespace {

using FloatsAndHalves = Types<float, Float16, BFloat16>;

std::vector<Attribute> rule(const char* name, int q_heads, int kv_heads) {
  return {attr("update_rule", name), attr("q_num_heads", q_heads), attr("kv_num_heads", kv_heads), attr("scale", 1.0f)};
}

// Heads of depth 2 and values of 1, so that a state has two numbers.
const std::vector<OpCase> kLinearAttention = {
    {.opset = 27,
     .attributes = rule("linear", 1, 1),
     .inputs = {values({1, 2, 2}, {1, 2, 3, 1}), values({1, 2, 2}, {1, 0, 2, 1}), values({1, 2, 1}, {5, 1})},
     .purpose = "linear: states (5, 0) and (7, 1)",
     .outputs = 2,
     .expected = {values({1, 2, 1}, {5, 22}), values({1, 1, 2, 1}, {7, 1})}},
    {.opset = 27,
     .attributes = rule("delta", 1, 1),
     .inputs = {values({1, 1, 2}, {1, 1}), values({1, 1, 2}, {1, 2}), values({1, 1, 1}, {10}), values({1, 1, 2, 1}, {1, 2}), absent(),
                values({1, 1, 1}, {0.5})},
     .purpose = "delta: half of 10 - (1 + 4) more",
     .outputs = 2,
     .expected = {values({1, 1, 1}, {10.5}), values({1, 1, 2, 1}, {3.5, 7})}},
    {.opset = 27,
     .attributes = rule("gated", 2, 1),
     .inputs = {values({1, 1, 4}, {1, 0, 0, 1}), values({1, 1, 2}, {1, 1}), values({1, 1, 1}, {1}), values({1, 1, 2, 1}, {2, 4}),
                values({1, 1, 2}, {0, -1000})},
     .purpose = "a decay for each row, two heads of queries",
     .outputs = 2,
     .expected = {values({1, 1, 2}, {3, 1}), values({1, 1, 2, 1}, {3, 1})}},
    {.opset = 27,
     .attributes = rule("gated_delta", 1, 1),
     .inputs = {values({1, 1, 2}, {1, 1}), values({1, 1, 2}, {1, 0}), values({1, 1, 1}, {6}), values({1, 1, 2, 1}, {2, 4}),
                values({1, 1, 1}, {0}), values({1, 1, 1}, {1})},
     .purpose = "gated and delta",
     .outputs = 2,
     .expected = {values({1, 1, 1}, {10}), values({1, 1, 2, 1}, {6, 4})}},
    {27,
     {attr("q_num_heads", 4), attr("kv_num_heads", 2)},
     {normal({2, 7, 32}), uniform({2, 7, 16}, 0, 0.3), normal({2, 7, 6}), normal({2, 2, 8, 3}), uniform({2, 7, 2}, -1, 0),
      uniform({2, 7, 2}, 0, 1)},
     "groups of heads",
     {},
     2},
    {27,
     {attr("q_num_heads", 3), attr("kv_num_heads", 2)},
     {normal({1, 1, 6}), normal({1, 1, 4}), normal({1, 1, 4})},
     "heads",
     {"q_num_heads is 3"},
     2},
    {27, rule("gated", 1, 1), {normal({1, 1, 2}), normal({1, 1, 2}), normal({1, 1, 1})}, "no decay", {"'gated' needs the input decay"}, 2},
    {27,
     rule("linear", 1, 1),
     {normal({1, 1, 2}), normal({1, 1, 3}), normal({1, 1, 1})},
     "depths",
     {"LinearAttention(27)", "key has shape [1, 1, 3]"},
     2},
    {27,
     rule("linear", 1, 1),
     {normal({1, 1, 2}), normal({1, 1, 2}), normal({1, 1, 1}), normal({1, 1, 1, 2})},
     "state",
     {"past_state has shape [1, 1, 1, 2]"},
     2},
};
OpCase contributed_rule(const char* name, int q_heads, int kv_heads, std::vector<Input> inputs, const char* purpose,
                        std::vector<Attribute> more = {}) {
  std::vector<Attribute> attributes{attr("update_rule", name), attr("q_num_heads", q_heads), attr("kv_num_heads", kv_heads)};
  attributes.insert(attributes.end(), more.begin(), more.end());
  return contributed(std::move(attributes), std::move(inputs), purpose, {}, 2);
}

OpCase with_expected(OpCase row, std::vector<Input> expected) {
  row.expected = std::move(expected);
  row.stock_is_wrong = true;  // it has no windows of states on the CPU
  return row;
}

const std::vector<OpCase> kContributed = {
    contributed_rule("linear", 4, 2, {normal({2, 5, 32}), normal({2, 5, 16}), normal({2, 5, 6})}, "linear"),
    contributed_rule("gated", 2, 2,
                     {normal({2, 5, 8}), normal({2, 5, 8}), normal({2, 5, 6}), normal({2, 2, 4, 3}), uniform({2, 5, 8}, -1, 0)},
                     "a decay for each row"),
    contributed_rule("delta", 2, 1, {normal({1, 3, 8}), normal({1, 3, 4}), normal({1, 3, 2}), absent(), absent(), uniform({1, 3, 1}, 0, 1)},
                     "delta"),
    contributed_rule("gated_delta", 4, 2,
                     {normal({2, 7, 32}), uniform({2, 7, 16}, 0, 0.3), normal({2, 7, 6}), normal({2, 2, 8, 3}), uniform({2, 7, 2}, -1, 0),
                      uniform({2, 7, 2}, 0, 1)},
                     "groups of heads"),
    contributed_rule("linear", 1, 2, {normal({1, 4, 2}), normal({1, 4, 4}), normal({1, 4, 6})}, "more heads of keys than of queries"),
    contributed_rule("linear", 1, 1,
                     {normal({1, 4, 2}), normal({1, 4, 2}), normal({1, 4, 3}), absent(), normal({1, 4, 1}), normal({1, 4, 1})},
                     "decay and beta that the rule does not use"),
    with_expected(contributed_rule("linear", 1, 1, {values({1, 2, 1}, {1, 2}), values({1, 2, 1}, {1, 1}), values({1, 2, 1}, {5, 1})},
                                   "states after the last three of two tokens", {attr("state_window", 3)}),
                  {values({1, 2, 1}, {5, 12}), values({3, 1, 1, 1, 1}, {0, 5, 6})}),
    with_expected(contributed_rule("linear", 1, 1,
                                   {values({1, 7, 1}, {1, 1, 1, 1, 1, 1, 2}), values({1, 7, 1}, {1, 1, 1, 1, 1, 1, 1}),
                                    values({1, 7, 1}, {1, 2, 3, 4, 5, 6, 7})},
                                   "states after the last two of seven tokens", {attr("state_window", 2)}),
                  {values({1, 7, 1}, {1, 3, 6, 10, 15, 21, 56}), values({2, 1, 1, 1, 1}, {21, 28})}),
    with_expected(
        contributed_rule("linear", 1, 1,
                         {values({1, 1, 1}, {1}), values({1, 1, 1}, {1}), values({1, 1, 1}, {5}), values({2, 1, 1, 1, 1}, {7, 1})},
                         "the past is the last state", {attr("state_window", 2)}),
        {values({1, 1, 1}, {6}), values({2, 1, 1, 1, 1}, {0, 6})}),
};
TEST(OpCases, LinearAttentionOfMicrosoft) { run_op_cases("LinearAttention", kContributed, FloatsAndHalves::set); }

RH_OP_TEST(LinearAttention, kLinearAttention, FloatsAndHalves::set)

}  // namespace
}  // namespace rh::test
