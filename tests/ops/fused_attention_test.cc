#include "support/op_case.h"

namespace rh::test {
namespace {

OpCase fused(std::vector<Attribute> attributes, std::vector<Input> inputs, const char* purpose, std::vector<Input> expected,
             std::vector<std::string> fails = {}) {
  OpCase c{1, std::move(attributes), std::move(inputs), purpose};
  c.domain = "roundhouse";
  c.expected = std::move(expected);
  c.fails = std::move(fails);
  return c;
}

/// One head, two queries of which masks choose the keys, three keys.
constexpr double kNo = -1e30;
const Input kQ = values({1, 1, 2, 1}, {0, 0}), kK = values({1, 1, 3, 1}, {1, 2, 3}), kV = values({1, 1, 3, 1}, {10, 20, 40});

const std::vector<OpCase> kFusedAttention = {
    fused({}, {kQ, kK, kV, values({2, 3}, {0, kNo, kNo, kNo, 0, 0})}, "a mask", {values({1, 1, 2, 1}, {10, 30})}),
    fused({}, {kQ, kK, kV, values({2, 3}, {0, kNo, kNo, kNo, 0, 0}), values({1, 1, 1, 3}, {0, 0, kNo})}, "two masks",
          {values({1, 1, 2, 1}, {10, 20})}),
    fused({}, {kQ, kK, kV, values({3}, {0, 0, kNo}), values({3}, {kNo, 0, 0})}, "two masks of one row", {values({1, 1, 2, 1}, {20, 20})}),
    fused({}, {kQ, kK, kV, values({2, 1}, {1, 2}), values({3}, {kNo, 0, kNo})}, "one number a row, and one a key",
          {values({1, 1, 2, 1}, {20, 20})}),
    fused({},
          {values({1, 2, 1}, {0, 0}), values({1, 3, 1}, {1, 2, 3}), values({1, 3, 1}, {10, 20, 40}), values({2, 3}, {0, 0, 0, 0, 0, 0}),
           values({3}, {0, 0, kNo})},
          "no heads", {values({1, 2, 1}, {15, 15})}),
    fused({}, {kQ, kK, kV, values({2, 3}, {0, 0, 0, 0, 0, 0}), values({2, 3}, {0, 0, 0, 0, 0, 0})}, "a second mask of more rows", {},
          {"FusedAttention", "[2, 3]"}),
    fused({}, {kQ, kK, kV, values({3}, {0, 0, kNo}), values({1}, {0})}, "a second mask of one number", {values({1, 1, 2, 1}, {15, 15})}),
    fused({}, {kQ, kK, kV, values({3}, {0, 0, 0}), values({2}, {0, 0})}, "a second mask of other keys", {}, {"[2]"}),
    fused({}, {kQ, kK, kV, values({2}, {0, 0})}, "a mask of other keys", {}, {"[2]"}),
    fused({}, {kQ, kK, kV, values({3, 3}, {0, 0, 0, 0, 0, 0, 0, 0, 0})}, "a mask of other queries", {}, {"[3, 3]"}),
    fused({}, {values({1, 1, 1, 1}, {0}), kK, kV, values({2, 1, 2, 3}, {0, kNo, kNo, kNo, 0, 0, kNo, 0, kNo, 0, 0, kNo})},
          "a mask of more batches and queries", {values({2, 1, 2, 1}, {10, 30, 20, 15})}),
    fused({}, {kQ, kK, kV, values({3, 1, 3}, {0, kNo, kNo, kNo, 0, kNo, kNo, kNo, 0})}, "a mask of more heads",
          {values({1, 3, 2, 1}, {10, 10, 20, 20, 40, 40})}),
    fused({},
          {values({1, 1, 1, 1}, {0.6931472}), values({1, 1, 3, 1}, {0, 1, 2}), values({1, 1, 3, 1}, {10, 40, 100}),
           values({3, 1, 3}, {0, 0, kNo, kNo, 0, kNo, 0, 0, kNo})},
          "a mask of more heads than one query has", {values({1, 3, 1, 1}, {30, 40, 30})}),
    fused({{"output_length_first", int64_t{1}}}, {kQ, kK, kV, values({3, 1, 3}, {0, kNo, kNo, kNo, 0, kNo, kNo, kNo, 0})},
          "a mask of more heads, which come last", {values({1, 2, 3, 1}, {10, 20, 40, 10, 20, 40})}),
    fused({}, {kQ, values({2, 1, 3, 1}, {1, 2, 3, 4, 5, 6}), values({2, 1, 3, 1}, {3, 3, 3, 6, 6, 6})}, "keys and values of more batches",
          {values({2, 1, 2, 1}, {3, 3, 6, 6})}),
};
RH_OP_TEST(FusedAttention, kFusedAttention, (Types<float>::set))

}  // namespace
}  // namespace rh::test
