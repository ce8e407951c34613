#include "support/op_case.h"

namespace rh::test {
namespace {

using Ints = std::vector<int64_t>;

const std::vector<OpCase> kDepthToSpace = {
    {13, {attr("blocksize", 2)}, {normal({2, 8, 3, 2})}, "depth, column, row"},
    {11, {attr("blocksize", 2), attr("mode", "CRD")}, {normal({1, 8, 2, 3})}, "column, row, depth"},
    {1, {attr("blocksize", 3)}, {normal({1, 9, 2, 2})}, "first version"},
    {13, {attr("blocksize", 2)}, {normal({0, 4, 2, 2})}, "empty"},
    {13, {attr("blocksize", 2)}, {normal({1, 6, 2, 2})}, "channels do not divide", {"6", "4"}},
    {13, {attr("blocksize", 2)}, {normal({4, 2, 2})}, "rank 3", {"rank 3", "expected 4"}},
    {13, {attr("blocksize", 0)}, {normal({1, 4, 2, 2})}, "no block", {"blocksize is 0"}},
};
RH_OP_TEST(DepthToSpace, kDepthToSpace, DTypeSet::all())

const std::vector<OpCase> kSpaceToDepth = {
    {13, {attr("blocksize", 2)}, {normal({2, 2, 4, 6})}, "blocks of 2"},
    {1, {attr("blocksize", 3)}, {normal({1, 1, 3, 6})}, "first version"},
    {28, {attr("blocksize", 2), attr("mode", "CRD")}, {normal({1, 2, 4, 2})}, "column, row, depth"},
    {13, {attr("blocksize", 2)}, {normal({1, 2, 3, 4})}, "height does not divide", {"3", "2"}},
};
RH_OP_TEST(SpaceToDepth, kSpaceToDepth, DTypeSet::all())

}  // namespace
}  // namespace rh::test
