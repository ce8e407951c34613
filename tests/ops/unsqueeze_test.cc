#include "support/op_case.h"

namespace rh::test {
namespace {

using Ints = std::vector<int64_t>;

const std::vector<OpCase> kUnsqueeze = {
    {13, {}, {normal({3, 5}), ints({0, 3}).constant()}, "axes as constant input"},
    {13, {}, {normal({3, 5}), ints({-1})}, "axes at run time"},
    {11, {attr("axes", Ints{-1, 0})}, {normal({3, 5})}, "axes as attribute, not in order"},
    {9, {attr("axes", Ints{0})}, {normal({})}, "from a scalar"},
    {13, {}, {normal({0, 5}), ints({1}).constant()}, "empty"},
    {13, {}, {normal({3}), ints({0, 0})}, "an axis twice", {"axis 0 more than once"}},
    {13, {}, {normal({3}), ints({3}).constant()}, "axis out of range", {"axes is 3", "[-2, 1]"}},
};
RH_OP_TEST(Unsqueeze, kUnsqueeze, DTypeSet::all())

}  // namespace
}  // namespace rh::test
