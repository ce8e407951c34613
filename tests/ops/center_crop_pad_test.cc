#include "support/op_case.h"

namespace rh::test {
namespace {

using Ints = std::vector<int64_t>;

const std::vector<OpCase> kCenterCropPad = {
    {18, {}, {normal({6, 7}), ints({3, 4}).constant()}, "crop"},
    {18, {}, {normal({3, 4}), ints({6, 7})}, "pad"},
    {18, {}, {normal({3, 8}), ints({6, 3})}, "both"},
    {18, {attr("axes", Ints{-1, 0})}, {normal({3, 2, 8}), ints({5, 4}).constant()}, "some axes"},
    {18, {}, {normal({3}), ints({0})}, "to nothing"},
    {18, {}, {normal({3, 4}), ints({6})}, "wrong number of sizes", {"1 element", "expected 2"}},
};
RH_OP_TEST(CenterCropPad, kCenterCropPad, DTypeSet::all())

}  // namespace
}  // namespace rh::test
