#include "support/op_case.h"

namespace rh::test {
namespace {

const std::vector<OpCase> kAffineGrid = {
    {.opset = 20,
     .attributes = {attr("align_corners", 1)},
     .inputs = {values({1, 2, 3}, {1, 0, 0.5, 0, 2, 0}), ints({1, 1, 2, 2})},
     .purpose = "corners",
     .expected = {values({1, 2, 2, 2}, {-0.5, -2, 1.5, -2, -0.5, 2, 1.5, 2})}},
    {.opset = 20,
     .inputs = {values({1, 2, 3}, {1, 0, 0, 0, 1, 0}), ints({1, 1, 1, 2})},
     .purpose = "middles",
     .expected = {values({1, 1, 2, 2}, {-0.5, 0, 0.5, 0})}},
    {20, {}, {normal({2, 3, 4}), ints({2, 5, 3, 4, 2})}, "three dimensions"},
    {20, {attr("align_corners", 1)}, {normal({2, 2, 3}), ints({2, 5, 3, 4}).constant()}, "constant size"},
    {20, {}, {normal({2, 2, 3}), ints({2, 5, 3, 4, 2})}, "dimensions", {"AffineGrid(20)", "[2, 2, 3]", "[2, 5, 3, 4, 2]"}},
    {20, {}, {normal({1, 2, 3}), ints({1, 1, -3, 4})}, "size below 0", {"-3"}},
    {20, {}, {normal({1, 2, 3}), ints({1, 1, int64_t{1} << 40, int64_t{1} << 40})}, "sizes that overflow", {"AffineGrid(20)"}},
};
RH_OP_TEST(AffineGrid, kAffineGrid, FloatingTypes::set)

}  // namespace
}  // namespace rh::test
