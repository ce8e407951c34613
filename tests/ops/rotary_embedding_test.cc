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
std::vector<double> positions(int count) {
  std::vector<double> all;
  for (int i = 0; i < count; ++i) all.push_back((7 * i + i / 5) % 9);
  return all;
}

std::vector<Attribute> sections(std::initializer_list<int> sizes, std::vector<Attribute> more = {}) {
  more.push_back(attr("mrope_section", sizes));
  return more;
}

const Input kTimes = values({3, 2, 5}, positions(30)).as(DType::int64);
const std::vector<OpCase> kMultimodal = {
    contributed(sections({2, 1, 1}), {normal({2, 3, 5, 8}), kTimes, normal({9, 4}), normal({9, 4})}, "sections"),
    contributed(sections({1, 1, 2}, {attr("mrope_layout", 1)}), {normal({2, 3, 5, 8}), kTimes, normal({9, 4}), normal({9, 4})},
                "interleaved"),
    contributed(sections({4, 3, 1}, {attr("mrope_layout", 1), attr("interleaved", 1)}),
                {normal({2, 3, 5, 16}), kTimes, normal({9, 8}), normal({9, 8})}, "neighbours turn"),
    contributed(sections({0, 0, 2}, {attr("num_heads", 3), attr("rotary_embedding_dim", 4), attr("scale", 2.0f)}),
                {normal({2, 5, 24}), kTimes, normal({9, 2}), normal({9, 2})}, "some of each head, scaled"),
    contributed(sections({2, 1, 1}), {normal({2, 3, 5, 8}), kTimes, normal({5, 4}), normal({5, 4})}, "position",
                {"expected positions in [0, 5)"}),
    contributed(sections({2, 1, 2}), {normal({2, 3, 5, 8}), kTimes, normal({9, 4}), normal({9, 4})}, "sum", {"[2, 1, 2]", "sum of 4"}),
    contributed(sections({2, 2}), {normal({2, 3, 5, 8}), kTimes, normal({9, 4}), normal({9, 4})}, "two sections", {"[2, 2]", "three"}),
    contributed(sections({2, 1, 1}), {normal({2, 5, 24}), kTimes, normal({9, 4}), normal({9, 4})}, "heads", {"num_heads"}),
};
TEST(OpCases, MRotaryEmbedding) { run_op_cases("MRotaryEmbedding", kMultimodal, FloatsAndHalves::set); }

RH_OP_TEST(RotaryEmbedding, kRotaryEmbedding, FloatsAndHalves::set)

}  // namespace
}  // namespace rh::test
