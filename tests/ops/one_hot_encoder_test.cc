#include "support/op_case.h"

namespace rh::test {
namespace {

constexpr char kMl[] = "ai.onnx.ml";
using Names = std::vector<std::string>;

const std::vector<OpCase> kOneHotEncoder = {
    {1, {attr("cats_int64s", {1, 5, 3})}, {values({2, 3}, {1, 3, 5, 4, 1, 0})}, "numbers", {}, 1, 0, kMl},
    {1, {attr("cats_int64s", {1, 5, 3})}, {values({3}, {1, 3, 5})}, "one dimension", {}, 1, 0, kMl},
    {1, {attr("cats_int64s", {1, 5}), attr("zeros", 0)}, {values({2}, {1, 4})}, "of no category", {"4", "categor"}, 1, 0, kMl},
    {1, {}, {values({2}, {1, 4})}, "no categories", {"cats_int64s"}, 1, 0, kMl},
};
const std::vector<OpCase> kStrings = {
    {1, {attr("cats_strings", Names{"b", "a"})}, {strings({3}, {"a", "c", "b"})}, "strings", {}, 1, 0, kMl, "OneHotEncoder"},
};
RH_OP_TEST(OneHotEncoder, kOneHotEncoder, (Types<int64_t, int32_t, float, double>::set))
RH_OP_TEST(OneHotEncoderOfStrings, kStrings, (Types<std::string>::set))

}  // namespace
}  // namespace rh::test
