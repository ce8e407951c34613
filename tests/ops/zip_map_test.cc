#include "support/op_case.h"

namespace rh::test {
namespace {

const std::vector<OpCase> kZipMap = {
    {1, {attr("classlabels_int64s", {7, 3})}, {normal({3, 2})}, "integer labels", {}, 1, 0, "ai.onnx.ml"},
    {1, {attr("classlabels_strings", std::vector<std::string>{"b", "a", "c"})}, {normal({2, 3})}, "names", {}, 1, 0, "ai.onnx.ml"},
    {1, {attr("classlabels_int64s", {7, 3})}, {normal({3, 3})}, "a column too many", {"3", "2"}, 1, 0, "ai.onnx.ml"},
    {1, {}, {normal({3, 3})}, "no labels", {"classlabels_int64s"}, 1, 0, "ai.onnx.ml"},
};
RH_OP_TEST(ZipMap, kZipMap, (Types<float>::set))

}  // namespace
}  // namespace rh::test
