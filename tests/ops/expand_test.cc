#include "support/op_case.h"

namespace rh::test {
namespace {

using Ints = std::vector<int64_t>;

const std::vector<OpCase> kExpand = {
    {13, {}, {normal({3, 1}), ints({2, 3, 4}).constant()}, "more dimensions"},
    {8, {}, {normal({3, 1}), ints({3, 4})}, "shape at run time"},
    {13, {}, {normal({1, 3}), ints({4, 1})}, "both grow"},
    {13, {}, {normal({3, 4}), ints({1}).constant()}, "shape smaller than the input"},
    {13, {}, {normal({}), ints({2, 3}).constant()}, "from a scalar"},
    {13, {}, {normal({1, 3}), ints({0, 3}).constant()}, "to nothing"},
    {13, {}, {normal({2, 1, 70}), ints({2, 90, 70})}, "rows repeat"},
    {13, {}, {normal({3, 2}), ints({3, 4})}, "does not broadcast", {"[3, 2]", "[3, 4]"}},
    {13, {}, {normal({1}), ints({-1})}, "negative size", {"-1"}},
};
RH_OP_TEST(Expand, kExpand, DTypeSet::all())

}  // namespace
}  // namespace rh::test
