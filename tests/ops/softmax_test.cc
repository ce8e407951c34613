#include "support/op_case.h"

namespace rh::test {
namespace {

const std::vector<OpCase> kSoftmax = {
    // opset, attributes, inputs, what it is for
    {13, {attr("axis", -1)}, {normal({2, 3})}, "rows"},
    {13, {attr("axis", 0)}, {normal({3, 5, 7})}, "strided"},
    {11, {attr("axis", 1)}, {normal({2, 3, 4})}, "flattened form of old opsets"},
    {9, {}, {normal({2, 3, 4})}, "default axis of old opsets"},
    {13, {attr("axis", -1)}, {normal({1, 70'001})}, "longer than a tile, odd"},
    {13, {attr("axis", -1)}, {normal({4, 0})}, "empty rows"},
    {13, {attr("axis", -1)}, {values({2, 4}, {-inf, 1, 2, 3, 1e4, 1e4, -1e4, 0})}, "masked; large"},
    {13, {attr("axis", 3)}, {normal({2, 3})}, "axis out of range", {"axis is 3", "[-2, 1]"}},
};
RH_OP_TEST(Softmax, kSoftmax, FloatingTypes::set)
RH_OP_TEST(LogSoftmax, kSoftmax, FloatingTypes::set)

}  // namespace
}  // namespace rh::test
