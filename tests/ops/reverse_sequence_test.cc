#include "support/op_case.h"

namespace rh::test {
namespace {

using Ints = std::vector<int64_t>;

const std::vector<OpCase> kReverseSequence = {
    {10, {}, {normal({4, 3}), ints({4, 1, 3})}, "time first"},
    {10, {}, {normal({5, 40}), ints(Ints(40, 3))}, "time first, all of one length"},
    {10, {}, {normal({3, 6, 2}), ints({2, 2, 0, 3, 3, 1})}, "time first, blocks of two"},
    {10, {}, {normal({3, 2, 30}), ints({2, 3})}, "time first, long blocks"},
    {10, {attr("batch_axis", 0), attr("time_axis", 1)}, {normal({2, 4, 3}), ints({2, 4})}, "batch first"},
    {10, {}, {normal({0, 2}), ints({0, 0})}, "no steps"},
    {10, {}, {normal({4, 2}), ints({5, 1})}, "longer than there is", {"5", "[0, 4]"}},
    {10, {}, {normal({4, 2}), ints({1})}, "wrong number of lengths", {"1 element", "expected 2"}},
    {10, {attr("batch_axis", 2)}, {normal({4, 2, 2}), ints({1, 1})}, "axes out of range", {"batch_axis is 2"}},
};
RH_OP_TEST(ReverseSequence, kReverseSequence, DTypeSet::all())

}  // namespace
}  // namespace rh::test
