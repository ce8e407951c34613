#include "support/op_case.h"

namespace rh::test {
namespace {

constexpr char kMl[] = "ai.onnx.ml";
using Floats = std::vector<float>;

const std::vector<OpCase> kScaler = {
    {1, {attr("offset", Floats{1, 2, 3}), attr("scale", Floats{0.5f, 2, -1})}, {uniform({4, 3}, -9, 9)}, "a scale each", {}, 1, 1e-5, kMl},
    {1, {attr("offset", Floats{1}), attr("scale", Floats{0.5f})}, {uniform({4, 3}, -9, 9)}, "one for all", {}, 1, 1e-5, kMl},
    {1, {attr("offset", Floats{1, 2}), attr("scale", Floats{0.5f, 3})}, {uniform({2}, -9, 9)}, "one row", {}, 1, 1e-5, kMl},
    {1, {attr("offset", Floats{1, 2}), attr("scale", Floats{0.5f, 3})}, {uniform({0, 2}, -9, 9)}, "no rows", {}, 1, 1e-5, kMl},
    {1,
     {attr("offset", Floats{1, 2}), attr("scale", Floats{0.5f})},
     {uniform({2}, -9, 9)},
     "not as many",
     {"2 offsets", "1 scales"},
     1,
     0,
     kMl},
    {1,
     {attr("offset", Floats{1, 2}), attr("scale", Floats{0.5f, 3})},
     {uniform({2, 3}, -9, 9)},
     "other features",
     {"3 features", "2"},
     1,
     0,
     kMl},
};
RH_OP_TEST(Scaler, kScaler, (Types<float, double, int64_t, int32_t>::set))

}  // namespace
}  // namespace rh::test
