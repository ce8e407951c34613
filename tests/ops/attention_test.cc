#include <cmath>
#include <limits>

#include "support/op_case.h"

namespace rh::test {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

Input lengths(std::vector<int64_t> numbers) { return ints(std::move(numbers)); }
Input mask(Shape shape, std::vector<double> numbers) { return values(std::move(shape), std::move(numbers)).as(DType::boolean); }
std::vector<Attribute> heads(int q, int kv) { return {attr("q_num_heads", q), attr("kv_num_heads", kv)}; }
// It gives NaN to queries that see nothing in double, and has no numbers of valid keys in causal masks.
OpCase unlike_stock(OpCase c) {
  c.stock_is_wrong = true;
  return c;
}
std::vector<Attribute> with(std::vector<Attribute> attributes, Attribute more) {
  attributes.push_back(std::move(more));
  return attributes;
}

const std::vector<OpCase> kAttention = {
    {23, {}, {normal({2, 3, 4, 8}), normal({2, 3, 6, 8}), normal({2, 3, 6, 5})}, "heads first"},
    {23, heads(3, 3), {normal({2, 4, 24}), normal({2, 6, 24}), normal({2, 6, 15})}, "heads in the last dimension"},
    {23, heads(6, 2), {normal({1, 5, 24}), normal({1, 7, 8}), normal({1, 7, 6})}, "groups of heads"},
    {23, {}, {normal({1, 2, 70, 16}), normal({1, 1, 300, 16}), normal({1, 1, 300, 33})}, "beyond a tile"},
    {23, {attr("is_causal", 1)}, {normal({2, 2, 40, 8}), normal({2, 2, 40, 8}), normal({2, 2, 40, 8})}, "causal"},
    {23, {attr("is_causal", 1)}, {normal({1, 2, 5, 8}), normal({1, 2, 3, 8}), normal({1, 2, 3, 8})}, "causal, fewer keys than queries"},
    {23, {attr("is_causal", 1)}, {normal({1, 2, 2, 8}), normal({1, 2, 9, 8}), normal({1, 2, 9, 8})}, "causal, more keys than queries"},
    {23, {attr("softcap", 0.7f), attr("scale", 0.5f)}, {normal({1, 2, 4, 8}), normal({1, 2, 6, 8}), normal({1, 2, 6, 8})}, "soft cap"},
    {23, {}, {normal({2, 2, 4, 8}), normal({2, 2, 6, 8}), normal({2, 2, 6, 8}), normal({4, 6})}, "mask of rank 2"},
    {23, {}, {normal({2, 2, 4, 8}), normal({2, 2, 6, 8}), normal({2, 2, 6, 8}), normal({2, 1, 4, 6})}, "mask for a batch"},
    {23, {}, {normal({2, 2, 4, 8}), normal({2, 2, 6, 8}), normal({2, 2, 6, 8}), normal({2, 4, 6})}, "mask for heads"},
    unlike_stock({23,
                  {},
                  {normal({1, 2, 3, 8}), normal({1, 2, 4, 8}), normal({1, 2, 4, 8}), mask({3, 4}, {1, 0, 0, 1, 0, 0, 0, 0, 1, 1, 1, 1})},
                  "boolean mask, a query that sees nothing"}),
    unlike_stock({23,
                  {attr("is_causal", 1)},
                  {normal({1, 2, 3, 8}), normal({1, 2, 3, 8}), normal({1, 2, 3, 8}), mask({3, 3}, {0, 1, 1, 1, 0, 0, 0, 0, 1})},
                  "boolean mask and causal"}),
    {24, {}, {normal({1, 2, 3, 8}), normal({1, 2, 5, 8}), normal({1, 2, 5, 8}), normal({3, 3})}, "mask shorter than the keys"},
    {23,
     {attr("is_causal", 1)},
     {normal({2, 4, 3, 8}), normal({2, 2, 3, 8}), normal({2, 2, 3, 6}), absent(), normal({2, 2, 5, 8}), normal({2, 2, 5, 6})},
     "past and present",
     {},
     3},
    {23,
     heads(4, 2),
     {normal({2, 3, 32}), normal({2, 3, 16}), normal({2, 3, 12}), normal({3, 8}), normal({2, 2, 5, 8}), normal({2, 2, 5, 6})},
     "past and present, heads in the last dimension",
     {},
     3},
    {23,
     {},
     {normal({1, 2, 3, 8}), normal({1, 2, 4, 8}), normal({1, 2, 4, 8}), absent(), normal({1, 2, 0, 8}), normal({1, 2, 0, 8})},
     "empty past",
     {},
     3},
    {23,
     {attr("is_causal", 1)},
     {normal({2, 8, 1, 8}), normal({2, 2, 1, 8}), normal({2, 2, 1, 6}), normal({8, 1, 6}), normal({2, 2, 5, 8}), normal({2, 2, 5, 6})},
     "one query of heads that share keys, after a past",
     {},
     3},
    {25,
     {attr("left_window_size", 3), attr("softcap", 2.0f)},
     {normal({2, 14, 1, 8}), normal({2, 1, 9, 8}), normal({2, 1, 9, 6}), absent(), absent(), absent(), lengths({9, 4})},
     "one query of many heads, a window before the valid keys"},
    {23, {}, {normal({1, 2, 3, 8}), normal({1, 2, 0, 8}), normal({1, 2, 0, 8})}, "no keys"},
    {23, {}, {normal({1, 2, 3, 0}), normal({1, 2, 4, 0}), normal({1, 2, 4, 8})}, "no depth"},
    {23, {}, {normal({0, 2, 3, 8}), normal({0, 2, 4, 8}), normal({0, 2, 4, 8})}, "empty batch"},
    unlike_stock({24,
                  {attr("is_causal", 1)},
                  {normal({3, 2, 2, 8}), normal({3, 2, 6, 8}), normal({3, 2, 6, 8}), absent(), absent(), absent(), lengths({6, 1, 3})},
                  "numbers of valid keys, causal"}),
    unlike_stock({24,
                  {},
                  {normal({2, 2, 5, 8}), normal({2, 2, 6, 8}), normal({2, 2, 6, 8}), absent(), absent(), absent(), lengths({6, 0})},
                  "numbers of valid keys, one of them 0"}),
    {25,
     {attr("left_window_size", 2), attr("right_window_size", 1)},
     {normal({1, 2, 30, 8}), normal({1, 2, 30, 8}), normal({1, 2, 30, 8})},
     "window"},
    {25,
     {attr("left_window_size", 1), attr("is_causal", 1)},
     {normal({1, 2, 2, 8}), normal({1, 2, 2, 8}), normal({1, 2, 2, 8}), absent(), normal({1, 2, 7, 8}), normal({1, 2, 7, 8})},
     "window after a past",
     {},
     3},
    {23, {attr("softmax_precision", 11)}, {normal({1, 2, 4, 8}), normal({1, 2, 6, 8}), normal({1, 2, 6, 8})}, "softmax in double"},
};
// The stock library expands the operator in double to others of which one holds the scale in float.
void run_attention(std::vector<OpCase> cases) {
  for (OpCase& c : cases) c.tolerance = 1e-7;
  run_op_cases("Attention", cases, FloatingTypes::set);
}

TEST(OpCases, Attention) { run_attention(kAttention); }

// What output 3 has, also after softmax where a query sees nothing.
TEST(OpCases, AttentionScores) {
  std::vector<OpCase> cases;
  for (int mode = 0; mode < 4; ++mode) {
    cases.push_back({23,
                     {attr("qk_matmul_output_mode", mode), attr("softcap", 0.9f)},
                     {normal({1, 4, 3, 8}), normal({1, 2, 4, 8}), normal({1, 2, 4, 8}), normal({3, 4})},
                     "scores",
                     {},
                     4});
    cases.push_back(unlike_stock({23,
                                  with(heads(2, 2), attr("qk_matmul_output_mode", mode)),
                                  {normal({1, 2, 16}), normal({1, 3, 16}), normal({1, 3, 16}), mask({2, 3}, {0, 0, 0, 1, 0, 1})},
                                  "scores with a boolean mask",
                                  {},
                                  4}));
  }
  run_attention(cases);
}

// A value that is masked does not show, whatever it is.
const std::vector<OpCase> kSpecial = {
    {23,
     {},
     {values({1, 1, 1, 1}, {1}), values({1, 1, 2, 1}, {1, 2}), values({1, 1, 2, 1}, {3, 5}), values({1, 2}, {0, -kInfinity})},
     "-inf in the mask"},
    unlike_stock({23,
                  {},
                  {values({1, 1, 1, 1}, {1}), values({1, 1, 2, 1}, {kInfinity, 2}), values({1, 1, 2, 1}, {3, 5}),
                   values({1, 2}, {-kInfinity, -kInfinity})},
                  "infinite scores that are all masked"}),
};
TEST(OpCases, AttentionSpecialValues) { run_op_cases("Attention", kSpecial, FloatingTypes::set); }

const std::vector<OpCase> kBad = {
    {23, {}, {normal({2, 3, 4, 8}), normal({2, 3, 6, 7}), normal({2, 3, 6, 5})}, "depths", {"Attention(23)", "8", "7"}},
    {23,
     {},
     {normal({2, 3, 4, 8}), normal({2, 2, 6, 8}), normal({2, 2, 6, 5})},
     "heads",
     {"Attention(23)", "[2, 3, 4, 8]", "[2, 2, 6, 8]"}},
    {23, {}, {normal({2, 4, 8}), normal({2, 6, 8}), normal({2, 6, 8})}, "no number of heads", {"q_num_heads"}},
    {23, heads(3, 3), {normal({2, 4, 8}), normal({2, 6, 8}), normal({2, 6, 8})}, "number of heads", {"q_num_heads = 3"}},
    {23,
     {attr("qk_matmul_output_mode", 4)},
     {normal({1, 1, 2, 2}), normal({1, 1, 2, 2}), normal({1, 1, 2, 2})},
     "mode",
     {"expected 0 to 3"}},
    {23, {}, {normal({1, 1, 2, 2}), normal({1, 1, 2, 2}), normal({1, 1, 2, 2}), normal({3, 2})}, "mask", {"[3, 2]", "[1, 1, 2, 2]"}},
    {23, {}, {normal({1, 1, 2, 2}), normal({1, 1, 2, 2}), normal({1, 1, 2, 2}), normal({2, 3})}, "longer mask", {"[2, 3]"}},
    {23,
     {},
     {normal({1, 1, 2, 2}), normal({1, 1, 2, 2}), normal({1, 1, 2, 2}), absent(), normal({1, 2, 3, 2}), normal({1, 1, 3, 2})},
     "past of other heads",
     {"past_key", "[1, 2, 3, 2]"}},
    {23,
     {},
     {normal({1, 1, 2, 2}), normal({1, 1, 2, 2}), normal({1, 1, 2, 2}), absent(), normal({1, 1, 3, 2})},
     "half a past",
     {"past_value"}},
    {24,
     {},
     {normal({1, 1, 2, 2}), normal({1, 1, 2, 2}), normal({1, 1, 2, 2}), absent(), absent(), absent(), lengths({3})},
     "length",
     {"nonpad_kv_seqlen has 3", "[0, 2]"}},
    {24,
     {},
     {normal({1, 1, 2, 2}), normal({1, 1, 2, 2}), normal({1, 1, 2, 2}), absent(), absent(), absent(),
      lengths({std::numeric_limits<int64_t>::min()})},
     "length below 0",
     {"nonpad_kv_seqlen has -9223372036854775808"}},
    {24,
     {},
     {normal({1, 1, 2, 2}), normal({1, 1, 2, 2}), normal({1, 1, 2, 2}), absent(), absent(), absent(), lengths({1, 1})},
     "number of lengths",
     {"nonpad_kv_seqlen has shape [2]"}},
};
TEST(OpCases, AttentionRefuses) { run_op_cases("Attention", kBad, FloatingTypes::set); }

}  // namespace
}  // namespace rh::test
