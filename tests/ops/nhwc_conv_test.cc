#include "support/op_case.h"

namespace rh::test {
namespace {

OpCase nhwc(std::vector<Attribute> attributes, std::vector<Input> inputs, const char* purpose, std::vector<Input> expected,
            std::vector<std::string> fails = {}) {
  for (size_t i = 1; i < inputs.size() && i < 3; ++i) inputs[i] = inputs[i].constant();
  OpCase c{1, std::move(attributes), std::move(inputs), purpose};
  c.domain = "roundhouse";
  c.expected = std::move(expected);
  c.fails = std::move(fails);
  return c;
}

/// Three pixels of four channels, and kernels that take the pixel, its neighbours, one of them and nothing.
const Input kX = values({1, 1, 3, 4}, {1, 2, 3, 4, 10, 20, 30, 40, 100, 200, 300, 400}),
            kW = values({4, 1, 1, 3}, {0, 1, 0, 1, 0, 1, 0, 0, 2, 0, 0, 0}), kBias = values({4}, {0, 1, 2, 3});
const Attribute kGroup = attr("group", 4), kPads = attr("pads", {0, 1, 0, 1});

const std::vector<OpCase> kNhwcConv = {
    nhwc({kGroup, kPads}, {kX, kW}, "by hand", {values({1, 1, 3, 4}, {1, 20, 60, 0, 10, 202, 600, 0, 100, 20, 0, 0})}),
    nhwc({kGroup, kPads}, {kX, kW, kBias, kX}, "bias and sum",
         {values({1, 1, 3, 4}, {2, 23, 65, 7, 20, 223, 632, 43, 200, 221, 302, 403})}),
    nhwc({kGroup, kPads, attr("activation", "Clip"), attr("activation_params", std::vector<float>{10, 100})}, {kX, kW}, "an activation",
         {values({1, 1, 3, 4}, {10, 20, 60, 10, 10, 100, 100, 10, 100, 20, 10, 10})}),
    nhwc({kGroup, attr("strides", {1, 2})}, {kX, kW}, "no padding, a stride", {values({1, 1, 1, 4}, {10, 202, 600, 0})}),
    nhwc({kGroup, attr("pads", {1, 1})},
         {values({1, 3, 4}, {1, 2, 3, 4, 10, 20, 30, 40, 100, 200, 300, 400}), values({4, 1, 3}, {0, 1, 0, 1, 0, 1, 0, 0, 2, 0, 0, 0})},
         "one dimension", {values({1, 3, 4}, {1, 20, 60, 0, 10, 202, 600, 0, 100, 20, 0, 0})}),
    nhwc({kGroup}, {values({1, 1, 2, 4}, {1, 2, 3, 4, 5, 6, 7, 8}), kW}, "a window that does not fit", {}, {"window of 3", "2 elements"}),
    nhwc({kGroup, kPads}, {normal({0, 1, 3, 4}), kW}, "empty batch", {values({0, 1, 3, 4}, {})}),
    nhwc({attr("strides", {1, 2})}, {values({1, 1, 4, 2}, {1, 2, 3, 4, 5, 6, 7, 8}), values({1, 2, 1, 2}, {1, 10, 100, 1000})}, "patches",
         {values({1, 1, 2, 1}, {4231, 8675})}),
    nhwc({attr("strides", {1, 2}), attr("from_planes", 1)},
         {values({1, 2, 1, 4}, {1, 3, 5, 7, 2, 4, 6, 8}), values({1, 2, 1, 2}, {1, 10, 100, 1000}), values({1}, {10000})},
         "patches of planes", {values({1, 1, 2, 1}, {14231, 18675})}),
    nhwc({kGroup, kPads}, {normal({1, 4, 1, 3}), kW}, "channels that do not fit", {}, {"NhwcConv", "3 channels, expected 4"}),
    nhwc({kGroup, kPads, attr("from_planes", 1)}, {normal({1, 4, 1, 3}), kW}, "channels by themselves in planes", {}, {"4 groups"}),
    nhwc({kPads, attr("strides", {1, 2})}, {values({1, 1, 2, 2}, {1, 2, 3, 4}), values({1, 2, 1, 2}, {1, 10, 100, 1000})},
         "patches with padding", {values({1, 1, 2, 1}, {2010, 403})}),
    nhwc({attr("dilations", {1, 2})}, {normal({1, 1, 4, 2}), normal({1, 2, 1, 2})}, "patches with gaps", {}, {"dilation"}),
};
RH_OP_TEST(NhwcConv, kNhwcConv, (Types<float>::set))

}  // namespace
}  // namespace rh::test
