#include <limits>

#include "support/op_case.h"

namespace rh::test {
namespace {

const std::vector<Attribute> kWindow = {attr("kernel_shape", {2, 2}), attr("strides", {2, 2})};
Input indices(std::vector<double> numbers) { return values({1, 1, 2, 2}, std::move(numbers)).as(DType::int64); }

const std::vector<OpCase> kMaxUnpool = {
    {.opset = 11,
     .attributes = kWindow,
     .inputs = {values({1, 1, 1, 2}, {1, 2}), values({1, 1, 1, 2}, {5, 3}).as(DType::int64)},
     .purpose = "two elements",
     .expected = {values({1, 1, 2, 4}, {0, 0, 0, 2, 0, 1, 0, 0})}},
    {9, kWindow, {normal({1, 1, 2, 2}), indices({0, 7, 8, 15})}, "by the window"},
    {.opset = 22,
     .attributes = kWindow,
     .inputs = {values({1, 1, 2, 2}, {1, 2, 3, 4}), indices({5, 7, 13, 15}), ints({1, 1, 5, 5})},
     .purpose = "a larger output",
     .expected = {values({1, 1, 5, 5}, {0, 0, 0, 0, 0, 0, 1, 0, 2, 0, 0, 0, 0, 0, 0, 0, 3, 0, 4, 0, 0, 0, 0, 0, 0})},
     .stock_is_wrong = true},
    {11, kWindow, {normal({1, 3, 1, 2}), values({1, 3, 1, 2}, {1, 4, 9, 15, 16, 23}).as(DType::int64)}, "planes of their own"},
    {.opset = 11,
     .attributes = kWindow,
     .inputs = {values({1, 2, 1, 1}, {1, 2}), values({1, 2, 1, 1}, {6, 1}).as(DType::int64)},
     .purpose = "elements of other planes",
     .expected = {values({1, 2, 2, 2}, {0, 2, 0, 0, 0, 0, 1, 0})}},
    {11, kWindow, {normal({1, 2, 1, 1}), values({1, 2, 1, 1}, {3, 8}).as(DType::int64)}, "index beyond all planes", {"8", "7"}},
    {11, kWindow, {normal({0, 1, 2, 2}), values({0, 1, 2, 2}, {}).as(DType::int64)}, "empty batch"},
    {.opset = 11,
     .attributes = {attr("kernel_shape", {2, 2})},
     .inputs = {values({1, 1, 0, 0}, {}), values({1, 1, 0, 0}, {}).as(DType::int64)},
     .purpose = "a window over nothing",
     .expected = {values({1, 1, 1, 1}, {0})}},
    {11, kWindow, {normal({1, 1, 2, 2}), indices({0, 7, 8, 16})}, "index", {"MaxUnpool(11)", "16", "15"}},
    {11,
     kWindow,
     {normal({1, 1, 2, 2}), ints({0, std::numeric_limits<int64_t>::min(), 8, 1})},
     "shape of the indices",
     {"[4]", "[1, 1, 2, 2]"}},
    {11, kWindow, {normal({1, 1, 2, 2}), indices({0, 7, 8, -17})}, "index below 0", {"-17"}},
    {11, kWindow, {normal({1, 1, 2, 2}), indices({0, 7, 8, 15}), ints({1, 1, 3, 4})}, "smaller output", {"[1, 1, 3, 4]", "[1, 1, 4, 4]"}},
    {11, kWindow, {normal({1, 1, 2}), values({1, 1, 2}, {0, 1}).as(DType::int64)}, "rank", {"MaxUnpool(11)"}},
};
RH_OP_TEST(MaxUnpool, kMaxUnpool, FloatingTypes::set)

}  // namespace
}  // namespace rh::test
