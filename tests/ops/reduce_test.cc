#include <limits>

#include "support/op_case.h"

namespace rh::test {
namespace {

constexpr double inf = std::numeric_limits<double>::infinity();
constexpr double nan = std::numeric_limits<double>::quiet_NaN();

const std::vector<OpCase> kReduce = {
    // opset, attributes, inputs, what it is for
    {18, {}, {uniform({2, 3, 5}, 1, 3)}, "all"},
    {18, {attr("keepdims", 0)}, {uniform({2, 3, 5}, 1, 3)}, "all, to a scalar"},
    {18, {}, {uniform({4, 70}, 1, 3), ints({-1}).constant()}, "rows"},
    {18, {attr("keepdims", 0)}, {uniform({4, 7}, 1, 3), ints({0}).constant()}, "columns"},
    {18, {}, {uniform({3, 4, 300}, 1, 3), ints({1}).constant()}, "middle axis"},
    {18, {}, {uniform({3, 4, 5}, 1, 3), ints({0, 2}).constant()}, "axes apart"},
    {18, {}, {uniform({2, 3, 4, 5}, 1, 3), ints({1, -1})}, "axes apart, known at run time"},
    {18, {attr("keepdims", 0)}, {uniform({2, 3, 2, 3, 2}, 1, 3), ints({0, 2, 4}).constant()}, "alternating axes"},
    {18, {}, {uniform({3, 2, 5, 7}, 1, 3), ints({2, 3}).constant()}, "spatial axes"},
    {18, {attr("noop_with_empty_axes", 1)}, {uniform({2, 3}, 1, 3), ints({0}).constant()}, "axes win over noop"},
    {18, {}, {uniform({}, 1, 3)}, "scalar"},
    {18, {}, {uniform({1, 1, 1}, 1, 3), ints({1}).constant()}, "ones"},
    {18, {}, {uniform({0, 3}, 1, 3), ints({1}).constant()}, "no results"},
    {18, {}, {uniform({2, 3}, 1, 3), ints({2}).constant()}, "axis out of range", {"axes is 2", "[-2, 1]"}},
    {17, {attr("axes", {1, 2})}, {uniform({2, 3, 4}, 1, 3)}, "axes attribute"},
    {11, {attr("axes", {-1}), attr("keepdims", 0)}, {uniform({2, 3, 4}, 1, 3)}, "axes attribute from the end"},
    {1, {attr("axes", {0})}, {uniform({2, 3, 4}, 1, 3)}, "opset 1"},
};
using Summable = Concat<FloatingTypes, Types<int32_t, int64_t, uint32_t, uint64_t>>;
RH_OP_TEST(ReduceMean, kReduce, Summable::set)
RH_OP_TEST(ReduceProd, kReduce, FloatingTypes::set)
RH_OP_TEST(ReduceL1, kReduce, Summable::set)
RH_OP_TEST(ReduceL2, kReduce, FloatingTypes::set)
RH_OP_TEST(ReduceLogSum, kReduce, FloatingTypes::set)
RH_OP_TEST(ReduceLogSumExp, kReduce, FloatingTypes::set)
RH_OP_TEST(ReduceSumSquare, kReduce, Summable::set)
RH_OP_TEST(ReduceMax, kReduce, (Concat<Summable, Types<int8_t, uint8_t>>::set))
RH_OP_TEST(ReduceMin, kReduce, (Concat<Summable, Types<int8_t, uint8_t>>::set))

const std::vector<OpCase> kReduceSum = {
    {13, {}, {normal({3, 4, 5}), ints({1}).constant()}, "axes input since opset 13"},
    {13, {attr("keepdims", 0)}, {normal({3, 4, 5}), ints({0, 2})}, "axes known at run time"},
    {13, {attr("noop_with_empty_axes", 1)}, {normal({3, 4, 5})}, "no axes: nothing is reduced"},
    {13, {}, {normal({2, 100'003}), ints({1}).constant()}, "long rows"},
    {13, {}, {normal({200'003})}, "one very long row: sums that cancel", {}, 1, 1e-5},
    {12, {attr("axes", {1})}, {normal({3, 4, 5})}, "attribute"},
};
RH_OP_TEST(ReduceSum, kReduceSum, Summable::set)

const std::vector<OpCase> kEmptyReduce = {
    {18, {}, {normal({2, 0}), ints({1}).constant()}, "nothing to sum", {}, 1, 0, "", "ReduceL1"},
    {18, {}, {normal({2, 0}), ints({1}).constant()}, "nothing to multiply", {}, 1, 0, "", "ReduceProd"},
    {18, {}, {normal({2, 0, 3}), ints({1}).constant()}, "nothing to compare", {}, 1, 0, "", "ReduceMax"},
    {18, {}, {normal({2, 0, 3}), ints({1}).constant()}, "nothing to compare", {}, 1, 0, "", "ReduceMin"},
    {18, {}, {normal({2, 0}), ints({1}).constant()}, "log of nothing", {}, 1, 0, "", "ReduceLogSumExp"},
    {18, {}, {values({2, 3}, {-inf, -inf, -inf, inf, 1, 2}), ints({1}).constant()}, "infinities", {}, 1, 0, "", "ReduceLogSumExp"},
    {18,
     {},
     {values({2, 3}, {1000, 1000, 999, -1000, -1001, -1000}), ints({1}).constant()},
     "no overflow",
     {},
     1,
     0,
     "",
     "ReduceLogSumExp"},
};
RH_OP_TEST(EmptyReduce, kEmptyReduce, (Types<float, double>::set))

const std::vector<OpCase> kBoolReduce = {
    {20, {}, {normal({3, 4}), ints({1}).constant()}, "any", {}, 1, 0, "", "ReduceMax"},
    {20, {}, {normal({3, 4}), ints({0}).constant()}, "all", {}, 1, 0, "", "ReduceMin"},
};
RH_OP_TEST(BoolReduce, kBoolReduce, (Types<bool>::set))

const std::vector<OpCase> kTopK = {
    {11, {}, {normal({3, 50}), ints({5}).constant()}, "largest", {}, 2},
    {11, {attr("largest", 0)}, {normal({3, 50}), ints({5})}, "smallest; k known at run time", {}, 2},
    {11, {attr("axis", 0)}, {normal({9, 5}), ints({3}).constant()}, "first axis", {}, 2},
    {11, {attr("axis", 1)}, {normal({2, 9, 5}), ints({9}).constant()}, "all of a middle axis", {}, 2},
    {11, {}, {uniform({2, 1000}, 0, 4), ints({7}).constant()}, "ties: the lower index first", {}, 2},
    {11, {}, {normal({2, 6}), ints({0}).constant()}, "none", {}, 2},
    {11, {}, {normal({2, 6}), ints({7}).constant()}, "more than there are", {"k is 7", "0 to 6"}, 2},
    {10, {}, {normal({3, 8}), ints({2}).constant()}, "opset 10", {}, 2},
    {1, {attr("k", 2)}, {normal({3, 8})}, "opset 1", {}, 2},
};
RH_OP_TEST(TopK, kTopK, NumericTypes::set)

}  // namespace
}  // namespace rh::test
