#include "support/op_case.h"

namespace rh::test {
namespace {

const std::vector<OpCase> kBatchNormalization = {
    {15, {}, {normal({2, 3, 4, 5}), normal({3}), normal({3}), normal({3}), uniform({3}, 0.5, 2)}, "images"},
    {9, {attr("epsilon", 0.01f)}, {normal({2, 3}), normal({3}), normal({3}), normal({3}), uniform({3}, 0.5, 2)}, "no spatial axes"},
    {7, {}, {normal({2, 3, 7}), normal({3}), normal({3}), normal({3}), uniform({3}, 0.5, 2)}, "opset 7"},
    {7, {}, {normal({2, 3, 7}), normal({3}), normal({3}), normal({3}), uniform({3}, 0.5, 2)}, "opset 7, training", {}, 5},
    {15,
     {},
     {normal({2, 19, 3, 9}), normal({19}).constant(), normal({19}).constant(), normal({19}).constant(), uniform({19}, 0.5, 2).constant()},
     "constant parameters"},
    {15,
     {},
     {normal({5, 35}), normal({35}).constant(), normal({35}).constant(), normal({35}).constant(), uniform({35}, 0.5, 2).constant()},
     "rows of channels, constant parameters"},
    {15,
     {},
     {normal({9}), normal({1}).constant(), normal({1}).constant(), normal({1}).constant(), uniform({1}, 0.5, 2).constant()},
     "one channel"},
    {15,
     {},
     {normal({2, 3}), normal({4}).constant(), normal({4}).constant(), normal({4}).constant(), uniform({4}, 0.5, 2).constant()},
     "too many constant parameters",
     {"input 1", "4", "expected 3"}},
    {15,
     {},
     {normal({2, 3, 4}), normal({4}), normal({3}), normal({3}), uniform({3}, 0.5, 2)},
     "too many scales",
     {"input 1", "4", "expected 3"}},
};
RH_OP_TEST(BatchNormalization, kBatchNormalization, FloatingTypes::set)

const std::vector<OpCase> kLayerNormalization = {
    {17, {}, {normal({2, 3, 64}), normal({64}), normal({64})}, "last axis"},
    {17, {attr("axis", 1)}, {normal({2, 3, 5}), normal({3, 5}), normal({3, 5})}, "two axes"},
    {17, {attr("axis", -1), attr("epsilon", 0.1f)}, {normal({7, 33}), normal({33})}, "without bias"},
    {17, {}, {normal({2, 3, 64}), normal({64}), normal({64})}, "statistics", {}, 3},
    {17, {attr("stash_type", 11)}, {normal({2, 3, 8}), normal({8})}, "statistics of another type", {}, 3},
    {17, {attr("stash_type", 7)}, {normal({2, 8}), normal({8})}, "statistics of integers", {"stash_type", "7", "16"}},
    {17, {}, {normal({2, 3, 5}), normal({3, 5}), normal({2, 1, 1})}, "parameters beyond the axes", {}, 3},
    {17, {}, {normal({2, 3, 5}), normal({4, 5})}, "scale does not broadcast", {"[4, 5]", "[2, 3, 5]"}},
    {17, {attr("axis", 2)}, {normal({2, 3}), normal({3})}, "axis out of range", {"axis is 2", "[-2, 1]"}},
};
RH_OP_TEST(LayerNormalization, kLayerNormalization, (Types<float, double, Float16>::set))

const std::vector<OpCase> kSimplifiedLayerNormalization = {
    {17, {}, {normal({2, 3, 33}), normal({33})}, "rows", {}, 1, 1e-5},
    {17, {}, {normal({2, 3, 33}), normal({33})}, "deviation", {}, 2, 1e-5},
    {17, {attr("axis", 1), attr("epsilon", 0.25f)}, {normal({2, 3, 5}), normal({3, 5})}, "two dimensions", {}, 2, 1e-5},
};
RH_OP_TEST(SimplifiedLayerNormalization, kSimplifiedLayerNormalization, (Types<float, double, Float16>::set))

const std::vector<OpCase> kInstanceNormalization = {
    {6, {}, {normal({2, 3, 4, 5}), normal({3}), normal({3})}, "images"},
    {22, {attr("epsilon", 0.1f)}, {normal({1, 2, 9}), normal({2}), normal({2})}, "one dimension"},
};
RH_OP_TEST(InstanceNormalization, kInstanceNormalization, FloatingTypes::set)

const std::vector<OpCase> kGroupNormalization = {
    {18, {attr("num_groups", 2)}, {normal({2, 4, 3, 3}), normal({2}), normal({2})}, "scale a group"},
    {21, {attr("num_groups", 2)}, {normal({2, 4, 3, 3}), normal({4}), normal({4})}, "scale a channel"},
    {21, {attr("num_groups", 3)}, {normal({2, 4, 3, 3}), normal({4}), normal({4})}, "groups do not divide", {"4 channels", "3 groups"}},
};
RH_OP_TEST(GroupNormalization, kGroupNormalization, (Types<float, Float16>::set))

OpCase own(std::vector<Attribute> attributes, std::vector<Input> inputs, const char* purpose, std::vector<Input> expected = {},
           std::vector<std::string> fails = {}) {
  OpCase c{1, std::move(attributes), std::move(inputs), purpose, std::move(fails)};
  c.domain = "roundhouse";
  c.expected = std::move(expected);
  return c;
}

// Two values of each group are 1 and -1 once they are normalised.
const Input kPairs = values({1, 2, 2}, {2, 4, -9, -3}), kFactors = values({2}, {2, 3}), kOffsets = values({2}, {1, -1});

const std::vector<OpCase> kFusedGroupNormalization = {
    own({attr("epsilon", 0.0f)}, {kPairs, kFactors, kOffsets}, "nothing fused", {values({1, 2, 2}, {-1, 3, -4, 2})}),
    own({attr("epsilon", 0.0f), attr("activation", "Relu")}, {kPairs, kFactors, kOffsets}, "Relu", {values({1, 2, 2}, {0, 3, 0, 2})}),
    own({attr("epsilon", 0.0f), attr("activation", "PRelu"), attr("activation_params", std::vector<float>{0.5f, 0.25f})},
        {kPairs, kFactors, kOffsets}, "PRelu", {values({1, 2, 2}, {-0.5, 3, -1, 2})}),
    own({attr("epsilon", 0.0f), attr("activation", "LeakyRelu"), attr("activation_params", std::vector<float>{0.5f})},
        {kPairs, kFactors, kOffsets, values({1, 2, 2}, {-1, -5, 4, 6})}, "a sum and LeakyRelu", {values({1, 2, 2}, {-1, -1, 0, 8})}),
    own({attr("epsilon", 0.0f), attr("num_groups", 1), attr("per_group_scale", 1), attr("activation", "Clip"),
         attr("activation_params", std::vector<float>{-1, 0.5f})},
        {values({1, 2, 2}, {-1, 1, 1, -1}), values({1}, {2}), values({1}, {1})}, "a scale a group and Clip",
        {values({1, 2, 2}, {-1, 0.5, 0.5, -1})}),
    own({attr("activation", "Swish")}, {normal({0, 3, 4}), normal({3}), normal({3})}, "empty batch", {values({0, 3, 4}, {})}),
    own({attr("num_groups", 3)}, {normal({2, 4, 3}), normal({4}), normal({4})}, "groups do not divide", {}, {"4 channels", "3 groups"}),
    own({attr("num_groups", 0)}, {normal({2, 4, 3}), normal({4}), normal({4})}, "no groups", {}, {"num_groups is 0"}),
    own({attr("activation", "Sine")}, {normal({2, 4, 3}), normal({4}), normal({4})}, "no such activation", {}, {"'Sine'", "Relu"}),
    own({attr("activation", "PRelu"), attr("activation_params", std::vector<float>{0.5f})}, {normal({2, 4, 3}), normal({4}), normal({4})},
        "PRelu of too few slopes", {}, {"1 slopes", "4 output channels"}),
    own({}, {normal({2, 4, 3}), normal({3}), normal({4})}, "too few scales", {}, {"3 values", "expected 4"}),
    own({}, {normal({2, 4, 3}), normal({4}), normal({4}), normal({2, 4, 1})}, "a sum of another shape", {}, {"[2, 4, 1]", "[2, 4, 3]"}),
    own({}, {normal({2, 4, 3}), normal({4}), normal({4}), values({1}, {1}).as(DType::int64)}, "a sum of another type", {}, {"int64"}),
};
RH_OP_TEST(FusedGroupNormalization, kFusedGroupNormalization, FloatingTypes::set)

const Input kMeans = values({2}, {1, -2}), kVariances = values({2}, {1, 4});

// y = 2 x - 1 in the first channel, 1.5 x + 2 in the second.
OpCase fused_batch(std::vector<Attribute> attributes, Input x, const char* purpose, Input expected, bool with_sum = false) {
  attributes.push_back(attr("epsilon", 0.0f));
  std::vector<Input> inputs{x, kFactors.constant(), kOffsets.constant(), kMeans.constant(), kVariances.constant()};
  if (with_sum) inputs.push_back(x);
  return own(std::move(attributes), std::move(inputs), purpose, {std::move(expected)});
}

const std::vector<OpCase> kFusedBatchNormalization = {
    fused_batch({}, values({1, 2, 2}, {2, 4, -4, 2}), "nothing fused", values({1, 2, 2}, {3, 7, -4, 5})),
    fused_batch({attr("activation", "Relu")}, values({1, 2, 2}, {2, -4, -4, 2}), "Relu", values({1, 2, 2}, {3, 0, 0, 5})),
    fused_batch({attr("activation", "LeakyRelu"), attr("activation_params", std::vector<float>{0.5f})}, values({1, 2, 2}, {2, -4, -4, 2}),
                "a sum and LeakyRelu", values({1, 2, 2}, {5, -6.5, -4, 7}), true),
    fused_batch({attr("activation", "LeakyRelu"), attr("activation_params", std::vector<float>{0.5f}), attr("sum_first", 1)},
                values({1, 2, 2}, {2, -4, -4, 2}), "a sum before and LeakyRelu", values({1, 2, 2}, {7, -8.5, -5, 8}), true),
    fused_batch({attr("activation", "PRelu"), attr("activation_params", std::vector<float>{0.5f, 0.25f})}, values({2, 2}, {2, -4, -4, -4}),
                "rows of channels, PRelu", values({2, 2}, {3, -1, -4.5, -1})),
    fused_batch({attr("activation", "PRelu"), attr("activation_params", std::vector<float>{0.5f, 0.25f})},
                values({1, 2, 2}, {2, -4, -4, 2}), "PRelu", values({1, 2, 2}, {3, -4.5, -1, 5})),
    own({}, {normal({2, 4, 3}), normal({3}), normal({4}), normal({4}), uniform({4}, 0.5, 2)}, "too few scales", {},
        {"input 1", "3", "expected 4"}),
    own({}, {normal({2, 4, 3}), normal({4}), normal({4}), normal({4}), uniform({4}, 0.5, 2), normal({2, 4, 1})}, "a sum of another shape",
        {}, {"[2, 4, 1]", "[2, 4, 3]"}),
    own({}, {normal({2, 4, 3}), normal({4}), normal({4}), normal({4}), uniform({4}, 0.5, 2), values({1}, {1}).as(DType::int64)},
        "a sum of another type", {}, {"int64"}),
    own({attr("activation", "PRelu"), attr("activation_params", std::vector<float>{0.5f})},
        {normal({2, 4, 3}), normal({4}), normal({4}), normal({4}), uniform({4}, 0.5, 2)}, "PRelu of too few slopes", {},
        {"1 slopes", "4 output channels"}),
    own({attr("blocked", 1)}, {normal({1, 2, 3}), normal({18}), normal({18}), normal({18}), uniform({18}, 0.5, 2)}, "no blocks", {},
        {"[1, 2, 3]", "blocks of 16"}),
    own({attr("blocked", 1)}, {normal({1, 2, 1, 3, 16}), normal({16}), normal({18}), normal({18}), uniform({18}, 0.5, 2)},
        "too few scales for the blocks", {}, {"input 1", "16", "expected 32"}),
};
RH_OP_TEST(FusedBatchNormalization, kFusedBatchNormalization, FloatingTypes::set)

// Of float alone, so that nothing wider tells its results: tests of fusion and of its loops do.
const std::vector<OpCase> kChannelNormalization = {
    own({attr("activation", "PRelu"), attr("activation_params", std::vector<float>{0.5f})}, {normal({1, 2, 2}), kFactors},
        "PRelu of too few slopes", {}, {"1 slopes", "2 output channels"}),
    own({attr("activation", "Sine")}, {normal({1, 2, 2}), kFactors}, "no such activation", {}, {"'Sine'", "Relu"}),
};
RH_OP_TEST(ChannelNormalization, kChannelNormalization, (Types<float>::set))

const std::vector<OpCase> kMeanVariance = {
    {13, {}, {normal({3, 4, 5, 7})}, "planes of a batch"},
    {13, {attr("axes", {1, 2})}, {normal({3, 5, 40})}, "the last axes"},
    {13, {attr("axes", {0, 1, 2})}, {normal({3, 5, 40})}, "all axes"},
    {13, {attr("axes", {0, 2})}, {normal({1, 6, 50})}, "a batch of one"},
    {13, {attr("axes", {1})}, {normal({3, 5, 4})}, "an axis in the middle"},
};
TEST(OpCases, MeanVarianceOverPlanes) { run_op_cases("MeanVarianceNormalization", kMeanVariance, FloatingTypes::set); }

const std::vector<OpCase> kLrn = {
    {13, {attr("size", 5)}, {normal({2, 7, 3, 3})}, "odd window"},
    {13, {attr("size", 4), attr("alpha", 0.1f), attr("beta", 0.5f), attr("bias", 2.0f)}, {normal({1, 9, 2, 2})}, "even window"},
    {13, {attr("size", 3), attr("alpha", 0.2f), attr("beta", 0.6f)}, {normal({2, 5, 9, 11})}, "another exponent"},
    {13, {attr("size", 3), attr("alpha", 0.2f)}, {normal({1, 4, 37, 41})}, "blocks of columns"},
    {13, {attr("size", 3)}, {normal({3, 70})}, "no spatial dimensions"},
    {1, {attr("size", 0)}, {normal({1, 9, 2, 2})}, "empty window", {"size is 0"}},
};
RH_OP_TEST(LRN, kLrn, FloatingTypes::set)

const std::vector<OpCase> kLpNormalization = {
    {1, {attr("axis", 1), attr("p", 1)}, {normal({3, 4, 5})}, "sum of magnitudes"},
    {22, {}, {normal({3, 4})}, "euclidean"},
    {22, {attr("axis", -1), attr("p", 1)}, {normal({30, 3})}, "short rows"},
    {22, {attr("axis", -1)}, {values({2, 2}, {0, 0, 3, 4})}, "a row of zeros"},
};
RH_OP_TEST(LpNormalization, kLpNormalization, FloatingTypes::set)

const std::vector<OpCase> kMeanVarianceNormalization = {
    {7, {}, {normal({2, 3, 4, 5})}, "before opset 9: each channel"},
    {7, {attr("across_channels", 1)}, {normal({2, 3, 4, 5})}, "before opset 9: all"},
    {1, {attr("normalize_variance", 0)}, {normal({2, 3, 4, 5})}, "before opset 9: the mean alone"},
    {13, {}, {normal({2, 3, 4, 5})}, "default axes"},
    {9, {attr("axes", {1})}, {normal({2, 3, 4})}, "one axis"},
    {9, {}, {normal({4})}, "default axes of one row"},
    {13, {}, {normal({3, 4, 5})}, "default axes of rows"},
    {1, {}, {normal({2, 3, 4, 2, 2})}, "before opset 9: two spatial axes"},
    {13, {attr("axes", {-1, 1, 1, 7})}, {normal({3, 4, 5})}, "axes twice and beyond the rank"},
    {13, {attr("axes", {2, 3})}, {normal({3, 4})}, "no axis of the tensor", {"axes are [2, 3]", "rank 2"}},
};
RH_OP_TEST(MeanVarianceNormalization, kMeanVarianceNormalization, FloatingTypes::set)

const std::vector<OpCase> kDropout = {
    {7, {attr("ratio", 0.3f)}, {normal({3, 4})}, "attribute form"},
    {13, {}, {normal({3, 4}), values({}, {0.3}).as(DType::float32)}, "inference with a mask", {}, 2},
    {13,
     {},
     {normal({3, 4}), values({}, {1.5}).as(DType::float32), values({}, {1}).as(DType::boolean)},
     "ratio out of range",
     {"ratio is 1.5"}},
};
RH_OP_TEST(Dropout, kDropout, FloatingTypes::set)

}  // namespace
}  // namespace rh::test
