#include "support/op_case.h"

namespace rh::test {
namespace {

const std::vector<OpCase> kBinarizer = {
    {1, {}, {uniform({4, 5}, -9, 9)}, "above 0", {}, 1, 0, "ai.onnx.ml"},
    {1, {attr("threshold", 2.0f)}, {values({3, 2}, {1, 2, 3, -4, 5, 0})}, "above 2", {}, 1, 0, "ai.onnx.ml"},
};
RH_OP_TEST(Binarizer, kBinarizer, (Types<float, double, int64_t, int32_t>::set))

}  // namespace
}  // namespace rh::test
