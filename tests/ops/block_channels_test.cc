#include "support/op_case.h"

namespace rh::test {
namespace {

OpCase ordered(Input x, int channels, const char* purpose, std::vector<Input> expected, std::vector<std::string> fails = {}) {
  OpCase c{1, {attr("channels", channels)}, {std::move(x)}, purpose};
  c.domain = "roundhouse";
  c.expected = std::move(expected);
  c.fails = std::move(fails);
  return c;
}

const Input kPlanes = values({1, 2, 1, 3}, {1, 2, 3, 4, 5, 6});
const Input kBlocks = values({1, 1, 1, 3, 16}, {1, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2, 5, 0, 0, 0, 0, 0, 0,
                                                0, 0, 0, 0, 0, 0, 0, 0, 3, 6, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0});

const std::vector<OpCase> kBlock = {
    ordered(kPlanes, 2, "two channels", {kBlocks}),
    ordered(normal({2, 5, 0, 3}), 5, "nothing", {values({2, 1, 0, 3, 16}, {})}),
    ordered(kPlanes, 3, "channels that do not fit", {}, {"[1, 2, 1, 3]", "3 channels"}),
    ordered(normal({1, 2, 3}), 2, "a rank that does not fit", {}, {"[1, 2, 3]", "[N, C, H, W]"}),
    ordered(kPlanes, 0, "no channels", {}, {"channels is 0"}),
};
RH_OP_TEST(BlockChannels, kBlock, (Types<float>::set))

const std::vector<OpCase> kUnblock = {
    ordered(kBlocks, 2, "two channels", {kPlanes}),
    ordered(normal({0, 2, 4, 4, 16}), 17, "no image", {values({0, 17, 4, 4}, {})}),
    ordered(kBlocks, 17, "blocks that do not fit", {}, {"[1, 1, 1, 3, 16]", "17 channels"}),
    ordered(normal({1, 1, 1, 3, 8}), 2, "other blocks", {}, {"[1, 1, 1, 3, 8]", "[N, blocks, H, W, 16]"}),
};
RH_OP_TEST(UnblockChannels, kUnblock, (Types<float>::set))

}  // namespace
}  // namespace rh::test
