#include "support/op_case.h"

namespace rh::test {
namespace {

using Ints = std::vector<int64_t>;

const std::vector<OpCase> kShape = {
    {13, {}, {normal({2, 3, 4})}, "whole"},
    {15, {attr("start", 1)}, {normal({2, 3, 4})}, "from"},
    {15, {attr("end", -1)}, {normal({2, 3, 4})}, "to, from behind"},
    {15, {attr("start", -100), attr("end", 100)}, {normal({2, 3, 4})}, "clamped"},
    {15, {attr("start", 2), attr("end", 1)}, {normal({2, 3, 4})}, "nothing"},
    {1, {}, {normal({})}, "scalar"},
    {13, {}, {normal({0, 3})}, "empty"},
};
RH_OP_TEST(Shape, kShape, DTypeSet::all())

const std::vector<OpCase> kSize = {
    {13, {}, {normal({2, 3, 4})}, "tensor"},
    {1, {}, {normal({})}, "scalar"},
    {13, {}, {normal({0, 3})}, "empty"},
};
RH_OP_TEST(Size, kSize, DTypeSet::all())

}  // namespace
}  // namespace rh::test
