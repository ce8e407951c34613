#include "support/op_case.h"

namespace rh::test {
namespace {

constexpr char kMl[] = "ai.onnx.ml";
using Floats = std::vector<float>;
using Names = std::vector<std::string>;

const Attribute kThree = attr("coefficients", Floats{1, -2, 0.5f, 4, -1, 0.25f}), kOffsets = attr("intercepts", Floats{1, 0, -2});
const Attribute kNumbers = attr("classlabels_ints", {5, 7, 9}), kOne = attr("coefficients", Floats{0.5f, -0.25f});

const std::vector<OpCase> kLinearClassifier = {
    {1, {kThree, kOffsets, kNumbers}, {uniform({6, 2}, -9, 9)}, "three classes", {}, 2, 1e-5, kMl},
    {1, {kThree, kOffsets, attr("classlabels_strings", Names{"a", "b", "c"})}, {uniform({6, 2}, -9, 9)}, "names", {}, 2, 1e-5, kMl},
    {1, {kThree, kOffsets, kNumbers, attr("post_transform", "SOFTMAX")}, {uniform({6, 2}, -3, 3)}, "softmax", {}, 2, 1e-5, kMl},
    {1,
     {kThree, kOffsets, kNumbers, attr("post_transform", "LOGISTIC"), attr("multi_class", 1)},
     {uniform({6, 2}, -3, 3)},
     "logistic",
     {},
     2,
     1e-5,
     kMl},
    {1,
     {kThree, kOffsets, kNumbers, attr("post_transform", "SOFTMAX_ZERO")},
     {uniform({6, 2}, -3, 3)},
     "softmax of what is not zero",
     {},
     2,
     1e-5,
     kMl},
    {1,
     {kOne, attr("intercepts", Floats{0.125f}), attr("classlabels_ints", {3, 4})},
     {uniform({6, 2}, -9, 9)},
     "one score, two labels",
     {},
     2,
     1e-5,
     kMl},
    {1,
     {kOne, attr("intercepts", Floats{0.125f}), attr("classlabels_strings", Names{"no", "yes"}), attr("post_transform", "LOGISTIC")},
     {uniform({6, 2}, -9, 9)},
     "one score, two names",
     {},
     2,
     1e-5,
     kMl},
    {1,
     {kOne, attr("intercepts", Floats{0.125f}), attr("classlabels_ints", {3})},
     {uniform({6, 2}, -9, 9)},
     "one score, one label",
     {},
     2,
     1e-5,
     kMl},
    {1, {kThree, kOffsets, kNumbers}, {uniform({2}, -9, 9)}, "one row", {}, 2, 1e-5, kMl},
    {1,
     {kThree, kOffsets, attr("classlabels_ints", {5, 7})},
     {uniform({6, 2}, -9, 9)},
     "too few labels",
     {"2 labels", "3 classes"},
     2,
     0,
     kMl},
    {1, {kThree, kOffsets, kNumbers}, {uniform({6, 3}, -9, 9)}, "other features", {"[6, 3]", "2"}, 2, 0, kMl},
};
RH_OP_TEST(LinearClassifier, kLinearClassifier, (Types<float, double, int64_t, int32_t>::set))

}  // namespace
}  // namespace rh::test
