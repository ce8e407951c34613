#include <complex>
#include <limits>

#include "support/op_case.h"

namespace rh::test {
namespace {

constexpr int64_t kMost = std::numeric_limits<int64_t>::max();

const std::vector<OpCase> kCol2Im = {
    {.opset = 18,
     .inputs = {values({1, 2, 2}, {1, 2, 3, 4}), ints({1, 3}), ints({1, 2})},
     .purpose = "blocks that overlap",
     .expected = {values({1, 1, 1, 3}, {1, 5, 4})}},
    {18, {}, {values({1, 1, 1}, {1}), ints({1, 1}), ints({1, 1})}, "one element"},
};
RH_OP_TEST(Col2Im, kCol2Im, (Concat<NumericTypes, Types<std::complex<float>, std::complex<double>>>::set))

const std::vector<OpCase> kCol2ImForms = {
    {18,
     {attr("strides", {2, 2}), attr("pads", {1, 0, 1, 2}), attr("dilations", {2, 1})},
     {normal({2, 18, 6}), ints({5, 5}), ints({3, 3})},
     "strides, pads, dilations"},
    {18, {attr("pads", {1, 1, 1, 1})}, {normal({2, 18, 7 * 37}), ints({7, 37}), ints({3, 3})}, "rows of two vectors and more"},
    {18,
     {attr("pads", {2, 3, 2, 3}), attr("strides", {2, 1}), attr("dilations", {1, 2})},
     {normal({1, 15, 4 * 20}), ints({7, 18}), ints({5, 3})},
     "rows apart"},
    {18, {}, {normal({2, 8, 12}), ints({3, 3, 4}), ints({2, 2, 2})}, "three dimensions"},
    {18, {}, {normal({0, 4, 4}), ints({3, 3}).constant(), ints({2, 2}).constant()}, "empty batch"},
    {18, {}, {normal({1, 5, 4}), ints({3, 3}), ints({2, 2})}, "elements", {"Col2Im(18)", "[1, 5, 4]", "multiple of 4"}},
    {18, {}, {normal({1, 4, 5}), ints({3, 3}), ints({2, 2})}, "blocks", {"[1, 4, 5]", "[2, 2]"}},
    {18, {}, {normal({1, 4, 4}), ints({3, 3}), ints({4, 2})}, "larger blocks", {"Col2Im(18)"}},
    {18, {}, {normal({1, 4, 4}), ints({kMost, kMost}), ints({2, 2})}, "sizes that overflow", {"Col2Im(18)"}},
    {18, {}, {normal({1, 4, 4}), ints({3, 3}), ints({0, 2})}, "size 0", {"Col2Im(18)"}},
    {18, {}, {normal({1, 4, 4}), ints({3, 3}), ints({2})}, "ranks", {"Col2Im(18)"}},
    {18, {attr("strides", {0, 1})}, {normal({1, 4, 4}), ints({3, 3}), ints({2, 2})}, "stride 0", {"strides has the value 0"}},
};
TEST(OpCases, Col2ImForms) { run_op_cases("Col2Im", kCol2ImForms, FloatingTypes::set); }

}  // namespace
}  // namespace rh::test
