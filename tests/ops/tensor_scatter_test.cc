#include <limits>

#include "support/op_case.h"

namespace rh::test {
namespace {

const std::vector<OpCase> kTensorScatter = {
    {.opset = 24,
     .inputs = {values({2, 3, 1}, {1, 2, 3, 4, 5, 6}), values({2, 2, 1}, {7, 8, 9, 10}), ints({1, 0})},
     .purpose = "linear",
     .expected = {values({2, 3, 1}, {1, 7, 8, 9, 10, 6})}},
    {.opset = 24,
     .attributes = {attr("mode", "circular")},
     .inputs = {values({3, 3, 1}, {1, 2, 3, 4, 5, 6, 7, 8, 9}), values({3, 2, 1}, {10, 11, 12, 13, 14, 15}), ints({2, 4, -1})},
     .purpose = "circular",
     .expected = {values({3, 3, 1}, {11, 2, 10, 4, 12, 13, 15, 8, 14})}},
    {24, {attr("axis", 2)}, {normal({2, 3, 5, 4}), normal({2, 3, 2, 4})}, "no indices"},
    {24, {attr("axis", -1)}, {normal({2, 3, 5}), normal({2, 3, 2}), ints({3, 1})}, "last axis"},
    {24, {}, {normal({2, 5, 4}), normal({2, 0, 4}), ints({5, 0})}, "no update"},
    {24, {}, {normal({2, 5, 4}), normal({2, 2, 4}), ints({4, 0})}, "past the end", {"TensorScatter(24)", "write_indices has 4", "[0, 3]"}},
    {24,
     {},
     {normal({1, 5, 4}), normal({1, 2, 4}), ints({std::numeric_limits<int64_t>::min()})},
     "before the begin",
     {"write_indices has -9223372036854775808"}},
    {24, {}, {normal({2, 5, 4}), normal({2, 2, 4}), ints({4})}, "number of indices", {"[1]", "[2]"}},
    {24, {}, {normal({2, 5, 4}), normal({2, 6, 4})}, "longer update", {"[2, 5, 4]", "[2, 6, 4]"}},
    {24, {attr("axis", 0)}, {normal({2, 5, 4}), normal({2, 2, 4})}, "axis of the batch", {"axis is 0"}},
    {24, {attr("mode", "around")}, {normal({2, 5, 4}), normal({2, 2, 4})}, "mode", {"'around'", "'circular'"}},
};
RH_OP_TEST(TensorScatter, kTensorScatter, DTypeSet::all())

}  // namespace
}  // namespace rh::test
