#include "support/op_case.h"

namespace rh::test {
namespace {

using Ints = std::vector<int64_t>;

const std::vector<OpCase> kGatherElements = {
    {13, {attr("axis", 1)}, {normal({2, 3}), values({2, 2}, {0, -1, 2, 1}).as(DType::int64)}, "last axis"},
    {11, {}, {normal({3, 3}), values({2, 3}, {1, 2, 0, 2, -3, 0}).as(DType::int32)}, "first axis, int32"},
    {13, {attr("axis", -2)}, {normal({2, 3, 2}), values({1, 4, 2}, {0, 1, 2, 0, 1, 1, 2, 2}).as(DType::int64)}, "middle axis, longer"},
    {13, {}, {normal({9, 300}), uniform({20, 300}, -9, 8).as(DType::int64)}, "many columns"},
    {13, {attr("axis", 1)}, {normal({2, 70, 600}), uniform({2, 90, 600}, -70, 69).as(DType::int64)}, "many rows of many columns"},
    {13, {}, {normal({70, 600}), uniform({70, 600}, 70, 70).as(DType::int64)}, "row of many out of range", {"indices", "70", "[-70, 69]"}},
    {13, {attr("axis", 1)}, {normal({2, 5, 7, 9}), uniform({2, 3, 7, 9}, -5, 4).as(DType::int64)}, "columns of a middle axis"},
    {13, {}, {normal({3, 40}), uniform({4, 40}, 3, 3).as(DType::int64)}, "column out of range", {"indices", "3", "[-3, 2]"}},
    {13, {}, {normal({3}), values({0}, {}).as(DType::int64)}, "no indices"},
    {13, {}, {normal({3}), ints({3})}, "index out of range", {"indices", "3", "[-3, 2]"}},
    {13, {}, {normal({3, 2}), values({3, 3}, {0, 0, 0, 0, 0, 0, 0, 0, 0}).as(DType::int64)}, "indices too wide", {"[3, 3]", "[3, 2]"}},
};
RH_OP_TEST(GatherElements, kGatherElements, DTypeSet::all())

}  // namespace
}  // namespace rh::test
