#include <limits>

#include "support/op_case.h"

namespace rh::test {
namespace {

const std::vector<OpCase> kDeformConv = {
    {.opset = 19,
     .inputs = {values({1, 1, 2, 2}, {1, 2, 3, 4}), values({1, 1, 1, 1}, {2}), values({1, 2, 2, 2}, {0.5, 0, 0, 0, 0.5, 0, 0, 1})},
     .purpose = "the middle, two in place, one outside",
     .expected = {values({1, 1, 2, 2}, {5, 4, 6, 0})}},
    {19,
     {attr("pads", {1, 1, 1, 1})},
     {normal({2, 4, 6, 5}), normal({3, 4, 3, 3}), normal({2, 18, 6, 5}), normal({3}), normal({2, 9, 6, 5})},
     "bias and mask"},
    {19,
     {attr("pads", {1, 0, 1, 2}), attr("strides", {2, 1}), attr("dilations", {1, 2}), attr("group", 2), attr("offset_group", 4)},
     {normal({2, 4, 7, 6}), normal({6, 2, 3, 2}), normal({2, 48, 4, 6})},
     "groups"},
    {19,
     {attr("pads", {1, 1, 1, 1}), attr("strides", {1, 2})},
     {normal({2, 20, 13, 15}), normal({5, 20, 3, 3}), normal({2, 18, 13, 8}), normal({5}), normal({2, 9, 13, 8})},
     "many channels"},
    {19,
     {attr("pads", {0, 1, 2, 0}), attr("offset_group", 2)},
     {normal({1, 18, 12, 14}), normal({3, 18, 2, 3}), uniform({1, 24, 13, 13}, -9, 9)},
     "many channels in groups of offsets, far outside"},
    {22, {}, {normal({1, 2, 4, 4, 3}), normal({2, 2, 2, 2, 2}), normal({1, 24, 3, 3, 2})}, "three dimensions"},
    {19,
     {},
     {normal({1, 1, 3, 3}), normal({1, 1, 2, 2}), values({1, 8, 2, 2}, std::vector<double>(32, std::numeric_limits<double>::quiet_NaN()))},
     "no positions",
     {},
     1,
     0,
     "",
     nullptr,
     {values({1, 1, 2, 2}, {0, 0, 0, 0})},
     true},
    {19,
     {},
     {normal({1, 2, 3, 3}), normal({1, 2, 2, 2}), normal({1, 8, 3, 3})},
     "offsets",
     {"DeformConv(19)", "[1, 8, 3, 3]", "[1, 8, 2, 2]"}},
    {19,
     {},
     {normal({1, 2, 3, 3}), normal({1, 2, 2, 2}), normal({1, 8, 2, 2}), absent(), normal({1, 8, 2, 2})},
     "mask",
     {"mask has shape [1, 8, 2, 2]"}},
    {19,
     {attr("offset_group", 3)},
     {normal({1, 2, 3, 3}), normal({1, 2, 2, 2}), normal({1, 24, 2, 2})},
     "offset groups",
     {"offset_group 3"}},
};
TEST(OpCases, DeformConv) {
  std::vector<OpCase> cases = kDeformConv;
  for (OpCase& c : cases) c.tolerance = 1e-5;
  run_op_cases("DeformConv", cases, FloatingTypes::set);
}

}  // namespace
}  // namespace rh::test
