#include <limits>

#include "support/op_case.h"

namespace rh::test {
namespace {

const Input kRegions = values({3, 4}, {0, 0, 6, 6, 1.5, 2.25, 4.5, 5, -3, -3, 20, 4});
const std::vector<Attribute> kSize = {attr("output_height", 3), attr("output_width", 2)};

std::vector<Attribute> with(std::vector<Attribute> more) {
  more.insert(more.end(), kSize.begin(), kSize.end());
  return more;
}

const std::vector<OpCase> kRoiAlign = {
    {16, kSize, {uniform({2, 3, 7, 8}, 0, 1), kRegions, ints({0, 1, 1})}, "mean"},
    {10,
     with({attr("spatial_scale", 0.5f), attr("sampling_ratio", 2)}),
     {uniform({2, 3, 7, 8}, 0, 1), kRegions, ints({0, 1, 0})},
     "a scale, as before half pixels"},
    {16,
     with({attr("sampling_ratio", 3), attr("coordinate_transformation_mode", "output_half_pixel")}),
     {uniform({2, 3, 7, 8}, 0, 1), kRegions, ints({0, 1, 0})},
     "samples"},
    {16, with({attr("sampling_ratio", 2)}), {uniform({2, 19, 7, 8}, 0, 1), kRegions, ints({0, 1, 0})}, "many channels"},
    {16, kSize, {uniform({2, 9, 7, 8}, 0, 1), kRegions, ints({1, 1, 0})}, "many channels, as many samples as elements"},
    {16, kSize, {uniform({1, 9, 7, 8}, 0, 1), values({1, 4}, {0, 0, 200, 180}), ints({0})}, "many samples of many channels"},
    {16, with({attr("mode", "max")}), {uniform({2, 3, 7, 8}, 0, 1), kRegions, ints({0, 1, 0})}, "maximum"},
    {16, kSize, {uniform({2, 3, 7, 8}, 0, 1), values({0, 4}, {}), ints({})}, "no regions"},
    {.opset = 16,
     .inputs = {values({1, 1, 2, 2}, {1, 2, 3, 4}), values({1, 4}, {0.5, 0.5, 1.5, 1.5}), ints({0})},
     .purpose = "the middle",
     .expected = {values({1, 1, 1, 1}, {2.5})}},
    {16, kSize, {normal({2, 3, 7, 8}), kRegions, ints({0, 2, 0})}, "batch", {"RoiAlign(16)", "batch 2", "[0, 2)"}},
    {16, kSize, {normal({2, 3, 7, 8}), kRegions, ints({0, std::numeric_limits<int64_t>::min(), 0})}, "batch below 0", {"RoiAlign(16)"}},
    {16, kSize, {normal({2, 3, 7, 8}), kRegions, ints({0, 1})}, "number of batches", {"[3, 4]", "[2]"}},
    {16, kSize, {normal({1, 3, 7, 8}), values({1, 4}, {0, 0, 60000, 60000}), ints({0})}, "a region too large", {"RoiAlign(16)", "16384"}},
    {16,
     with({attr("sampling_ratio", 600000)}),
     {normal({1, 3, 7, 8}), kRegions, ints({0, 0, 0})},
     "too many samples",
     {"RoiAlign(16)", "600000"}},
    {16,
     kSize,
     {normal({1, 3, 0, 8}), values({1, 4}, {0, 0, 4, 4}), ints({0})},
     "nothing to sample",
     {},
     1,
     0,
     "",
     nullptr,
     {values({1, 3, 3, 2}, std::vector<double>(18))},
     true},
    {16, {attr("mode", "min")}, {normal({1, 3, 7, 8}), kRegions, ints({0, 0, 0})}, "mode", {"'min'"}},
};
RH_OP_TEST(RoiAlign, kRoiAlign, FloatingTypes::set)

const std::vector<OpCase> kMaxRoiPool = {
    {1, {attr("pooled_shape", {2, 3})}, {normal({2, 3, 7, 8}), values({3, 5}, {0, 0, 0, 6, 6, 1, 1, 2, 4, 5, 1, 3, 3, 3, 3})}, "elements"},
    {22,
     {attr("pooled_shape", {2, 2}), attr("spatial_scale", 0.5f)},
     {normal({2, 3, 7, 8}), values({2, 5}, {0, 0, 0, 12, 12, 1, 2, 4, 30, 30})},
     "a scale"},
    {.opset = 22,
     .attributes = {attr("pooled_shape", {1, 2})},
     .inputs = {values({1, 1, 2, 2}, {1, 2, 3, 4}), values({1, 5}, {0, 0, 0, 1, 1})},
     .purpose = "columns",
     .expected = {values({1, 1, 1, 2}, {3, 4})}},
    {22,
     {attr("pooled_shape", {3, 2})},
     {normal({2, 35, 7, 8}), values({4, 5}, {1, 0, 0, 6, 6, 0, 1, 2, 4, 5, 1, 3, 3, 3, 3, 0, 9, 9, 12, 12})},
     "many channels, with a region outside"},
    {22, {attr("pooled_shape", {2, 3})}, {normal({1, 9, 3, 3}), values({1, 5}, {2, 0, 0, 6, 6})}, "batch of many channels", {"batch 2"}},
    {22, {attr("pooled_shape", {2, 3})}, {normal({2, 3, 7, 8}), values({1, 5}, {2, 0, 0, 6, 6})}, "batch", {"MaxRoiPool(22)", "batch 2"}},
    {22, {attr("pooled_shape", {2, 3})}, {normal({2, 3, 7, 8}), values({1, 5}, {-1, 0, 0, 6, 6})}, "batch below 0", {"batch -1"}},
    {22, {attr("pooled_shape", {2, 0})}, {normal({2, 3, 7, 8}), values({1, 5}, {0, 0, 0, 6, 6})}, "size", {"2 x 0"}},
};
RH_OP_TEST(MaxRoiPool, kMaxRoiPool, FloatingTypes::set)

}  // namespace
}  // namespace rh::test
