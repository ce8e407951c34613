#include <limits>

#include "support/op_case.h"

namespace rh::test {
namespace {

using Ints = std::vector<int64_t>;

constexpr int64_t kMax = std::numeric_limits<int64_t>::max();

const std::vector<OpCase> kSlice = {
    {13, {}, {normal({4, 5}), ints({1, 0}), ints({3, 4})}, "all axes"},
    {13, {}, {normal({4, 5, 6}), ints({1}).constant(), ints({-1}).constant(), ints({1}).constant()}, "end from behind"},
    {13, {}, {normal({4, 5}), ints({-3}).constant(), ints({100}).constant(), ints({-1}).constant()}, "end past the last"},
    {13, {}, {normal({4, 5}), ints({4}), ints({-100}), ints({1}), ints({-1})}, "backwards"},
    {13,
     {},
     {normal({20, 3}), ints({-1}).constant(), ints({-1000}).constant(), ints({0}).constant(), ints({-3}).constant()},
     "backwards in steps"},
    {11, {}, {normal({10}), ints({1}).constant(), ints({9}).constant(), ints({0}).constant(), ints({3}).constant()}, "steps"},
    {10, {}, {normal({10}), ints({5}), ints({2})}, "nothing left"},
    {1, {attr("starts", Ints{1, 0}), attr("ends", Ints{3, kMax}), attr("axes", Ints{0, 1})}, {normal({4, 5})}, "attributes"},
    {9, {attr("starts", Ints{-2}), attr("ends", Ints{kMax})}, {normal({4, 5})}, "attributes, no axes"},
    {13, {}, {normal({0, 5}), ints({0}).constant(), ints({2}).constant(), ints({0}).constant()}, "empty"},
    {13, {}, {normal({130, 300}), ints({1}), ints({299}), ints({1})}, "large"},
    {13, {}, {normal({4}), ints({0}), ints({4}), ints({0}), ints({0})}, "step 0", {"0", "axis 0"}},
    {13, {}, {normal({4}), ints({0}), ints({4}), ints({1})}, "axis out of range", {"axes is 1", "[-1, 0]"}},
    {13, {}, {normal({4, 4}), ints({0, 1}), ints({4, 4}), ints({0, -2})}, "an axis twice", {"axis 0", "more than once"}},
};
const std::vector<OpCase> kDynamicSlice = {
    {7, {}, {normal({4, 5}), ints({1, 0}), ints({3, -1})}, "all axes"},
    {9, {}, {normal({4, 5}), ints({1}), ints({9}), ints({-1})}, "one axis"},
};
RH_OP_TEST(DynamicSlice, kDynamicSlice, DTypeSet::all())

RH_OP_TEST(Slice, kSlice, DTypeSet::all())

}  // namespace
}  // namespace rh::test
