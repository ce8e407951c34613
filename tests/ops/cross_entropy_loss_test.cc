#include "support/op_case.h"

namespace rh::test {
namespace {

Input labels(Shape shape, std::vector<double> numbers) { return values(std::move(shape), std::move(numbers)).as(DType::int64); }

const std::vector<OpCase> kNegativeLogLikelihoodLoss = {
    {.opset = 13,
     .attributes = {attr("ignore_index", 7)},
     .inputs = {values({3, 2}, {-1, -2, -3, -4, -5, -6}), labels({3}, {0, 1, 7}), values({2}, {1, 3})},
     .purpose = "weighted mean of 1 and 4 x 3",
     .expected = {values({}, {3.25})}},
    {13, {attr("reduction", "none")}, {normal({2, 3, 4}), labels({2, 4}, {0, 1, 2, 0, 2, 2, 1, 0})}, "no reduction"},
    {13, {attr("reduction", "sum")}, {normal({2, 3, 2, 1}), labels({2, 2, 1}, {0, 1, 2, 0}), normal({3})}, "weighted sum"},
    {13, {}, {normal({4, 3}), values({4}, {0, 1, 2, 0}).as(DType::int32)}, "mean, int32 labels"},
    {13, {attr("ignore_index", -1)}, {normal({4, 3}), labels({4}, {0, -1, 2, 0})}, "an ignored label"},
    {13, {}, {normal({2, 3}), labels({2}, {0, 3})}, "label", {"NegativeLogLikelihoodLoss(13)", "a label is 3", "[0, 3)"}},
    {13, {}, {normal({2, 3}), labels({2}, {0, -1})}, "negative label", {"a label is -1"}},
    {13, {attr("ignore_index", 5)}, {normal({2, 3}), labels({2}, {5, 4})}, "label, another ignored", {"ignore_index = 5"}},
    {13, {}, {normal({2, 3}), labels({3}, {0, 0, 0})}, "number of labels", {"2", "3"}},
    {13, {}, {normal({2, 3}), labels({2}, {0, 0}), normal({2})}, "number of weights", {"[2, 3]", "[2]"}},
    {13, {attr("reduction", "max")}, {normal({2, 3}), labels({2}, {0, 0})}, "reduction", {"'max'"}},
};
RH_OP_TEST(NegativeLogLikelihoodLoss, kNegativeLogLikelihoodLoss, FloatingTypes::set)

const std::vector<OpCase> kSoftmaxCrossEntropyLoss = {
    {.opset = 13,
     .inputs = {values({1, 2}, {1, 1}), labels({1}, {0})},
     .purpose = "two equal scores",
     .outputs = 2,
     .expected = {values({}, {0.6931471805599453}), values({1, 2}, {-0.6931471805599453, -0.6931471805599453})}},
    {13, {attr("reduction", "none")}, {normal({2, 3, 4}), labels({2, 4}, {0, 1, 2, 0, 2, 2, 1, 0})}, "no reduction", {}, 2},
    {13, {attr("reduction", "sum")}, {normal({2, 3, 2, 1}), labels({2, 2, 1}, {0, 1, 2, 0}), normal({3})}, "weighted sum"},
    {12,
     {attr("ignore_index", 2)},
     {normal({2, 3, 2}), labels({2, 2}, {0, 1, 2, 0}), uniform({3}, 0.5, 2)},
     "weighted mean, an ignored label",
     {},
     2},
    {13, {}, {uniform({4, 3}, 500, 900), labels({4}, {0, 1, 2, 0})}, "large scores"},
    {13, {}, {normal({2, 3}), labels({2}, {0, 3})}, "label", {"SoftmaxCrossEntropyLoss(13)", "a label is 3"}},
};
RH_OP_TEST(SoftmaxCrossEntropyLoss, kSoftmaxCrossEntropyLoss, FloatingTypes::set)

}  // namespace
}  // namespace rh::test
