#include "support/op_case.h"

namespace rh::test {
namespace {

using Ints = std::vector<int64_t>;

const std::vector<OpCase> kSqueeze = {
    {13, {}, {normal({1, 3, 1, 5}), ints({0, 2}).constant()}, "axes as constant input"},
    {13, {}, {normal({1, 3, 1, 5}), ints({-2})}, "axes at run time"},
    {13, {}, {normal({1, 3, 1, 5})}, "no axes: every 1"},
    {11, {attr("axes", Ints{-4, 2})}, {normal({1, 3, 1, 5})}, "axes as attribute"},
    {11, {}, {normal({1, 1})}, "to a scalar"},
    {13, {}, {normal({1, 0}), ints({0}).constant()}, "empty"},
    {13, {}, {normal({1, 3}), ints({1})}, "dimension is not 1", {"axis 1", "[1, 3]", "3", "expected 1"}},
    {13, {}, {normal({1, 3}), ints({2}).constant()}, "axis out of range", {"axes is 2", "[-2, 1]"}},
};
RH_OP_TEST(Squeeze, kSqueeze, DTypeSet::all())

}  // namespace
}  // namespace rh::test
