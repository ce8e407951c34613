#include "support/op_case.h"

namespace rh::test {
namespace {

constexpr char kMl[] = "ai.onnx.ml";

const std::vector<OpCase> kArrayFeatureExtractor = {
    {1, {}, {uniform({3, 4}, -9, 9), ints({2, 0, 2})}, "columns", {}, 1, 0, kMl},
    {1, {}, {uniform({6, 5}, -9, 9), ints({4, 1, 1})}, "of an even number of rows", {}, 1, 0, kMl},
    {1, {}, {uniform({4}, -9, 9), ints({3})}, "of one row", {}, 1, 0, kMl},
    {1, {}, {uniform({2, 3, 4}, -9, 9), ints({3, 1})}, "three dimensions", {}, 1, 0, kMl},
    {1, {}, {uniform({3, 4}, -9, 9), ints({4})}, "past the end", {"place 0 is 4", "[0, 4)"}, 1, 0, kMl},
    {1, {}, {uniform({3, 4}, -9, 9), ints({-1})}, "negative", {"place 0 is -1"}, 1, 0, kMl},
};
const std::vector<OpCase> kStrings = {
    {1, {}, {strings({2, 2}, {"a", "b", "c", "d"}), ints({1})}, "strings", {}, 1, 0, kMl, "ArrayFeatureExtractor"},
};
RH_OP_TEST(ArrayFeatureExtractor, kArrayFeatureExtractor, (Types<float, double, int64_t, int32_t>::set))
RH_OP_TEST(ArrayFeatureExtractorOfStrings, kStrings, (Types<std::string>::set))

}  // namespace
}  // namespace rh::test
