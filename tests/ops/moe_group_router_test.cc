#include "support/op_case.h"

namespace rh::test {
namespace {

using FloatsAndHalves = Types<float, Float16, BFloat16>;

const Input kLogits = normal({5, 16}), kBias = normal({16}).as(DType::float32);

std::vector<Attribute> routed(int top_k, int n_group, int topk_group, std::vector<Attribute> more = {}) {
  more.insert(more.end(), {attr("top_k", top_k), attr("n_group", n_group), attr("topk_group", topk_group)});
  return more;
}
OpCase all_scores(std::vector<Attribute> attributes, std::vector<Input> inputs, const char* purpose, std::vector<std::string> fails = {}) {
  OpCase row = contributed(std::move(attributes), std::move(inputs), purpose, std::move(fails), 3);
  row.left_out = {0};
  return row;
}
OpCase with_expected(OpCase row, std::vector<Input> expected) {
  row.expected = std::move(expected);
  return row;
}

const std::vector<OpCase> kMoEGroupRouter = {
    // Sigmoids are 1/2, with the bias 1.5, 0.5, 1, 1: the second group wins by its sum where two count, the first where one does.
    with_expected(contributed(routed(1, 2, 1, {attr("router_sentinel", -7.0f)}),
                              {values({1, 4}, {0, 0, 0, 0}), values({4}, {1, 0, 0.5, 0.625}).as(DType::float32)}, "the sum of two experts"),
                  {values({1, 4}, {-7, -7, -7, -0.6931471805599453})}),
    with_expected(contributed(routed(1, 2, 1, {attr("router_sentinel", -7.0f), attr("group_topk", 1)}),
                              {values({1, 4}, {0, 0, 0, 0}), values({4}, {1, 0, 0.5, 0.625}).as(DType::float32)}, "the best expert"),
                  {values({1, 4}, {-0.6931471805599453, -7, -7, -7})}),
    contributed({attr("top_k", 3)}, {kLogits, kBias}, "one group"),
    contributed(routed(3, 4, 2), {kLogits, kBias}, "two groups of four"),
    contributed(routed(8, 4, 2, {attr("group_topk", 9)}), {kLogits, kBias}, "all experts of the groups"),
    contributed(routed(3, 4, 2),
                {values({2, 16}, std::vector<double>(32, 0.0)), values({16}, std::vector<double>(16, 0.0)).as(DType::float32)},
                "of equals the first"),
    contributed({attr("top_k", 2)}, {values({1, 16}, std::vector<double>(16, -100.0)), kBias}, "no logarithm of 0"),
    contributed({attr("top_k", 2)}, {normal({2, 3, 16}), kBias}, "tokens in two dimensions"),
    all_scores({attr("top_k", 2)}, {kLogits, kBias}, "all scores"),
    all_scores({attr("top_k", 2)}, {normal({5, 256}), kBias, normal({16, 256})}, "projected"),
    contributed({attr("top_k", 0)}, {kLogits, kBias}, "no expert", {"top_k is 0"}),
    contributed({attr("top_k", 17)}, {kLogits, kBias}, "experts", {"top_k is 17", "16 experts"}),
    contributed(routed(1, 5, 1), {kLogits, kBias}, "unequal groups", {"n_group 5"}),
    contributed(routed(1, 4, 5), {kLogits, kBias}, "groups", {"topk_group is 5"}),
    contributed({attr("top_k", 1)}, {kLogits, normal({3}).as(DType::float32)}, "bias", {"[3]", "[16]"}),
    all_scores(routed(1, 4, 1), {kLogits, kBias}, "scores of groups", {"n_group is 4"}),
    contributed({attr("top_k", 1)}, {normal({5, 256}), kBias, normal({16, 256})}, "a projection for routes", {"projection_weight"}),
};
RH_OP_TEST(MoEGroupRouter, kMoEGroupRouter, FloatsAndHalves::set)

}  // namespace
}  // namespace rh::test
