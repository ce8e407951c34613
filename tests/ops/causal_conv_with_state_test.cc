#include "support/op_case.h"

namespace rh::test {
namespace {

using FloatsAndHalves = Types<float, Float16, BFloat16>;

const std::vector<OpCase> kCausalConvWithState = {
    {.opset = 27,
     .inputs = {values({1, 1, 3}, {1, 2, 3}), values({1, 1, 2}, {10, 1})},
     .purpose = "no state",
     .outputs = 2,
     .expected = {values({1, 1, 3}, {1, 12, 23}), values({1, 1, 1}, {3})}},
    {.opset = 27,
     .inputs = {values({1, 2, 1}, {1, 2}), values({2, 1, 3}, {1, 2, 4, 0, 1, 0.5}), values({2}, {1, -1}), values({1, 2, 2}, {3, 4, 5, 6})},
     .purpose = "bias and state",
     .outputs = 2,
     .expected = {values({1, 2, 1}, {16, 6}), values({1, 2, 2}, {4, 1, 6, 2})}},
    {.opset = 27,
     .attributes = {attr("activation", "silu")},
     .inputs = {values({1, 1, 2}, {1, -2}), values({1, 1, 1}, {1})},
     .purpose = "activation, kernel of one",
     .outputs = 2,
     .expected = {values({1, 1, 2}, {0.7310585786300049, -0.2384058440442351}), values({1, 1, 0}, {})}},
    {.opset = 27,
     .attributes = {attr("activation", "swish")},
     .inputs = {normal({3, 5, 70}), normal({5, 1, 4}), normal({5}), normal({3, 5, 3})},
     .purpose = "the other name",
     .outputs = 2},
    {27, {attr("activation", "tanh")}, {normal({1, 2, 3}), normal({2, 1, 3})}, "activation", {"'tanh'"}, 2},
    {27, {}, {normal({1, 2, 3}), normal({3, 1, 3})}, "channels", {"CausalConvWithState(27)", "2", "3"}, 2},
    {27, {}, {normal({1, 2, 3}), normal({2, 1, 3}), normal({3})}, "bias", {"[3]", "[2]"}, 2},
    {27, {}, {normal({1, 2, 3}), normal({2, 1, 3}), absent(), normal({1, 2, 3})}, "state", {"[1, 2, 3]", "[1, 2, 2]"}, 2},
};
const Input kX = normal({2, 3, 7}), kWeight = normal({3, 1, 4}), kLast = normal({2, 7, 3});

OpCase with_expected(OpCase row, std::vector<Input> expected) {
  row.expected = std::move(expected);
  row.stock_is_wrong = true;  // it has no windows of states on the CPU
  return row;
}

const std::vector<OpCase> kContributed = {
    contributed({}, {kX, kWeight}, "no state", {}, 2),
    contributed({attr("activation", "silu")}, {kX, kWeight, normal({3}), normal({2, 3, 3})}, "bias, state and activation", {}, 2),
    contributed({attr("dilation", 3)}, {kX, kWeight, absent(), normal({2, 3, 9})}, "dilation", {}, 2),
    contributed({attr("channels_last", 1)}, {kLast, kWeight, normal({3}), normal({2, 3, 3})}, "channels last", {}, 2),
    contributed({attr("channels_last", 1), attr("dilation", 2), attr("activation", "swish")}, {normal({2, 2, 3, 2}), normal({6, 1, 3})},
                "channels in two dimensions, fewer positions than the state holds", {}, 2),
    contributed({attr("channels_last", 1)}, {normal({2, 1, 5}), normal({5, 1, 1})}, "one tap", {}, 2),
    with_expected(contributed({attr("state_window", 3)}, {values({1, 1, 2}, {1, 2}), values({1, 1, 2}, {10, 1})},
                              "states after the last three of two positions", {}, 2),
                  {values({1, 1, 2}, {1, 12}), values({3, 1, 1, 1}, {0, 1, 2})}),
    with_expected(contributed({attr("state_window", 2), attr("channels_last", 1)},
                              {values({1, 2, 1}, {1, 2}), values({1, 1, 2}, {10, 1}), absent(), values({2, 1, 1, 1}, {9, 3})},
                              "the past is the last state", {}, 2),
                  {values({1, 2, 1}, {31, 12}), values({2, 1, 1, 1}, {1, 2})}),
    contributed({attr("dilation", 0)}, {kX, kWeight}, "dilation", {"dilation is 0"}, 2),
    contributed({attr("ndim", 2)}, {kX, kWeight}, "dimensions", {"ndim is 2"}, 2),
    contributed({attr("state_window", 9)}, {kX, kWeight}, "window", {"state_window is 9"}, 2),
    contributed({attr("state_length", 5)}, {kX, kWeight}, "longer states", {"state_length is 5", "not supported on CPU"}, 2),
    contributed({attr("channels_last", 1)}, {kX, kWeight}, "channels", {"weight [3, 1, 4]", "length, channels"}, 2),
};
TEST(OpCases, CausalConvWithStateOfMicrosoft) { run_op_cases("CausalConvWithState", kContributed, FloatsAndHalves::set); }

RH_OP_TEST(CausalConvWithState, kCausalConvWithState, FloatsAndHalves::set)

}  // namespace
}  // namespace rh::test
