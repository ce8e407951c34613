#include "support/op_case.h"

namespace rh::test {
namespace {

using FloatsAndHalves = Types<float, Float16, BFloat16>;

const std::vector<OpCase> kRotaryEmbedding = {
    {.opset = 23,
     .inputs = {values({1, 1, 2, 4}, {1, 2, 3, 4, 5, 6, 7, 8}), values({1, 2, 2}, {0, 1, 1, 0.5}), values({1, 2, 2}, {1, 0, 0, 2})},
     .purpose = "halves",
     .expected = {values({1, 1, 2, 4}, {-3, 2, 1, 4, 5, -13, 7, 16})}},
    {.opset = 23,
     .attributes = {attr("interleaved", 1)},
     .inputs = {values({1, 1, 1, 4}, {1, 2, 3, 4}), values({1, 1, 2}, {0, 1}), values({1, 1, 2}, {1, 0})},
     .purpose = "neighbours",
     .expected = {values({1, 1, 1, 4}, {-2, 1, 3, 4})}},
    {23,
     {},
     {normal({2, 3, 4, 8}), normal({50, 4}), normal({50, 4}), values({2, 4}, {0, 1, 2, 3, 49, 7, 7, 0}).as(DType::int64)},
     "positions"},
    {23, {attr("num_heads", 3)}, {normal({2, 4, 24}), normal({2, 4, 4}), normal({2, 4, 4})}, "heads in the last dimension"},
    {23,
     {attr("num_heads", 3), attr("rotary_embedding_dim", 4), attr("interleaved", 1)},
     {normal({2, 4, 24}), normal({9, 2}), normal({9, 2}), values({2, 4}, {0, 1, 2, 3, 8, 7, 7, 0}).as(DType::int64)},
     "some of each head"},
    {23,
     {attr("num_heads", 5)},
     {normal({2, 4, 24}), normal({2, 4, 4}), normal({2, 4, 4})},
     "heads",
     {"RotaryEmbedding(23)", "num_heads = 5"}},
    {23, {}, {normal({2, 3, 4, 8}), normal({2, 4, 3}), normal({2, 4, 4})}, "cosines", {"RotaryEmbedding(23)", "[2, 4, 3]", "[2, 4, 4]"}},
    {23,
     {},
     {normal({1, 3, 1, 8}), normal({9, 4}), normal({9, 4}), values({1, 1}, {9}).as(DType::int64)},
     "position",
     {"position_ids has 9", "[0, 9)"}},
    {23,
     {},
     {normal({1, 3, 1, 8}), normal({9, 4}), normal({9, 4}), values({1, 1}, {-1}).as(DType::int64)},
     "negative position",
     {"position_ids has -1"}},
    {23, {}, {normal({1, 3, 1, 7}), normal({1, 1, 3}), normal({1, 1, 3})}, "odd heads", {"heads of 7"}},
};
RH_OP_TEST(RotaryEmbedding, kRotaryEmbedding, FloatsAndHalves::set)

}  // namespace
}  // namespace rh::test
