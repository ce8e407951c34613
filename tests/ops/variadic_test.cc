#include <limits>

#include "support/model_case.h"
#include "support/op_case.h"

namespace rh::test {
namespace {

const std::vector<OpCase> kVariadic = {
    {13, {}, {normal({3, 40}), normal({3, 40}), normal({3, 40})}, "same shape"},
    {13, {}, {normal({3, 147}), normal({3, 147})}, "two of one shape"},
    {13, {}, std::vector<Input>(32, normal({5, 61})), "more than a chain takes, a power of two"},
    {13, {}, std::vector<Input>(29, normal({5, 61})), "two turns"},
    {13, {}, {normal({3, 40})}, "one input"},
    {13, {}, {normal({3, 40}), normal({40})}, "a row"},
    {13, {}, {normal({3, 1}), normal({40}), normal({2, 1, 1}), normal({})}, "all spread"},
    {13, {}, {normal({0, 4}), normal({4})}, "empty"},
};
RH_OP_TEST(Max, kVariadic, NumericTypes::set)
RH_OP_TEST(Min, kVariadic, NumericTypes::set)
RH_OP_TEST(Sum, kVariadic, FloatingTypes::set)
RH_OP_TEST(Mean, kVariadic, FloatingTypes::set)

const std::vector<OpCase> kNaN = {
    {13, {}, {values({4}, {nan, 1, nan, 2}), values({4}, {1, nan, nan, 1})}, "NaN wins", {}, 1, 0, "", "Max"},
    {13, {}, {values({4}, {nan, 1, nan, 2}), values({4}, {1, nan, nan, 1})}, "NaN wins", {}, 1, 0, "", "Min"},
};
RH_OP_TEST(ExtremesOfNaN, kNaN, (Types<float, double>::set))

const std::vector<OpCase> kClip = {
    {13, {}, {uniform({3, 41}, 0, 20), values({}, {3}), values({}, {12})}, "both bounds"},
    {13, {}, {uniform({3, 41}, 0, 20), absent(), values({}, {12})}, "upper bound"},
    {13, {}, {uniform({3, 41}, 0, 20), values({}, {3})}, "lower bound"},
    {13, {}, {uniform({3, 41}, 0, 20)}, "no bound"},
    {13, {}, {uniform({3, 41}, 0, 20), values({}, {12}), values({}, {3})}, "bounds crossed"},
    {13, {}, {uniform({0}, 0, 20), values({}, {3}), values({}, {12})}, "empty"},
};
RH_OP_TEST(Clip, kClip, NumericTypes::set)

constexpr float infinity = std::numeric_limits<float>::infinity(), most = std::numeric_limits<float>::max();

// What is not bounded is finite all the same.
const std::vector<ModelCase> kInfinite = {
    {"no bound",
     "<opset_import: [\"\" : 13]> g (float[3] x) => (float[3] y) { y = Clip (x) }",
     {floats({3}, {infinity, -infinity, 1})},
     {},
     {floats({3}, {most, -most, 1})}},
    {"no lower bound",
     "<opset_import: [\"\" : 13]> g (float[3] x, float high) => (float[3] y) { y = Clip (x, _, high) }",
     {floats({3}, {infinity, -infinity, 1}), floats({}, {12})},
     {},
     {floats({3}, {12, -most, 1})}},
    {"no upper bound",
     "<opset_import: [\"\" : 13]> g (float[3] x, float low) => (float[3] y) { y = Clip (x, low) }",
     {floats({3}, {infinity, -infinity, 1}), floats({}, {3})},
     {},
     {floats({3}, {most, 3, 3})}},
    {"infinite bounds",
     "<opset_import: [\"\" : 13]> g (float[3] x, float low, float high) => (float[3] y) { y = Clip (x, low, high) }",
     {floats({3}, {infinity, -infinity, 1}), floats({}, {-infinity}), floats({}, {infinity})},
     {},
     {floats({3}, {infinity, -infinity, 1})}},
    {"attributes",
     "<opset_import: [\"\" : 6]> g (float[3] x) => (float[3] y) { y = Clip <min = -0.5> (x) }",
     {floats({3}, {infinity, -infinity, 1})},
     {},
     {floats({3}, {most, -0.5f, 1})}},
    {"of a half type",
     "<opset_import: [\"\" : 13]> g (float[3] x) => (float[3] y) { a = Cast <to = 10> (x) b = Clip (a) y = Cast <to = 1> (b) }",
     {floats({3}, {infinity, -infinity, 1})},
     {},
     {floats({3}, {65504, -65504, 1})}},
    {"attributes of a half type",
     "<opset_import: [\"\" : 10]> g (float[3] x) => (float[3] y) { a = Cast <to = 10> (x) b = Clip <min = 0.5> (a) y = Cast <to = 1> (b) }",
     {floats({3}, {infinity, -infinity, 1})},
     {},
     {floats({3}, {infinity, 0.5f, 1})}},
};
TEST(ModelCases, ClipOfInfinities) { run_model_cases(kInfinite); }

const std::vector<OpCase> kOldClip = {
    {6, {attr("min", -0.5f), attr("max", 0.25f)}, {normal({3, 41})}, "attributes"},
    {10, {attr("min", -0.5f)}, {normal({3, 41})}, "lower bound"},
    {10, {}, {normal({3, 41})}, "no bound"},
};
TEST(OpCases, OldClip) { run_op_cases("Clip", kOldClip, Types<float, double>::set); }

}  // namespace
}  // namespace rh::test
