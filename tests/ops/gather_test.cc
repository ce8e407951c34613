#include "support/model_case.h"
#include "support/op_case.h"

namespace rh::test {
namespace {

using Ints = std::vector<int64_t>;

const std::vector<OpCase> kGather = {
    {13, {}, {normal({5, 3}), ints({4, 0, -1})}, "rows"},
    {13, {attr("axis", 1)}, {normal({3, 5, 2}), values({2, 2}, {0, -5, 4, 2}).as(DType::int32)}, "matrix of int32 indices"},
    {1, {attr("axis", 0)}, {normal({5}), values({}, {3}).as(DType::int64)}, "scalar index"},
    {11, {attr("axis", -1)}, {normal({3, 5}), ints({1}).constant()}, "last axis"},
    {13, {}, {normal({5, 3}), ints({})}, "no indices"},
    {13, {attr("axis", 1)}, {normal({0, 5}), ints({1, 2})}, "empty data"},
    {13, {}, {normal({1000, 70}), ints({999, 5, 500, -1000, 3, 3, 3})}, "blocks"},
    {13, {}, {normal({5, 3}), ints({5})}, "index out of range", {"indices", "5", "[-5, 4]"}},
    {13, {attr("axis", 2)}, {normal({5, 3}), ints({0})}, "axis out of range", {"axis is 2", "[-2, 1]"}},
};
RH_OP_TEST(Gather, kGather,
           (Concat<RealTypes, Types<std::complex<float>, std::complex<double>>>::set | DTypeSet{DType::int4, DType::uint2}))

// The stock library copies one string where a block has several, so only single ones are compared with it.
const std::vector<OpCase> kStrings = {
    {13, {}, {normal({5}), ints({4, 0, -1})}, "strings"},
    {13, {attr("axis", -1)}, {normal({3, 5}), ints({1, 4})}, "last axis"},
};
TEST(OpCases, GatherStrings) { run_op_cases("Gather", kStrings, Types<std::string>::set); }

const std::vector<ModelCase> kStringBlocks = {
    {"rows of strings",
     R"(<ir_version: 8, opset_import: ["" : 13]>
g (string[2, 2] x, int64[3] i) => (string[3, 2] y) { y = Gather (x, i) })",
     {texts({2, 2}, {"a", "b", "c", "d"}), integers({3}, {1, 0, -1})},
     {},
     {texts({3, 2}, {"c", "d", "a", "b", "c", "d"})}},
};
TEST(ModelCases, GatherStrings) { run_model_cases(kStringBlocks); }

}  // namespace
}  // namespace rh::test
