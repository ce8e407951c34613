#include "support/op_case.h"

namespace rh::test {
namespace {

using Ints = std::vector<int64_t>;

const std::vector<OpCase> kGatherND = {
    {13, {}, {normal({2, 3}), values({2, 2}, {0, 0, 1, -1}).as(DType::int64)}, "elements"},
    {11, {}, {normal({3, 2, 2}), values({2, 1}, {1, -3}).as(DType::int64)}, "blocks"},
    {12, {attr("batch_dims", 1)}, {normal({2, 3, 4}), values({2, 1}, {1, 2}).as(DType::int64)}, "batch"},
    {13, {attr("batch_dims", 1)}, {normal({2, 3, 4}), values({2, 2, 2}, {0, 0, 1, 1, 2, 2, 0, 3}).as(DType::int64)}, "batch of several"},
    {13, {}, {normal({2, 3}), values({0, 2}, {}).as(DType::int64)}, "no tuples"},
    {13, {}, {normal({2, 3}), values({2, 0}, {}).as(DType::int64)}, "tuples of nothing take all"},
    {13, {}, {normal({2, 3}), values({1, 2}, {0, 3}).as(DType::int64)}, "index out of range", {"indices", "3", "[-3, 2]"}},
    {13, {}, {normal({2, 3}), values({1, 3}, {0, 0, 0}).as(DType::int64)}, "tuple too long", {"indices", "3"}},
};
RH_OP_TEST(GatherND, kGatherND, DTypeSet::all())

}  // namespace
}  // namespace rh::test
