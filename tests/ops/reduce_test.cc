#include "support/op_case.h"

namespace rh::test {
namespace {

const std::vector<OpCase> kReduce = {
    // opset, attributes, inputs, what it is for
    {18, {}, {uniform({2, 3, 5}, 1, 3)}, "all"},
    {18, {attr("keepdims", 0)}, {uniform({2, 3, 5}, 1, 3)}, "all, to a scalar"},
    {18, {}, {uniform({4, 70}, 1, 3), ints({-1}).constant()}, "rows"},
    {18, {attr("keepdims", 0)}, {uniform({4, 7}, 1, 3), ints({0}).constant()}, "columns"},
    {18, {}, {uniform({3, 4, 300}, 1, 3), ints({1}).constant()}, "middle axis"},
    {18, {}, {uniform({4, 90}, 1, 1.1), ints({0}).constant()}, "columns side by side"},
    {18, {}, {uniform({3, 4, 5}, 1, 3), ints({0, 2}).constant()}, "axes apart"},
    {18, {}, {uniform({2, 3, 4, 5}, 1, 3), ints({1, -1})}, "axes apart, known at run time"},
    {18, {attr("keepdims", 0)}, {uniform({2, 3, 2, 3, 2}, 1, 3), ints({0, 2, 4}).constant()}, "alternating axes"},
    {18, {}, {uniform({3, 2, 5, 7}, 1, 3), ints({2, 3}).constant()}, "spatial axes"},
    {18, {}, {uniform({4, 3, 9, 10}, 1, 1.1), ints({0, 2, 3}).constant()}, "all but the channels"},
    {18, {}, {uniform({4, 3, 5, 19}, 1, 1.1), ints({0, 2}).constant()}, "axes apart, columns kept"},
    {18, {}, {uniform({2, 3, 140}, 1, 1.1), ints({0, 2}).constant()}, "axes apart, long rows"},
    {18, {}, {uniform({2, 130, 3}, 0.999, 1.001), ints({1}).constant()}, "few columns"},
    {18, {}, {uniform({2, 9, 3, 17}, 1, 1.1), ints({1, 3}).constant()}, "axes apart, rows of 17"},
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

const std::vector<OpCase> kRoots = {
    {18,
     {},
     {values({3, 2}, {4e9, 0, 3037000500, 1, 5, 12}), ints({1}).constant()},
     "squares beyond 64 bits",
     {},
     1,
     0,
     "",
     "ReduceL2",
     {values({3, 1}, {4e9, 3037000500, 13})}},
    {18,
     {},
     {values({2, 3}, {4e9, 3037000500, 5, 0, 1, 12}), ints({0}).constant()},
     "columns",
     {},
     1,
     0,
     "",
     "ReduceL2",
     {values({1, 3}, {4e9, 3037000500, 13})}},
};
RH_OP_TEST(ReduceL2OfIntegers, kRoots, (Types<int64_t>::set))

// Pieces of rows that are put together, the last of them shorter. The stock library sums one after another, in float.
OpCase long_columns(const char* op, Input x) { return {18, {}, {std::move(x), ints({1}).constant()}, "many rows", {}, 1, 1e-5, "", op}; }
const Input kLarge = uniform({1, 2500, 33}, 1e25, 1e25), kRootOfSquares = uniform({1, 1, 33}, 5e26, 5e26);
const std::vector<OpCase> kLongColumns = {
    long_columns("ReduceMean", uniform({2, 2100, 70}, 1, 3)),
    long_columns("ReduceL1", uniform({1, 4099, 40}, 1, 3)),
    long_columns("ReduceL2", uniform({1, 4099, 40}, 1, 3)),
    long_columns("ReduceSumSquare", uniform({3, 2100, 33}, 1, 3)),
    long_columns("ReduceMax", normal({2, 2100, 70})),
    long_columns("ReduceMin", normal({2, 2100, 70})),
    long_columns("ReduceProd", uniform({1, 2100, 70}, 0.999, 1.001)),
    long_columns("ReduceProd", uniform({2, 1300, 3}, 0.999, 1.001)),
    long_columns("ReduceMean", uniform({2, 1300, 3}, 1, 3)),
    long_columns("ReduceMax", normal({2, 1300, 3})),
    long_columns("ReduceL2", uniform({2, 1300, 3}, 1, 3)),
    {18, {}, {kLarge, ints({1}).constant()}, "squares beyond float", {}, 1, 1e-5, "", "ReduceL2", {kRootOfSquares}, true},
};
RH_OP_TEST(LongColumns, kLongColumns, (Types<float>::set))

const std::vector<OpCase> kEmptyReduce = {
    {18, {}, {normal({2, 0}), ints({1}).constant()}, "nothing to sum", {}, 1, 0, "", "ReduceL1"},
    {18, {}, {normal({2, 0}), ints({1}).constant()}, "nothing to multiply", {}, 1, 0, "", "ReduceProd"},
    {18, {}, {normal({2, 0, 3}), ints({1}).constant()}, "nothing to compare", {}, 1, 0, "", "ReduceMax"},
    {18, {}, {normal({2, 0, 3}), ints({1}).constant()}, "nothing to compare", {}, 1, 0, "", "ReduceMin"},
    {18, {}, {normal({2, 0}), ints({1}).constant()}, "mean of nothing", {}, 1, 0, "", "ReduceMean"},
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

// log 20 is 2.996 and log 21 is 3.04; what is negative is cut off upwards. The stock library adds up powers as integers.
OpCase log_sum_exp(std::vector<double> counts, std::vector<double> x, std::vector<double> y, const char* purpose) {
  std::vector<double> row;
  for (size_t i = 0; i < x.size(); ++i) row.insert(row.end(), static_cast<size_t>(counts[i]), x[i]);
  const Input input = values({1, static_cast<int64_t>(row.size())}, row);
  return {18, {}, {input, ints({1}).constant()}, purpose, {}, 1, 0, "", "ReduceLogSumExp", {values({1, 1}, y)}};
}
const std::vector<OpCase> kLogSumExpOfIntegers = {
    log_sum_exp({20}, {5}, {7}, "a sum just below a power"),
    log_sum_exp({21}, {5}, {8}, "a sum just above it"),
    log_sum_exp({20, 900}, {-5, -45}, {-2}, "of negative ones"),
    log_sum_exp({20, 1}, {-5, -7}, {-1}, "and above it"),
    log_sum_exp({1, 30}, {-5, -60}, {-5}, "others far below"),
    log_sum_exp({1, 9}, {-5, -15}, {-4}, "others not far below"),
    log_sum_exp({3, 2}, {1, 0}, {2}, "a short row"),
    log_sum_exp({1, 30}, {2147483647, -2147483648.0}, {2147483647}, "the ends of 32 bits"),
};
RH_OP_TEST(ReduceLogSumExpOfIntegers, kLogSumExpOfIntegers, (Types<int32_t, int64_t>::set))

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
    {11, {}, {normal({3, 5003}), ints({1}).constant()}, "one of long rows", {}, 2},
    {11, {attr("largest", 0)}, {normal({2, 3001}), ints({60}).constant()}, "smallest of long rows", {}, 2},
    {11, {}, {normal({2, 6}), ints({0}).constant()}, "none", {}, 2},
    {11, {}, {normal({2, 6}), ints({7}).constant()}, "more than there are", {"k is 7", "0 to 6"}, 2},
    {10, {}, {normal({3, 8}), ints({2}).constant()}, "opset 10", {}, 2},
    {1, {attr("k", 2)}, {normal({3, 8})}, "opset 1", {}, 2},
    {11, {}, {uniform({3, 700}, 0, 100), ints({300})}, "many of a row", {}, 2},
    {11, {attr("largest", 0)}, {normal({2, 900}), ints({200})}, "the least of a row", {}, 2},
    {11, {attr("axis", 0)}, {uniform({600, 3}, 0, 100), ints({600})}, "all of columns", {}, 2},
};
RH_OP_TEST(TopK, kTopK, NumericTypes::set)

const std::vector<OpCase> kArg = {
    {13, {}, {normal({5, 7})}, "default axis"},
    {13, {attr("axis", -1)}, {uniform({4, 500}, 0, 9)}, "ties: the first"},
    {13, {attr("axis", 1), attr("select_last_index", 1)}, {uniform({3, 50, 4}, 0, 5)}, "ties: the last; middle axis"},
    {13, {attr("axis", 1), attr("keepdims", 0)}, {normal({3, 5, 4})}, "no kept dimension"},
    {13, {attr("axis", -1)}, {normal({2, 5003})}, "long rows"},
    {13, {attr("axis", 0), attr("select_last_index", 1)}, {uniform({300, 70}, 0, 9)}, "many columns, ties: the last"},
    {13, {attr("axis", -1), attr("select_last_index", 1)}, {uniform({3, 1000}, 0, 3)}, "long rows, ties: the last"},
    {13, {attr("axis", 1)}, {uniform({2, 21, 150}, 0, 9)}, "many columns"},
    {13, {attr("axis", -1)}, {uniform({60, 4}, 0, 4)}, "short rows, ties: the first"},
    {13, {attr("axis", -1), attr("select_last_index", 1)}, {uniform({60, 4}, 0, 4)}, "short rows, ties: the last"},
    {13,
     {attr("axis", -1)},
     {values({3, 3}, {nan, 1, 2, 1, nan, nan, 2, 2, nan}).as(DType::float32)},
     "short rows: the first NaN",
     {},
     1,
     0,
     "",
     nullptr,
     {values({3, 1}, {0, 1, 2}).as(DType::int64)},
     true},
    {11, {attr("axis", -2)}, {normal({3, 5, 4})}, "opset 11"},
    {13, {attr("axis", 1)}, {normal({0, 5})}, "no results"},
    {13, {attr("axis", 1)}, {normal({2, 0})}, "nothing to compare", {"dimension 1", "[2, 0]", "empty"}},
    {13, {attr("axis", 2)}, {normal({2, 3})}, "axis out of range", {"axis is 2", "[-2, 1]"}},
};
RH_OP_TEST(ArgMax, kArg, NumericTypes::set)
RH_OP_TEST(ArgMin, kArg, NumericTypes::set)

Input axis(double value) { return values({}, {value}).as(DType::int64); }
const std::vector<OpCase> kCumulative = {
    {14, {}, {uniform({3, 6}, 1, 3), axis(1).constant()}, "last axis"},
    {14, {}, {uniform({3, 4, 5}, 1, 3), axis(-2)}, "middle axis, known at run time"},
    {14, {attr("exclusive", 1)}, {uniform({3, 6}, 1, 3), axis(0)}, "exclusive"},
    {14, {attr("reverse", 1)}, {uniform({3, 6}, 1, 3), axis(1)}, "reverse"},
    {14, {attr("reverse", 1), attr("exclusive", 1)}, {uniform({3, 6}, 1, 3), axis(1)}, "both"},
    {14, {}, {uniform({19, 45}, 1, 3), axis(1)}, "rows side by side"},
    {14, {attr("reverse", 1)}, {uniform({3, 9, 37}, 1, 3), axis(1)}, "columns side by side"},
    {14, {attr("exclusive", 1)}, {uniform({2, 9, 70}, 1, 3), axis(1)}, "many columns, exclusive"},
    {14, {attr("exclusive", 1), attr("reverse", 1)}, {uniform({2, 9, 37}, 1, 3), axis(1)}, "many columns, both"},
    {14, {}, {uniform({2, 30, 9}, 1, 3), axis(1)}, "few columns"},
    {14, {attr("exclusive", 1)}, {uniform({2, 30, 3}, 1, 3), axis(1)}, "few columns, exclusive"},
    {14, {}, {uniform({3, 2100}, 1, 3), axis(0)}, "more columns than go together"},
    {14, {}, {uniform({0, 6}, 1, 3), axis(1)}, "empty"},
    {14, {}, {normal({2, 3}), axis(2).constant()}, "axis out of range", {"axis is 2", "[-2, 1]"}},
};
RH_OP_TEST(CumSum, kCumulative, Summable::set)

const std::vector<OpCase> kCumProd = {
    {26, {}, {uniform({3, 6}, 1, 3), axis(1)}, "last axis"},
    {26, {attr("reverse", 1), attr("exclusive", 1)}, {uniform({3, 6}, 1, 3), axis(0)}, "reverse and exclusive"},
};
RH_OP_TEST(CumProd, kCumProd, FloatingTypes::set)

const std::vector<OpCase> kHardmax = {
    {13, {}, {normal({3, 7})}, "rows"},
    {13, {attr("axis", 1)}, {uniform({2, 5, 4}, 0, 3)}, "strided; the first of the largest"},
    {11, {}, {normal({2, 3, 4})}, "flattened form of old opsets"},
    {13, {}, {values({2, 4}, {0, 0, 0, 0, -1, 0, -2, 0})}, "the largest is zero"},
};
RH_OP_TEST(Hardmax, kHardmax, FloatingTypes::set)

}  // namespace
}  // namespace rh::test
