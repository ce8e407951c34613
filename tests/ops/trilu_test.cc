#include "support/op_case.h"

namespace rh::test {
namespace {

using Ints = std::vector<int64_t>;

Input diagonal(double k) { return values({}, {k}).as(DType::int64); }

const std::vector<OpCase> kTrilu = {
    {14, {}, {normal({3, 4})}, "upper"},
    {14, {attr("upper", 0)}, {normal({4, 3})}, "lower"},
    {14, {}, {normal({2, 3, 3}), diagonal(1)}, "upper, above the diagonal"},
    {14, {attr("upper", 0)}, {normal({2, 4, 3}), diagonal(-1).constant()}, "lower, below the diagonal"},
    {14, {attr("upper", 0)}, {normal({3, 4}), diagonal(2)}, "lower, above the diagonal"},
    {14, {}, {normal({3, 4}), diagonal(-9)}, "everything"},
    {14, {attr("upper", 0)}, {normal({3, 4}), diagonal(-9)}, "nothing"},
    {14, {}, {normal({0, 4})}, "empty"},
    {14, {}, {normal({3})}, "rank 1", {"rank 1", "at least 2"}},
};
RH_OP_TEST(Trilu, kTrilu, (Concat<RealTypes, Types<std::complex<float>>>::set))

}  // namespace
}  // namespace rh::test
