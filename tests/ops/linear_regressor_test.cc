#include "support/op_case.h"

namespace rh::test {
namespace {

constexpr char kMl[] = "ai.onnx.ml";
using Floats = std::vector<float>;

const std::vector<OpCase> kLinearRegressor = {
    {1,
     {attr("coefficients", Floats{1, -2, 0.5f}), attr("intercepts", Floats{3})},
     {uniform({5, 3}, -9, 9)},
     "one target",
     {},
     1,
     1e-5,
     kMl},
    {1,
     {attr("coefficients", Floats{1, -2, 0.5f}), attr("post_transform", "LOGISTIC")},
     {uniform({5, 3}, -9, 9)},
     "one target stays as it is",
     {},
     1,
     1e-5,
     kMl},
    {1,
     {attr("coefficients", Floats{1, -2, 0.5f, 4}), attr("targets", 2)},
     {uniform({5, 2}, -9, 9)},
     "two targets, no intercepts",
     {},
     1,
     1e-5,
     kMl},
    {1,
     {attr("coefficients", Floats{1, -2, 0.5f, 4}), attr("targets", 2), attr("post_transform", "SOFTMAX")},
     {uniform({5, 2}, -3, 3)},
     "softmax",
     {},
     1,
     1e-5,
     kMl},
    {1,
     {attr("coefficients", Floats{1, -2, 0.5f, 4}), attr("targets", 2), attr("post_transform", "LOGISTIC")},
     {uniform({5, 2}, -3, 3)},
     "logistic",
     {},
     1,
     1e-5,
     kMl},
    {1,
     {attr("coefficients", Floats{1, -2, 0.5f}), attr("targets", 2)},
     {uniform({5, 3}, -9, 9)},
     "uneven",
     {"[5, 3]", "3 coefficients"},
     1,
     0,
     kMl},
    {1, {attr("coefficients", Floats{1, -2, 0.5f})}, {uniform({5, 4}, -9, 9)}, "other features", {"[5, 4]", "3"}, 1, 0, kMl},
    {1, {attr("coefficients", Floats{1, -2, 0.5f})}, {uniform({5, 2}, -9, 9)}, "more coefficients than features", {}, 1, 1e-5, kMl},
};
RH_OP_TEST(LinearRegressor, kLinearRegressor, (Types<float, double, int64_t, int32_t>::set))

}  // namespace
}  // namespace rh::test
