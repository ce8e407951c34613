#include "support/op_case.h"

namespace rh::test {
namespace {

using Ints = std::vector<int64_t>;

const std::vector<OpCase> kConcat = {
    {13, {attr("axis", 0)}, {normal({2, 3}), normal({1, 3}), normal({4, 3})}, "rows"},
    {11, {attr("axis", -1)}, {normal({2, 3}), normal({2, 1}), normal({2, 5})}, "columns"},
    {4, {attr("axis", 1)}, {normal({2, 3, 2}), normal({2, 0, 2})}, "an empty input"},
    {3, {}, {normal({2, 3}), normal({2, 2})}, "default axis of the first version"},
    {13, {attr("axis", 1)}, {normal({300, 70}), normal({300, 90})}, "large"},
    {13, {attr("axis", 0)}, {normal({5})}, "one input"},
    {13, {attr("axis", 0)}, {normal({0, 0}), normal({2, 3})}, "what is empty adds nothing"},
    {13, {attr("axis", 0)}, {normal({2, 3}), normal({0, 0}), normal({1, 3})}, "in between"},
    {13, {attr("axis", 1)}, {normal({0, 0}), normal({2, 3})}, "along another axis"},
    {13, {attr("axis", 0)}, {normal({0, 2, 3}), normal({4, 2, 3})}, "no rows"},
    {13, {attr("axis", 0)}, {normal({0, 0}), normal({0, 0})}, "all of them empty"},
    {13, {attr("axis", 0)}, {normal({2, 0}), normal({2, 3})}, "rows of nothing", {"[2, 0]", "[2, 3]"}},
    {13, {attr("axis", 0)}, {normal({2, 3}), normal({2, 4})}, "sizes off the axis differ", {"3", "4"}},
    {13, {attr("axis", 2)}, {normal({2, 3}), normal({2, 3})}, "axis out of range", {"axis is 2", "[-2, 1]"}},
};
RH_OP_TEST(Concat, kConcat, DTypeSet::all())

}  // namespace
}  // namespace rh::test
