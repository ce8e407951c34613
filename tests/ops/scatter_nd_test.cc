#include "support/op_case.h"

namespace rh::test {
namespace {

using Ints = std::vector<int64_t>;

const Input kPairs = values({3, 1}, {4, -5, 2}).as(DType::int64);

const Input kSlice = values({2, 2, 2}, {1, 1, 1, 2, 2, 1, 2, 2}).as(DType::int64).constant();
const Input kWhole =
    values({4, 3, 2}, {0, 0, 0, 1, 0, 2, 1, 0, 1, 1, 1, 2, 2, 0, 2, 1, 2, 2, 3, 0, 3, 1, 3, 2}).as(DType::int64).constant();
const Input kDownwards = values({3, 1}, {4, 2, 2}).as(DType::int64).constant();

const std::vector<OpCase> kScatterND = {
    {11, {}, {normal({5}), kPairs, normal({3})}, "elements"},
    {13, {}, {normal({5, 2, 3}), kPairs, normal({3, 2, 3})}, "blocks"},
    {16, {}, {normal({2, 3}), values({2, 2}, {0, 1, 1, -1}).as(DType::int64), normal({2})}, "pairs"},
    {13, {}, {normal({5, 70}), values({3, 1}, {1, 2, -1}).as(DType::int64).constant(), normal({3, 70})}, "constant, upwards, wide blocks"},
    {16, {}, {normal({4, 3, 20}), kSlice, normal({2, 2, 20})}, "constant, a slice"},
    {16, {}, {normal({4, 3, 20}), kWhole, normal({4, 3, 20})}, "constant, everything in order"},
    {13, {}, {normal({5, 40}), kDownwards, normal({3, 40})}, "constant, downwards, the last of equal ones"},
    {13,
     {},
     {normal({5, 40}), values({1, 1}, {5}).as(DType::int64).constant(), normal({1, 40})},
     "constant index out of range",
     {"indices", "5", "[-5, 4]"}},
    {13, {}, {normal({5}), values({0, 1}, {}).as(DType::int64), normal({0})}, "no updates"},
    {13, {}, {normal({5}), values({1, 1}, {5}).as(DType::int64), normal({1})}, "index out of range", {"indices", "5", "[-5, 4]"}},
    {13, {}, {normal({5, 2}), kPairs, normal({3, 3})}, "updates do not fit", {"[3, 3]", "[3, 2]"}},
};
RH_OP_TEST(ScatterND, kScatterND, DTypeSet::all())

const Input kRepeated = values({4, 1}, {1, 3, 1, 0}).as(DType::int64);
const std::vector<OpCase> kReductions = {
    {16, {attr("reduction", "add")}, {normal({5, 2}), kRepeated, normal({4, 2})}, "add"},
    {16, {attr("reduction", "mul")}, {normal({5, 2}), kRepeated, normal({4, 2})}, "multiply"},
    {18, {attr("reduction", "min")}, {normal({5, 2}), kRepeated, normal({4, 2})}, "minimum"},
    {18, {attr("reduction", "max")}, {normal({5, 2}), kRepeated, normal({4, 2})}, "maximum"},
    {16, {attr("reduction", "add")}, {normal({5, 3, 100}), kRepeated, normal({4, 3, 100})}, "wide blocks, add"},
    {18, {attr("reduction", "max")}, {normal({5, 90}), kRepeated, normal({4, 90})}, "wide blocks, maximum"},
    {16, {attr("reduction", "add")}, {normal({4, 3, 20}), kSlice, normal({2, 2, 20})}, "constant, a slice, add"},
    {18, {attr("reduction", "mean")}, {normal({5, 2}), kRepeated, normal({4, 2})}, "unknown reduction", {"mean"}},
};
TEST(OpCases, ScatterNDReductions) { run_op_cases("ScatterND", kReductions, NumericTypes::set); }

const Input kWords = strings({3}, {"a", "m", "z"}), kSecond = values({2, 1}, {1, 1}).as(DType::int64);
const std::vector<OpCase> kStrings = {
    {.opset = 18,
     .attributes = {attr("reduction", "add")},
     .inputs = {kWords, kSecond, strings({2}, {"b", "c"})},
     .purpose = "joined",
     .expected = {strings({3}, {"a", "mbc", "z"})}},
    {.opset = 18,
     .attributes = {attr("reduction", "max")},
     .inputs = {kWords, kSecond, strings({2}, {"b", "q"})},
     .purpose = "the last in order",
     .expected = {strings({3}, {"a", "q", "z"})},
     .stock_is_wrong = true},
    {18, {attr("reduction", "mul")}, {kWords, kSecond, strings({2}, {"b", "c"})}, "no product", {"mul", "strings"}},
};
TEST(OpCases, ScatterNDStrings) { run_op_cases("ScatterND", kStrings, Types<std::string>::set); }

}  // namespace
}  // namespace rh::test
