#include "support/op_case.h"

namespace rh::test {
namespace {

const std::vector<OpCase> kConv = {
    {11, {}, {normal({1, 3, 8, 9}), normal({4, 3, 3, 3})}, "two dimensions"},
    {11,
     {attr("pads", {1, 1, 1, 1})},
     {normal({2, 3, 8, 9}), normal({4, 3, 3, 3}).constant(), normal({4}).constant()},
     "padded, bias, packed"},
    {11,
     {attr("strides", {2, 2}), attr("pads", {3, 3, 3, 3})},
     {normal({1, 3, 23, 29}), normal({8, 3, 7, 7}).constant()},
     "stem of a network"},
    {11, {}, {normal({2, 17, 7, 5}), normal({33, 17, 1, 1}).constant(), normal({33}).constant()}, "1x1"},
    {11, {attr("strides", {2, 2})}, {normal({1, 16, 9, 9}), normal({8, 16, 1, 1}).constant()}, "1x1 with strides"},
    {11,
     {attr("group", 12), attr("pads", {1, 1, 1, 1})},
     {normal({2, 12, 11, 13}), normal({12, 1, 3, 3}).constant(), normal({12}).constant()},
     "depthwise"},
    {11,
     {attr("group", 8), attr("pads", {2, 2, 2, 2}), attr("strides", {2, 2})},
     {normal({1, 8, 14, 14}), normal({8, 1, 5, 5}).constant()},
     "depthwise 5x5, strides"},
    {11, {attr("group", 4)}, {normal({1, 4, 6, 6}), normal({8, 1, 3, 3}).constant()}, "depth multiplier"},
    {11, {attr("group", 2)}, {normal({1, 6, 6, 6}), normal({4, 3, 3, 3}).constant()}, "groups"},
    {11,
     {attr("dilations", {2, 3}), attr("pads", {1, 2, 3, 4})},
     {normal({1, 3, 12, 14}), normal({5, 3, 3, 3}).constant()},
     "dilations, uneven pads"},
    {11, {attr("auto_pad", "SAME_UPPER"), attr("strides", {2, 2})}, {normal({1, 3, 9, 10}), normal({4, 3, 3, 3})}, "same upper"},
    {11, {attr("auto_pad", "SAME_LOWER"), attr("strides", {2, 2})}, {normal({1, 3, 9, 10}), normal({4, 3, 4, 4})}, "same lower"},
    {11, {attr("auto_pad", "VALID")}, {normal({1, 3, 9, 10}), normal({4, 3, 3, 3})}, "valid"},
    {11, {attr("pads", {1, 1})}, {normal({2, 5, 20}), normal({6, 5, 3})}, "one dimension"},
    {11, {attr("pads", {1, 1, 1, 1, 1, 1})}, {normal({1, 2, 5, 6, 7}), normal({3, 2, 3, 3, 3})}, "three dimensions"},
    {11, {attr("pads", {2, 0, 1, 0})}, {normal({2, 5, 21, 1}), normal({6, 5, 4, 1}).constant(), normal({6}).constant()}, "a column"},
    {11, {attr("pads", {1, 0, 1, 0})}, {normal({2, 5, 20, 1}), normal({6, 5, 3, 1})}, "a column, weights of the run"},
    {11,
     {attr("dilations", {3, 2}), attr("strides", {2, 5}), attr("auto_pad", "SAME_UPPER"), attr("group", 4)},
     {normal({1, 4, 33, 1}), normal({4, 1, 5, 1}).constant()},
     "a column, depthwise, dilated, strides"},
    {11, {attr("pads", {1, 0, 1, 1})}, {normal({1, 3, 12, 1}), normal({4, 3, 3, 1}).constant()}, "a column beside which there is a pad"},
    {11, {attr("pads", {1, 1, 1, 1})}, {normal({1, 3, 12, 1}), normal({4, 3, 3, 3}).constant()}, "a column and a kernel of three"},
    {11,
     {attr("pads", {1, 0, 0, 0, 2, 0})},
     {normal({1, 2, 5, 6, 1}), normal({3, 2, 2, 3, 1}).constant()},
     "a volume of one column, uneven pads"},
    {1, {attr("kernel_shape", {3, 3})}, {normal({1, 1, 5, 5}), normal({1, 1, 3, 3})}, "opset 1"},
    {11, {}, {normal({1, 4, 8, 8}), normal({4, 3, 3, 3})}, "channels do not fit", {"4 channels", "expected 3"}},
    {11, {attr("strides", {1})}, {normal({1, 3, 8, 8}), normal({4, 3, 3, 3})}, "too few strides", {"strides", "expected 2"}},
};
RH_OP_TEST(Conv, kConv, FloatingTypes::set)

OpCase fused(std::vector<Attribute> attributes, std::vector<Input> inputs, const char* purpose, std::vector<std::string> fails = {}) {
  return {1, std::move(attributes), std::move(inputs), purpose, std::move(fails), 1, 0, "com.microsoft"};
}

const std::vector<OpCase> kFusedConv = {
    fused({}, {normal({1, 3, 8, 9}), normal({4, 3, 3, 3})}, "nothing fused"),
    fused({attr("activation", "Relu"), attr("pads", {1, 1, 1, 1})},
          {normal({2, 3, 8, 9}), normal({4, 3, 3, 3}).constant(), normal({4}).constant()}, "Relu"),
    fused({attr("activation", "Clip"), attr("activation_params", std::vector<float>{-1.5f, 2})},
          {normal({1, 3, 8, 9}), normal({4, 3, 3, 3}), normal({4})}, "Clip"),
    fused({attr("activation", "LeakyRelu"), attr("activation_params", std::vector<float>{0.25f})},
          {normal({1, 3, 8, 9}), normal({4, 3, 3, 3}).constant()}, "LeakyRelu"),
    fused({attr("activation", "HardSigmoid"), attr("activation_params", std::vector<float>{0.1f, 0.4f})},
          {normal({1, 3, 8, 9}), normal({4, 3, 3, 3}).constant()}, "HardSigmoid"),
    fused({attr("activation", "Sigmoid")}, {normal({1, 3, 8, 9}), normal({4, 3, 3, 3}).constant()}, "Sigmoid"),
    fused({attr("activation", "Tanh"), attr("group", 3)}, {normal({1, 3, 8, 9}), normal({3, 1, 3, 3}).constant()}, "Tanh, depthwise"),
    fused({}, {normal({1, 3, 5, 6}), normal({4, 3, 3, 3}).constant(), normal({4}).constant(), normal({1, 4, 3, 4})}, "a sum"),
    fused({attr("activation", "Relu")}, {normal({1, 3, 5, 6}), normal({4, 3, 3, 3}), absent(), normal({1, 4, 3, 4})}, "a sum and Relu"),
    fused({attr("activation", "Relu"), attr("group", 3)},
          {normal({2, 3, 5, 6}), normal({3, 1, 3, 3}).constant(), absent(), normal({2, 3, 3, 4})}, "depthwise, a sum and Relu"),
    fused({attr("activation", "Relu"), attr("pads", {1, 0, 1, 0})},
          {normal({2, 3, 50, 1}), normal({4, 3, 3, 1}).constant(), normal({4}).constant(), normal({2, 4, 50, 1})},
          "a column, a sum and Relu"),
    fused({attr("activation", "PRelu"), attr("activation_params", std::vector<float>{0.25f, -1, 0, 2})},
          {normal({2, 3, 8, 9}), normal({4, 3, 3, 3}).constant(), normal({4}).constant()}, "PRelu"),
    fused({attr("activation", "PRelu"), attr("activation_params", std::vector<float>{0.25f, -1, 0}), attr("group", 3)},
          {normal({2, 3, 5, 6}), normal({3, 1, 3, 3}), absent(), normal({2, 3, 3, 4})}, "depthwise, a sum and PRelu, weights of the run"),
    fused({attr("activation", "PRelu"), attr("activation_params", std::vector<float>{0.25f, -1})},
          {normal({1, 3, 8, 9}), normal({4, 3, 3, 3}).constant()}, "PRelu of too few slopes", {"2 slopes", "4 output channels"}),
    fused({attr("activation", "PRelu")}, {normal({1, 3, 8, 9}), normal({4, 3, 3, 3})}, "PRelu without slopes", {"activation_params"}),
    fused({attr("activation", "Sine")}, {normal({1, 3, 5, 6}), normal({4, 3, 3, 3})}, "no such activation", {"'Sine'", "Relu"}),
    fused({attr("activation", "Clip"), attr("activation_params", std::vector<float>{1})}, {normal({1, 3, 5, 6}), normal({4, 3, 3, 3})},
          "too few numbers", {"activation_params", "expected 2"}),
    fused({}, {normal({1, 3, 5, 6}), normal({4, 3, 3, 3}), absent(), normal({1, 4, 1, 4})}, "a sum of another shape",
          {"[1, 4, 1, 4]", "[1, 4, 3, 4]"}),
};
RH_OP_TEST(FusedConv, kFusedConv, FloatingTypes::set)

const std::vector<OpCase> kConvTranspose = {
    {11, {}, {normal({1, 3, 4, 5}), normal({3, 2, 3, 3})}, "two dimensions"},
    {11,
     {attr("strides", {2, 2}), attr("pads", {1, 1, 1, 1}), attr("output_padding", {1, 1})},
     {normal({2, 4, 5, 6}), normal({4, 3, 3, 3}), normal({3})},
     "strides, output padding, bias"},
    {11, {attr("strides", {2, 2})}, {normal({1, 8, 4, 4}), normal({8, 4, 2, 2})}, "upsampling by two"},
    {11, {attr("strides", {2, 2})}, {normal({1, 8, 4, 4}), normal({8, 4, 2, 2}).constant(), normal({4}).constant()}, "packed constants"},
    {11,
     {attr("strides", {3, 2}), attr("group", 2)},
     {normal({2, 4, 5, 6}), normal({4, 3, 2, 3}).constant()},
     "packed, rows that no input reaches"},
    {11, {attr("group", 2), attr("dilations", {2, 2})}, {normal({1, 4, 5, 5}), normal({4, 2, 3, 3})}, "groups, dilations"},
    {11,
     {attr("output_shape", {10, 8}), attr("strides", {3, 2})},
     {normal({1, 1, 3, 3}), normal({1, 2, 3, 3})},
     "output shape larger than the inputs reach"},
    {11, {attr("output_shape", {9, 11}), attr("strides", {2, 2})}, {normal({1, 2, 5, 5}), normal({2, 2, 3, 3})}, "output shape"},
    {11, {attr("auto_pad", "SAME_UPPER"), attr("strides", {2, 2})}, {normal({1, 2, 5, 5}), normal({2, 2, 3, 3})}, "same upper"},
    {11, {attr("strides", {3})}, {normal({1, 2, 5}), normal({2, 3, 4})}, "one dimension"},
    {11, {}, {normal({1, 4, 5, 5}), normal({3, 2, 3, 3})}, "channels do not fit", {"4 channels", "expected 3"}},
};
RH_OP_TEST(ConvTranspose, kConvTranspose, FloatingTypes::set)

OpCase own(std::vector<Attribute> attributes, std::vector<Input> inputs, const char* purpose, std::vector<std::string> fails = {}) {
  return {1, std::move(attributes), std::move(inputs), purpose, std::move(fails), 1, 0, "roundhouse"};
}

const std::vector<OpCase> kFusedConvTranspose = {
    own({attr("strides", {2, 2})}, {normal({1, 3, 4, 5}), normal({3, 2, 2, 2})}, "nothing fused"),
    own({attr("activation", "Relu"), attr("strides", {2, 2})},
        {normal({1, 8, 4, 4}), normal({8, 4, 2, 2}).constant(), normal({4}).constant()}, "blocks and Relu"),
    own({attr("activation", "PRelu"), attr("activation_params", std::vector<float>{0.25f, -1, 0, 2}), attr("strides", {2, 2})},
        {normal({1, 8, 4, 4}), normal({8, 4, 2, 2}).constant(), normal({4}).constant()}, "blocks and PRelu"),
    own({attr("activation", "Sigmoid"), attr("strides", {3, 2}), attr("group", 2)},
        {normal({2, 4, 5, 6}), normal({4, 3, 2, 3}).constant(), normal({6}).constant()}, "Sigmoid, rows that no input reaches"),
    own({attr("activation", "PRelu"), attr("activation_params", std::vector<float>{0.25f, -1, 0, 2}), attr("strides", {2, 2}),
         attr("group", 4)},
        {normal({2, 4, 5, 6}), normal({4, 1, 3, 3}).constant(), normal({4}).constant()}, "depthwise and PRelu"),
    own({attr("activation", "Tanh"), attr("pads", {1, 1, 1, 1})}, {normal({1, 3, 8, 9}), normal({3, 4, 3, 3}).constant()},
        "plain and Tanh"),
    own({attr("activation", "LeakyRelu"), attr("activation_params", std::vector<float>{0.25f}), attr("strides", {2, 2}),
         attr("pads", {1, 1, 1, 1})},
        {normal({1, 16, 4, 4}), normal({16, 3, 4, 4}).constant(), normal({3}).constant()}, "few output channels and LeakyRelu"),
    own({attr("activation", "Clip"), attr("activation_params", std::vector<float>{-1, 0.5f}), attr("output_shape", {10, 8}),
         attr("strides", {3, 2})},
        {normal({1, 1, 3, 3}), normal({1, 2, 3, 3}), normal({2})}, "output shape larger than the inputs reach, weights of the run"),
    own({attr("activation", "Elu"), attr("activation_params", std::vector<float>{1}), attr("strides", {80, 80})},
        {normal({1, 1, 2, 2}), normal({1, 2, 3, 3}), normal({2})}, "more phases than are packed"),
    own({attr("activation", "PRelu"), attr("activation_params", std::vector<float>{0.25f, -1})},
        {normal({1, 3, 4, 5}), normal({3, 4, 3, 3}).constant()}, "PRelu of too few slopes", {"2 slopes", "4 output channels"}),
};
RH_OP_TEST(FusedConvTranspose, kFusedConvTranspose, FloatingTypes::set)

}  // namespace
}  // namespace rh::test
