#include "support/op_case.h"

namespace rh::test {
namespace {

constexpr char kMl[] = "ai.onnx.ml";

const std::vector<OpCase> kFeatureVectorizer = {
    {1, {attr("inputdimensions", {2, 3})}, {uniform({4, 2}, -9, 9), uniform({4, 3}, -9, 9)}, "two inputs", {}, 1, 0, kMl},
    {1, {attr("inputdimensions", {3})}, {uniform({2, 3}, -9, 9)}, "one input", {}, 1, 0, kMl},
    {1, {attr("inputdimensions", {3, 1})}, {uniform({3}, -9, 9), uniform({1}, -9, 9)}, "one row", {}, 1, 0, kMl},
    {1, {attr("inputdimensions", {2, 3})}, {uniform({4, 2}, -9, 9), uniform({3, 3}, -9, 9)}, "other rows", {"[3, 3]", "4"}, 1, 0, kMl},
    {1,
     {attr("inputdimensions", {2})},
     {uniform({4, 2}, -9, 9), uniform({4, 3}, -9, 9)},
     "too few sizes",
     {"1 inputdimensions", "2 inputs"},
     1,
     0,
     kMl},
};
RH_OP_TEST(FeatureVectorizer, kFeatureVectorizer, (Types<float, double, int64_t, int32_t>::set))

}  // namespace
}  // namespace rh::test
