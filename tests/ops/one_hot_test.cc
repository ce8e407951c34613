#include "support/op_case.h"

namespace rh::test {
namespace {

using Ints = std::vector<int64_t>;

const Input kDepth = values({}, {4}).as(DType::int64);

const std::vector<OpCase> kOneHot = {
    {11, {}, {values({3}, {0, 2, 3}).as(DType::int64), kDepth, normal({2})}, "last axis"},
    {11, {attr("axis", 0)}, {values({2, 2}, {0, 1, 3, 2}).as(DType::int64), kDepth.constant(), normal({2})}, "first axis"},
    {9, {attr("axis", 1)}, {values({2, 2}, {0, 1, 3, 2}).as(DType::float32), values({1}, {4}).as(DType::float32), normal({2})}, "floats"},
    {11, {}, {values({4}, {-1, -4, -5, 4}).as(DType::int64), kDepth, normal({2})}, "negative indices and indices outside"},
    {11, {attr("axis", 1)}, {uniform({3, 5}, -9, 999).as(DType::int64), values({}, {999}).as(DType::int64), normal({2})}, "deep"},
    {11, {}, {uniform({0, 5}, 0, 4).as(DType::int64), kDepth, normal({2})}, "empty"},
    {11, {}, {values({}, {2}).as(DType::int64), kDepth, normal({2})}, "scalar"},
    {11, {}, {values({2}, {0, 1}).as(DType::int64), values({}, {0}).as(DType::int64), normal({2})}, "no depth", {"depth is 0"}},
    {11, {}, {values({2}, {0, 1}).as(DType::int64), kDepth, normal({3})}, "three values", {"values 3"}},
};
RH_OP_TEST(OneHot, kOneHot, DTypeSet::all())

}  // namespace
}  // namespace rh::test
