#include <cmath>
#include <limits>

#include "support/op_case.h"

namespace rh::test {
namespace {

Input positions(Shape shape, std::vector<double> numbers) { return values(std::move(shape), std::move(numbers)).as(DType::float32); }

// Every mode and padding, in two and three dimensions, with positions beyond the borders.
TEST(OpCases, GridSampleModes) {
  std::vector<OpCase> cases;
  for (const char* padding : {"zeros", "border", "reflection"}) {
    for (int corners : {0, 1}) {
      for (const char* mode : {"nearest", "linear", "cubic"}) {
        cases.push_back({20,
                         {attr("mode", mode), attr("padding_mode", padding), attr("align_corners", corners)},
                         {normal({2, 3, 5, 4}).as(DType::float32), uniform({2, 3, 7, 2}, -2.5, 2.5).as(DType::float32)},
                         mode});
        cases.back().tolerance = 1e-5;
      }
      for (const char* mode : {"nearest", "linear", "cubic"}) {
        cases.push_back({20,
                         {attr("mode", mode), attr("padding_mode", padding), attr("align_corners", corners)},
                         {normal({2, 19, 5, 4}).as(DType::float32), uniform({2, 11, 13, 2}, -1.5, 1.5).as(DType::float32)},
                         "many channels"});
        cases.back().tolerance = 1e-5;
      }
      for (const char* mode : {"nearest", "linear"}) {
        cases.push_back({20,
                         {attr("mode", mode), attr("padding_mode", padding), attr("align_corners", corners)},
                         {normal({1, 2, 3, 5, 4}).as(DType::float32), uniform({1, 2, 3, 2, 3}, -1.5, 1.5).as(DType::float32)},
                         mode});
        cases.back().tolerance = 1e-5;
      }
    }
  }
  run_op_cases("GridSample", cases, Types<float>::set);
}

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN(), kInfinity = std::numeric_limits<double>::infinity();

const std::vector<OpCase> kGridSample = {
    {.opset = 20,
     .attributes = {attr("mode", "nearest"), attr("align_corners", 1)},
     .inputs = {values({1, 1, 2, 2}, {1, 0, 0, 1}), positions({1, 1, 3, 2}, {-1, -1, 1, -1, 1, 1})},
     .purpose = "corners, the innermost dimension first",
     .expected = {values({1, 1, 1, 3}, {1, 0, 1})}},
    {.opset = 20,
     .attributes = {attr("align_corners", 1)},
     .inputs = {values({1, 1, 3}, {0, 2, 4}), positions({1, 3, 1}, {-0.5, 0.5, 1})},
     .purpose = "one dimension",
     .expected = {values({1, 1, 3}, {1, 3, 4})}},
    {.opset = 20,
     .inputs = {values({1, 1, 2, 2}, {1, 1, 1, 1}), positions({1, 1, 4, 2}, {kNaN, 0, kInfinity, 0, 0, -kInfinity, 1e30, 1e30})},
     .purpose = "NaN is -1, infinity is outside",
     .expected = {values({1, 1, 1, 4}, {0.5, 0, 0, 0})},
     .stock_is_wrong = true},
    {20,
     {attr("padding_mode", "reflection")},
     {normal({1, 1, 2, 2}), positions({1, 1, 3, 2}, {kInfinity, 0, 1e30, 1e30, 0, kNaN})},
     "reflected from afar",
     {},
     1,
     0,
     "",
     nullptr,
     {},
     true},
    {20,
     {attr("padding_mode", "border"), attr("mode", "cubic")},
     {normal({1, 1, 2, 2}).as(DType::float32), positions({1, 1, 2, 2}, {kInfinity, 0, 1e30, 1e30})},
     "border from afar",
     {},
     1,
     0,
     "",
     nullptr,
     {},
     true},
    {20,
     {attr("padding_mode", "reflection"), attr("align_corners", 1)},
     {normal({1, 1, 1, 1}), positions({1, 1, 2, 2}, {-3, 0, 5, 5})},
     "one element",
     {},
     1,
     0,
     "",
     nullptr,
     {},
     true},
    {16, {attr("mode", "bilinear")}, {normal({1, 2, 3, 3}), positions({1, 1, 2, 2}, {0.1, 0.2, -0.7, 0.9})}, "names of opset 16"},
    {20, {}, {normal({1, 2, 0, 3}), positions({1, 1, 1, 2}, {0, 0})}, "nothing to take", {"GridSample(20)", "[1, 2, 0, 3]"}},
    {20, {}, {normal({1, 2, 3, 3}), positions({1, 1, 1, 3}, {0, 0, 0})}, "positions of three numbers", {"[1, 1, 1, 3]", "2"}},
    {20, {}, {normal({2, 2, 3, 3}), positions({1, 1, 1, 2}, {0, 0})}, "batch", {"[2, 2, 3, 3]", "[1, 1, 1, 2]"}},
};
TEST(OpCases, GridSample) {
  std::vector<OpCase> cases = kGridSample;
  cases.push_back({20, {attr("mode", "nearest")}, {strings({1, 1, 1, 2}, {"a", "b"}), positions({1, 1, 2, 2}, {0.9, 0, 5, 0})}, "strings"});
  cases.push_back({20, {}, {strings({1, 1, 1, 2}, {"a", "b"}), positions({1, 1, 1, 2}, {0.9, 0})}, "strings between", {"strings"}});
  run_op_cases("GridSample", cases, FloatingTypes::set);
}

const std::vector<OpCase> kOtherTypes = {
    {20,
     {},
     {values({1, 1, 2, 2}, {1, 0, 1, 1}), positions({1, 1, 3, 2}, {-0.5, -0.5, 0.5, -0.5, 0, 0})},
     "two dimensions",
     {},
     1,
     0,
     "",
     nullptr,
     {},
     true},
};
TEST(OpCases, GridSampleTypes) {
  run_op_cases("GridSample", kOtherTypes, (Concat<IntegerTypes, Types<bool, std::complex<float>, std::complex<double>>>::set));
}

}  // namespace
}  // namespace rh::test
