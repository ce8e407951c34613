#include "support/op_case.h"

namespace rh::test {
namespace {

const std::vector<OpCase> kGatedRMSNorm = {
    contributed({}, {normal({2, 3, 70}), normal({70}), normal({2, 3, 70})}, "one group a row"),
    contributed({attr("activation", "swish")}, {normal({2, 3, 66}), normal({33}), normal({2, 3, 66})}, "two groups a row"),
    contributed({attr("activation", "sigmoid"), attr("epsilon", 0.25f)}, {normal({2, 24}), normal({8}), normal({2, 24})}, "sigmoid"),
    contributed({attr("activation", "silu")}, {normal({6}), normal({1}), normal({6})}, "groups of one"),
    contributed({}, {normal({0, 4}), normal({2}), normal({0, 4})}, "no rows"),
    contributed({}, {normal({2, 0}), normal({2}), normal({2, 0})}, "no columns"),
    contributed({attr("activation", "relu")}, {normal({2, 4}), normal({4}), normal({2, 4})}, "activation",
                {"GatedRMSNorm", "relu", "silu"}),
    contributed({}, {normal({2, 4}), normal({3}), normal({2, 4})}, "not a multiple", {"GatedRMSNorm", "[2, 4]", "[3]"}),
    contributed({}, {normal({2, 4}), normal({0}), normal({2, 4})}, "no scale", {"GatedRMSNorm", "[0]"}),
    contributed({}, {normal({2, 4}), normal({4}), normal({1, 4})}, "gate of another shape", {"GatedRMSNorm", "[1, 4]", "[2, 4]"}),
    contributed({attr("epsilon", -1.0f)}, {normal({2, 4}), normal({4}), normal({2, 4})}, "epsilon", {"GatedRMSNorm", "-1"}),
};
RH_OP_TEST(GatedRMSNorm, kGatedRMSNorm, (Types<float, Float16, BFloat16>::set))

}  // namespace
}  // namespace rh::test
