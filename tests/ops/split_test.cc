#include "support/op_case.h"

namespace rh::test {
namespace {

using Ints = std::vector<int64_t>;

const std::vector<OpCase> kSplit = {
    {13, {attr("axis", 1)}, {normal({2, 6, 2}), ints({1, 2, 3}).constant()}, "sizes as constant input", {}, 3},
    {13, {attr("axis", 0)}, {normal({6, 2}), ints({4, 0, 2})}, "sizes at run time, one empty", {}, 3},
    {11, {attr("axis", -1), attr("split", Ints{2, 4})}, {normal({2, 6})}, "sizes as attribute", {}, 2},
    {2, {}, {normal({6, 2})}, "equal parts", {}, 3},
    {1, {}, {normal({5}), ints({2, 3})}, "sizes as input of the first version", {}, 2},
    {18, {attr("num_outputs", 3)}, {normal({7, 2})}, "last part smaller", {}, 3},
    {18, {attr("num_outputs", 2), attr("axis", 1)}, {normal({100, 64})}, "halves", {}, 2},
    {13, {}, {normal({0, 2})}, "empty", {}, 2},
    {13, {}, {normal({7, 2})}, "no equal parts", {"7", "3 parts"}, 3},
    {13, {}, {normal({7, 2}), ints({3, 5})}, "sizes do not add up", {"[3, 5]", "add up to 7"}, 2},
    {13, {}, {normal({7, 2}), ints({8, -1})}, "negative size", {"[8, -1]", "7"}, 2},
};
RH_OP_TEST(Split, kSplit, DTypeSet::all())

}  // namespace
}  // namespace rh::test
