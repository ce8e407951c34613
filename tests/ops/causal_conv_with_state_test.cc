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
RH_OP_TEST(CausalConvWithState, kCausalConvWithState, FloatsAndHalves::set)

}  // namespace
}  // namespace rh::test
