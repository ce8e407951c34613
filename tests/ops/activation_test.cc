#include <cmath>
#include "support/op_case.h"

namespace rh::test {
namespace {

OpCase one(int opset, const char* op_type, std::vector<Attribute> attributes = {}, const char* purpose = "elements") {
  return {opset, std::move(attributes), {uniform({3, 5, 23}, -6, 6)}, purpose, {}, 1, 0, "", op_type};
}

const std::vector<OpCase> kActivations = {
    one(14, "Relu"),
    one(16, "LeakyRelu"),
    one(16, "LeakyRelu", {attr("alpha", 0.3f)}, "alpha"),
    one(22, "Elu"),
    one(22, "Elu", {attr("alpha", 2.0f)}, "alpha"),
    one(22, "Selu"),
    one(22, "Selu", {attr("alpha", 1.5f), attr("gamma", 0.7f)}, "alpha and gamma"),
    one(12, "Celu"),
    one(12, "Celu", {attr("alpha", 0.5f)}, "alpha"),
    one(22, "HardSigmoid"),
    one(22, "HardSigmoid", {attr("alpha", 0.5f), attr("beta", 0.1f)}, "alpha and beta"),
    one(22, "HardSwish"),
    one(22, "Softplus"),
    one(22, "Softsign"),
    one(22, "ThresholdedRelu"),
    one(22, "ThresholdedRelu", {attr("alpha", 0.2f)}, "alpha"),
    one(20, "Gelu"),
    one(22, "Mish"),
    one(24, "Swish"),
    one(24, "Swish", {attr("alpha", 1.7f)}, "alpha"),
    {20, {attr("approximate", "cubic")}, {normal({2})}, "unknown form", {"cubic", "none or tanh"}, 1, 0, "", "Gelu"},
};
RH_OP_TEST(Activations, kActivations, FloatingTypes::set)

// The stock library computes these in float for every type.
const std::vector<OpCase> kInFloat = {
    one(20, "Gelu", {attr("approximate", "tanh")}, "tanh form"),
    one(9, "Shrink"),
    one(9, "Shrink", {attr("lambd", 1.5f), attr("bias", 1.5f)}, "bias"),
};
RH_OP_TEST(ActivationsInFloat, kInFloat, (Types<float, Float16>::set))

const std::vector<OpCase> kInfinite = {
    {14, {}, {values({3}, {inf, -inf, -0.0})}, "ends", {}, 1, 0, "", "Relu"},
    {22, {}, {values({4}, {inf, -inf, 1000, -1000})}, "ends", {}, 1, 0, "", "Softplus"},
    {22, {}, {values({4}, {inf, -inf, 1000, -1000})}, "ends", {}, 1, 0, "", "HardSigmoid"},
    {22, {}, {values({4}, {inf, -inf, 100, -100})}, "ends", {}, 1, 0, "", "Elu"},
    {10,
     {},
     {values({3}, {std::nan(""), 2, inf})},
     "not a number is not above alpha",
     {},
     1,
     0,
     "",
     "ThresholdedRelu",
     {values({3}, {0, 2, inf})}},
};
RH_OP_TEST(ActivationEnds, kInfinite, (Types<float, double>::set))

const std::vector<OpCase> kInteger = {{14, {}, {normal({40})}, "integers", {}, 1, 0, "", "Relu"}};
RH_OP_TEST(IntegerRelu, kInteger, SignedTypes::set)

const std::vector<OpCase> kPRelu = {
    {16, {}, {normal({2, 3, 4}), normal({2, 3, 4})}, "same shape"},
    {16, {}, {normal({2, 3, 4}), normal({3, 1})}, "a slope a channel"},
    {16, {}, {normal({2, 3, 4}), normal({1})}, "one slope"},
    {6, {}, {normal({2, 3, 4, 5}), normal({3})}, "a slope a channel, old form"},
    {16, {}, {normal({0, 3}), normal({3})}, "empty"},
};
RH_OP_TEST(PRelu, kPRelu, FloatingTypes::set)

const std::vector<OpCase> kEarly = {
    {7, {attr("alpha", 2.0f), attr("beta", 0.5f)}, {uniform({3, 40}, -30, 30)}, "up to opset 9", {}, 1, 0, "", "ParametricSoftplus"},
    {9, {attr("alpha", 2.0f), attr("beta", 0.5f)}, {uniform({3, 40}, -9, 9)}, "up to opset 9", {}, 1, 0, "", "ScaledTanh"},
    {7, {attr("alpha", 2.0f)}, {normal({3})}, "no beta", {"'beta' is missing"}, 1, 0, "", "ScaledTanh"},
    {7, {}, {normal({9})}, "before its first version in the standard", {}, 1, 0, "", "ThresholdedRelu"},
};
RH_OP_TEST(EarlyActivations, kEarly, (Types<float>::set))

}  // namespace
}  // namespace rh::test
