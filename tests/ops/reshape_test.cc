#include "support/op_case.h"

namespace rh::test {
namespace {

using Ints = std::vector<int64_t>;

const std::vector<OpCase> kReshape = {
    {13, {}, {normal({2, 3, 4}), ints({6, 4}).constant()}, "constant shape"},
    {13, {}, {normal({2, 3, 4}), ints({4, -1})}, "shape known at run time only"},
    {5, {}, {normal({2, 3, 4}), ints({0, -1}).constant()}, "copied and inferred dimensions"},
    {14, {}, {normal({2, 3, 4}), ints({0, 0, 2, -1}).constant()}, "two copied dimensions"},
    {1, {attr("shape", Ints{3, -1})}, {normal({2, 3})}, "shape as attribute"},
    {13, {}, {normal({1}), ints({}).constant()}, "to a scalar"},
    {13, {}, {normal({}), ints({1, -1, 1}).constant()}, "from a scalar"},
    {14, {attr("allowzero", 1)}, {normal({0, 3}), ints({3, 0}).constant()}, "zero as a size"},
    {18, {attr("allowzero", 1)}, {normal({0, 4, 6}), ints({0, -1, 3})}, "the rest of an empty batch"},
    {18, {attr("allowzero", 1)}, {normal({0, 4, 6}), ints({0, -1, 3}).constant()}, "the rest of an empty batch, known at load"},
    {18, {attr("allowzero", 1)}, {normal({2, 0}), ints({0, -1})}, "the rest where another size is 0"},
    {18, {attr("allowzero", 1)}, {normal({0, 4}), ints({0, -1, 3})}, "what does not fit any batch", {"[0, -1, 3]", "[0, 4]"}},
    {13, {}, {normal({0, 3}), ints({3, 0})}, "does not fit", {"[3, 0]", "[0, 3]", "0 elements"}},
    {13, {}, {normal({2, 3}), ints({4, -1})}, "rest at run time", {"[4, -1]", "[2, 3]", "6 elements"}},
    {13, {}, {normal({2, 3}), ints({4, -1}).constant()}, "rest at load", {"6 elements", "[2, 3]"}},
    {13, {}, {normal({2, 3}), ints({-1, -1})}, "two open dimensions", {"[-1, -1]", "at most one -1"}},
    {13, {}, {normal({2, 3}), ints({-2, 3}).constant()}, "negative size", {"-2"}},
    {13, {}, {normal({6}), ints({3, 0, 2})}, "copies a dimension that the input lacks", {"copies dimension 1", "rank 1"}},
};
RH_OP_TEST(Reshape, kReshape, DTypeSet::all())

}  // namespace
}  // namespace rh::test
