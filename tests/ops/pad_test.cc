#include "support/op_case.h"

namespace rh::test {
namespace {

using Ints = std::vector<int64_t>;

const std::vector<OpCase> kConstantMode = {
    {13, {}, {normal({2, 3}), ints({1, 0, 0, 2}).constant()}, "zeros"},
    {11, {}, {normal({2, 3}), ints({0, 1, 2, 1}), values({}, {1})}, "value given"},
    {18, {}, {normal({2, 3, 2}), ints({1, 2}).constant(), absent(), ints({-2}).constant()}, "one axis"},
    {13, {}, {normal({4, 5}), ints({-1, 2, -1, -3}).constant()}, "crop"},
    {13, {}, {normal({0, 2}), ints({1, 1, 1, 1}).constant()}, "empty"},
    {13, {}, {normal({}), ints({}).constant()}, "scalar"},
    {13, {}, {normal({40, 3, 50}), ints({0, 1, 1, 2, 0, 3})}, "larger"},
    {13, {}, {normal({1, 2}), ints({-2, 0, 2, 0})}, "crops all there is, and pads"},
    {13, {}, {normal({0, 2}), ints({2, 0, -1, 0}).constant()}, "crops what it pads"},
    {13, {}, {normal({2, 3}), ints({1, 0, 0})}, "wrong number of pads", {"3 elements", "expected 4"}},
    {13, {}, {normal({2, 3}), ints({-1, 0, -2, 0})}, "crops more than there is", {"-1", "-2", "[2, 3]"}},
};
TEST(OpCases, PadConstant) { run_op_cases("Pad", kConstantMode, DTypeSet::all()); }

const std::vector<OpCase> kCopies = {
    {13, {attr("mode", "reflect")}, {normal({3, 4}), ints({1, 2, 2, 3}).constant()}, "reflect"},
    {13, {attr("mode", "edge")}, {normal({2, 3}), ints({1, 2, 0, 3})}, "edge"},
    {13, {attr("mode", "reflect")}, {normal({1, 2, 5}), ints({0, 0, 3, 0, 1, 0}).constant()}, "reflect in the middle"},
    {13, {attr("mode", "edge")}, {normal({2, 3, 4}), ints({1, 0, 2, 1, 1, 0}).constant()}, "edge of rank 3"},
    {19, {attr("mode", "wrap")}, {normal({3, 4}), ints({2, 1, 3, 3}).constant()}, "wrap"},
    {19, {attr("mode", "wrap")}, {normal({3}), ints({7, 4}).constant()}, "wrap more than once"},
    {13, {attr("mode", "edge")}, {normal({0, 2}), ints({1, 0, 0, 0})}, "nothing to repeat", {"dimension 0", "[0, 2]"}},
    {13, {attr("mode", "mirror")}, {normal({2}), ints({1, 0})}, "unknown mode", {"mirror"}},
};
TEST(OpCases, PadCopies) { run_op_cases("Pad", kCopies, DTypeSet::all()); }

const std::vector<OpCase> kAttributes = {
    {2, {attr("pads", Ints{1, 0, 0, 2}), attr("value", 2.5f)}, {normal({2, 3})}, "attributes"},
    {1, {attr("paddings", Ints{1, 0, 0, 2}), attr("mode", "edge")}, {normal({2, 3})}, "attributes of the first version"},
    {10, {attr("pads", Ints{0, -1, 0, 2}), attr("mode", "reflect")}, {normal({2, 5})}, "attributes, crop and reflect"},
};
TEST(OpCases, PadAttributes) { run_op_cases("Pad", kAttributes, Types<float, double, Float16>::set); }

}  // namespace
}  // namespace rh::test
