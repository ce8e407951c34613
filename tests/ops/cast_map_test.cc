#include "support/op_case.h"

namespace rh::test {
namespace {

const std::vector<OpCase> kCastMap = {
    {1, {attr("cast_to", "TO_BOOL")}, {values({2}, {1, 4})}, "no such type", {"TO_BOOL"}, 1, 0, "ai.onnx.ml"},
    {1, {attr("map_form", "OTHER")}, {values({2}, {1, 4})}, "no such form", {"OTHER"}, 1, 0, "ai.onnx.ml"},
};
RH_OP_TEST(CastMap, kCastMap, (Types<float>::set))

}  // namespace
}  // namespace rh::test
