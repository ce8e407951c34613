#include "support/op_case.h"

namespace rh::test {
namespace {

using Ints = std::vector<int64_t>;

const std::vector<OpCase> kTile = {
    {13, {}, {normal({2, 3}), ints({2, 2}).constant()}, "both axes"},
    {6, {}, {normal({2, 3}), ints({1, 3})}, "repeats at run time"},
    {13, {}, {normal({2, 1, 3}), ints({3, 2, 1})}, "rank 3"},
    {13, {}, {normal({2, 3}), ints({0, 2}).constant()}, "to nothing"},
    {13, {}, {normal({}), ints({}).constant()}, "scalar"},
    {1, {}, {normal({2, 3}), values({}, {2}).as(DType::int64), values({}, {1}).as(DType::int64)}, "count and axis of the first version"},
    {13, {}, {normal({2, 3}), ints({2})}, "wrong number of repeats", {"1 element", "rank 2"}},
    {13, {}, {normal({2, 3}), ints({2, -1})}, "negative repeat", {"-1"}},
};
RH_OP_TEST(Tile, kTile, DTypeSet::all())

}  // namespace
}  // namespace rh::test
