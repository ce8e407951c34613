#include "support/op_case.h"

namespace rh::test {
namespace {

Input scales(std::vector<double> values_) {
  const int64_t count = static_cast<int64_t>(values_.size());
  return values({count}, std::move(values_)).as(DType::float32);
}

const std::vector<OpCase> kResize = {
    {13, {}, {normal({1, 2, 4, 5}), absent(), scales({1, 1, 2, 2})}, "nearest, up"},
    {13,
     {attr("coordinate_transformation_mode", "asymmetric"), attr("nearest_mode", "floor")},
     {normal({1, 2, 4, 5}), absent(), scales({1, 1, 2, 3})},
     "asymmetric floor"},
    {13, {attr("mode", "linear")}, {normal({1, 2, 4, 5}), absent(), absent(), ints({1, 2, 7, 9})}, "linear to sizes"},
    {13,
     {attr("coordinate_transformation_mode", "asymmetric"), attr("nearest_mode", "round_prefer_ceil")},
     {normal({1, 1, 7, 7}), absent(), absent(), ints({1, 1, 8, 8})},
     "half way between two"},
    {13,
     {attr("mode", "linear"), attr("coordinate_transformation_mode", "align_corners")},
     {normal({1, 2, 4, 5}), absent(), scales({1, 1, 2, 2}).constant()},
     "corners aligned"},
    {13,
     {attr("mode", "linear"), attr("coordinate_transformation_mode", "pytorch_half_pixel")},
     {normal({1, 2, 8, 8}), absent(), scales({1, 1, 0.5, 0.4})},
     "down"},
    {13, {attr("mode", "cubic")}, {normal({1, 1, 6, 6}), absent(), scales({1, 1, 1.7, 2})}, "cubic", {}, 1, 1e-5},
    {13,
     {attr("mode", "cubic"), attr("exclude_outside", 1), attr("cubic_coeff_a", -0.5f)},
     {normal({1, 1, 6, 6}), absent(), scales({1, 1, 2, 2})},
     "cubic without the outside",
     {},
     1,
     1e-5},
    {18,
     {attr("mode", "linear"), attr("antialias", 1)},
     {normal({1, 1, 12, 12}), absent(), scales({1, 1, 0.4, 0.5})},
     "antialiased",
     {},
     1,
     1e-5},
    {10, {}, {normal({1, 1, 3, 3}), scales({1, 1, 2, 2})}, "opset 10"},
    {13, {}, {normal({1, 2, 4, 5}), absent(), scales({1, 1, 2})}, "too few scales", {"3 scales", "expected 4"}},
    {13, {attr("mode", "area")}, {normal({1, 2, 4, 5}), absent(), scales({1, 1, 2, 2})}, "no such mode", {"area", "nearest, linear"}},
};
RH_OP_TEST(Resize, kResize, (Types<float>::set))

const std::vector<OpCase> kNearest = {
    {13, {}, {normal({1, 2, 4, 5}), absent(), scales({1, 1, 2, 2})}, "up"},
    {13, {attr("nearest_mode", "ceil")}, {normal({1, 2, 4, 6}), absent(), absent(), ints({1, 2, 3, 9})}, "down and up"},
};
TEST(OpCases, ResizeNearest) {
  run_op_cases("Resize", kNearest, NumericTypes::set | DTypeSet{DType::string, DType::boolean, DType::complex64});
}

const std::vector<OpCase> kUpsample = {
    {9, {}, {normal({1, 1, 3, 3}), scales({1, 1, 2, 2})}, "nearest"},
    {7, {attr("mode", "linear"), attr("scales", std::vector<float>{1, 1, 2, 2})}, {normal({1, 1, 3, 3})}, "attribute form"},
};
RH_OP_TEST(Upsample, kUpsample, (Types<float>::set))

}  // namespace
}  // namespace rh::test
