#include "support/op_case.h"

namespace rh::test {
namespace {

using Ints = std::vector<int64_t>;

const std::vector<OpCase> kFlatten = {
    {13, {}, {normal({2, 3, 4})}, "default axis"},
    {13, {attr("axis", 0)}, {normal({2, 3, 4})}, "one row"},
    {9, {attr("axis", 3)}, {normal({2, 3, 4})}, "axis at the rank"},
    {11, {attr("axis", -1)}, {normal({2, 3, 4})}, "negative axis"},
    {13, {attr("axis", 2)}, {normal({2, 0, 4})}, "empty"},
    {13, {attr("axis", 0)}, {normal({})}, "scalar"},
    {13, {attr("axis", 4)}, {normal({2, 3, 4})}, "axis out of range", {"axis is 4", "[-3, 3]"}},
};
RH_OP_TEST(Flatten, kFlatten, DTypeSet::all())

}  // namespace
}  // namespace rh::test
