#include "support/op_case.h"

namespace rh::test {
namespace {

using Ints = std::vector<int64_t>;

const std::vector<OpCase> kEyeLike = {
    {9, {}, {normal({3, 4})}, "main diagonal"},
    {9, {attr("k", 1)}, {normal({4, 3})}, "above"},
    {9, {attr("k", -2)}, {normal({4, 3})}, "below"},
    {9, {attr("k", 100)}, {normal({2, 3})}, "outside"},
    {9, {attr("dtype", 1)}, {normal({3, 3})}, "another element type"},
    {9, {}, {normal({0, 3})}, "empty"},
    {9, {}, {normal({3})}, "rank 1", {"rank 1", "expected 2"}},
};
RH_OP_TEST(EyeLike, kEyeLike, (Concat<NumericTypes, Types<bool>>::set))

}  // namespace
}  // namespace rh::test
