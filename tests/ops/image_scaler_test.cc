#include "support/op_case.h"

namespace rh::test {
namespace {

const std::vector<OpCase> kImageScaler = {
    {7, {attr("scale", 0.5f), attr("bias", std::vector<float>{1, 2, 3})}, {normal({2, 3, 4, 5})}, "images"},
    {9, {attr("bias", std::vector<float>{1})}, {normal({1, 1, 100, 100})}, "one channel"},
    {7, {attr("bias", std::vector<float>{1, 2})}, {normal({1, 3, 2, 2})}, "other channels", {"2 numbers", "expected 3"}},
    {7, {}, {normal({1, 3, 2, 2})}, "no bias", {"'bias' is missing"}},
};
RH_OP_TEST(ImageScaler, kImageScaler, FloatingTypes::set)

const std::vector<OpCase> kAffine = {
    {7, {attr("alpha", 2.0f), attr("beta", -1.0f)}, {normal({2, 70})}, "both numbers"},
    {1, {}, {normal({3})}, "defaults"},
    {7, {}, {normal({0, 3})}, "empty"},
};
RH_OP_TEST(Affine, kAffine, FloatingTypes::set)

const std::vector<OpCase> kScale = {{7, {attr("scale", 3.0f)}, {normal({2, 3})}, "numbers"}};
RH_OP_TEST(Scale, kScale, FloatingTypes::set)

}  // namespace
}  // namespace rh::test
