#include "support/op_case.h"

namespace rh::test {
namespace {

using Ints = std::vector<int64_t>;

const std::vector<OpCase> kNonZero = {
    {13, {}, {values({2, 3}, {0, 1, 0, 2, 0, 3})}, "matrix"},
    {9, {}, {values({2, 1, 2}, {0, 0, 1, 1})}, "rank 3"},
    {13, {}, {values({3}, {0, 0, 0})}, "none"},
    {13, {}, {normal({0, 2})}, "empty"},
    {13, {}, {normal({50, 60})}, "many"},
};
RH_OP_TEST(NonZero, kNonZero, (Concat<NumericTypes, Types<bool, Float8E4M3FN, Float8E5M2FNUZ, std::complex<float>>>::set))

}  // namespace
}  // namespace rh::test
