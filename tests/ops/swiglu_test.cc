#include "support/op_case.h"

namespace rh::test {
namespace {

const std::vector<OpCase> kSwiGLU = {
    {.opset = 28,
     .inputs = {values({3}, {0, 1, -2}), values({3}, {5, 2, 0.5})},
     .purpose = "known values",
     .expected = {values({3}, {0, 1.4621171572600098, -0.11920292202211755})}},
    {.opset = 28,
     .attributes = {attr("alpha", 2.0f)},
     .inputs = {values({2}, {1, -1}), values({2}, {1, 3})},
     .purpose = "alpha",
     .expected = {values({2}, {0.8807970779778825, -0.3576087660663525})}},
    {.opset = 28, .inputs = {normal({3, 1500}), normal({3, 1500})}, .purpose = "beyond a piece"},
    {.opset = 28, .inputs = {normal({0, 3}), normal({0, 3})}, .purpose = "nothing"},
    {.opset = 28, .inputs = {normal({2, 3}), normal({2, 1})}, .purpose = "does not broadcast", .fails = {"SwiGLU(28)", "3", "1"}},
};
RH_OP_TEST(SwiGLU, kSwiGLU, FloatingTypes::set)

}  // namespace
}  // namespace rh::test
