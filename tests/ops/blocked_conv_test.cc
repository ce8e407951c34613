#include "support/op_case.h"

namespace rh::test {
namespace {

OpCase blocked(std::vector<Attribute> attributes, Input x, Input weights, const char* purpose, std::vector<Input> expected,
               std::vector<std::string> fails = {}) {
  OpCase c{1, std::move(attributes), {std::move(x), weights.constant()}, purpose};
  c.domain = "roundhouse";
  c.expected = std::move(expected);
  c.fails = std::move(fails);
  return c;
}

/// [1, 1, 1, 2, 16] whose channel 0 has these values, the others zero.
Input pixels(double first, double second) {
  std::vector<double> all(32, 0);
  all[0] = first;
  all[16] = second;
  return values({1, 1, 1, 2, 16}, all);
}

const Input kX = pixels(2, 3), kOne = values({1, 1, 1, 3}, {10, 1, 100});
const Attribute kPads = attr("pads", {0, 1, 0, 1});

const std::vector<OpCase> kBlockedConv = {
    blocked({kPads}, kX, kOne, "by hand", {pixels(302, 23)}),
    blocked({kPads, attr("activation", "Clip"), attr("activation_params", std::vector<float>{30, 100})}, kX, kOne, "an activation",
            {values({1, 1, 1, 2, 16}, {100, 30, 30, 30, 30, 30, 30, 30, 30, 30, 30, 30, 30, 30, 30, 30,
                                       30,  30, 30, 30, 30, 30, 30, 30, 30, 30, 30, 30, 30, 30, 30, 30})}),
    blocked({kPads, attr("from_planes", 1)}, values({1, 1, 1, 2}, {2, 3}), kOne, "of planes", {pixels(302, 23)}),
    blocked({}, kX, kOne, "a window that does not fit", {}, {"window of 3", "2 elements"}),
    blocked({kPads}, normal({0, 1, 1, 2, 16}), kOne, "empty batch", {values({0, 1, 1, 2, 16}, {})}),
    blocked({kPads}, normal({1, 2, 1, 2, 16}), kOne, "blocks that do not fit", {}, {"BlockedConv", "[1, 2, 1, 2, 16]"}),
    blocked({kPads}, normal({1, 1, 1, 2}), kOne, "planes that it is not to take", {}, {"BlockedConv", "[1, 1, 1, 2]"}),
    blocked({attr("group", 2)}, kX, normal({2, 2, 1, 1}), "groups of channels", {}, {"2 groups"}),
};
RH_OP_TEST(BlockedConv, kBlockedConv, (Types<float>::set))

}  // namespace
}  // namespace rh::test
