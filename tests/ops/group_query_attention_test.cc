#include "support/op_case.h"

namespace rh::test {
namespace {

OpCase attend(std::vector<Input> inputs, const char* purpose, std::vector<Attribute> attributes = {}, int outputs = 3,
              std::vector<std::string> fails = {}) {
  attributes.push_back(attr("num_heads", 4));
  attributes.push_back(attr("kv_num_heads", 2));
  return contributed(std::move(attributes), std::move(inputs), purpose, std::move(fails), outputs, 4e-6);
}
Input i32(std::vector<double> v) {
  const int64_t size = static_cast<int64_t>(v.size());
  return values({size}, std::move(v)).as(DType::int32);
}

const Input kQ = normal({2, 3, 64}), kK = normal({2, 3, 32}), kV = normal({2, 3, 32});     // a prompt
const Input kQ1 = normal({2, 1, 64}), kK1 = normal({2, 1, 32}), kV1 = normal({2, 1, 32});  // one token
const Input kQc = normal({1, 3, 64}), kKc = normal({1, 3, 32}), kVc = normal({1, 3, 32});  // a chunk
const Input kPast = normal({2, 2, 6, 16}), kPastOne = normal({1, 2, 6, 16}), kAngles = normal({16, 8});

const std::vector<OpCase> kCases = {
    attend({kQ, kK, kV, absent(), absent(), i32({2, 2}), i32({3})}, "prompt"),
    attend({normal({2, 3, 128}), absent(), absent(), absent(), absent(), i32({2, 2}), i32({3})}, "packed prompt"),
    attend({kQ1, kK1, kV1, kPast, kPast, i32({3, 5}), i32({6})}, "one token, within the cache"),
    attend({kQ1, kK1, kV1, kPast, kPast, i32({6, 6}), i32({7})}, "one token, beyond the cache"),
    attend({normal({2, 1, 128}), absent(), absent(), kPast, kPast, i32({3, 5}), i32({6})}, "one packed token"),
    attend({kQc, kKc, kVc, kPastOne, kPastOne, i32({8}), i32({9})}, "chunk"),
    attend({kQc, kKc, kVc, kPastOne, kPastOne, i32({4}), i32({5})}, "chunk within the cache"),
    attend({kQ, kK, kV, absent(), absent(), i32({2, 2}), i32({3}), kAngles, kAngles}, "rotary prompt", {attr("do_rotary", 1)}),
    attend({kQ, kK, kV, absent(), absent(), i32({2, 2}), i32({3}), kAngles, kAngles}, "neighbours turn",
           {attr("do_rotary", 1), attr("rotary_interleaved", 1)}),
    attend({kQ1, kK1, kV1, kPast, kPast, i32({3, 5}), i32({6}), kAngles, kAngles}, "rotary token", {attr("do_rotary", 1)}),
    attend({normal({1, 3, 128}), absent(), absent(), kPastOne, kPastOne, i32({8}), i32({9}), kAngles, kAngles}, "rotary packed chunk",
           {attr("do_rotary", 1)}),
    attend({kQ, kK, kV, absent(), absent(), i32({2, 2}), i32({3}), kAngles, kAngles, values({2, 3}, {3, 4, 5, 3, 4, 5}).as(DType::int64)},
           "positions", {attr("do_rotary", 1)}),
    attend({kQc, kKc, kVc, kPastOne, kPastOne, i32({8}), i32({9})}, "window of one", {attr("local_window_size", 1)}),
    attend({kQc, kKc, kVc, kPastOne, kPastOne, i32({8}), i32({9})}, "window", {attr("local_window_size", 4)}),
    attend({kQ, kK, kV, absent(), absent(), i32({2, 2}), i32({3})}, "soft cap", {attr("softcap", 0.7f), attr("scale", 0.4f)}),
    attend({kQ, kK, kV, absent(), absent(), i32({2, 2}), i32({3})}, "smooth softmax", {attr("smooth_softmax", 1)}),
    attend({kQ, kK, kV, absent(), absent(), i32({2, 2}), i32({3}), absent(), absent(), absent(), absent(), normal({4})}, "sinks"),
    attend({kQ1, kK1, kV1, kPast, kPast, i32({3, 5}), i32({6}), absent(), absent(), absent(), absent(), normal({4})}, "sinks of one token"),
    attend({kQc, kKc, kVc, kPastOne, kPastOne, i32({8}), i32({9}), absent(), absent(), absent(), normal({1, 4, 3, 9})}, "bias of scores"),
    attend({kQ, kK, kV, absent(), absent(), i32({2, 2}), i32({3})}, "not causal", {attr("causal", 0)}),
    attend({normal({1, 40, 64}), normal({1, 40, 32}), normal({1, 40, 32}), absent(), absent(), i32({39}), i32({40}), absent(), absent(),
            absent(), absent(), normal({4})},
           "many tokens with sinks", {attr("local_window_size", 9)}),
    attend({kQ1, kK1, kV1, kPast, kPast, i32({7, 5}), i32({7})}, "length beyond the total", {}, 3, {"seqlens_k has 7"}),
    attend({kQ1, kK1, kV1, kPast, kPast, i32({-1, 5}), i32({7})}, "negative length", {}, 3, {"seqlens_k has -1"}),
    attend({kQ1, kK1, kV1, kPast, kPast, i32({9, 5}), i32({10})}, "more than the cache holds", {}, 3, {"seqlens_k has 9"}),
    attend({kQ, kK, kV, absent(), absent(), i32({2, 2}), i32({2})}, "total below the new tokens", {}, 3, {"total_sequence_length is 2"}),
    attend({kQ, kK, kV, absent(), absent(), i32({2}), i32({3})}, "a length left out", {}, 3, {"seqlens_k", "[2]"}),
    attend({kQ, kK, kV, absent(), absent(), i32({2, 2}), i32({3}), normal({2, 8}), normal({2, 8})}, "position beyond the angles",
           {attr("do_rotary", 1)}, 3, {"position 2", "[0, 2)"}),
    attend({kQ, kK, kV, absent(), absent(), i32({2, 2}), i32({3})}, "rotary without angles", {attr("do_rotary", 1)}, 3, {"cos_cache"}),
    attend({kQ, normal({2, 3, 48}), kV, absent(), absent(), i32({2, 2}), i32({3})}, "keys of another width", {}, 3, {"[2, 3, 48]"}),
    attend({kQ1, kK1, kV1, normal({2, 2, 6, 8}), normal({2, 2, 6, 8}), i32({3, 5}), i32({6})}, "cache of another depth", {}, 3,
           {"[2, 2, 6, 8]"}),
};
std::vector<Attribute> quantized(const char* kind, int bits, std::vector<Attribute> more = {}) {
  for (const char* name : {"k_quant_type", "v_quant_type"}) more.push_back(attr(name, kind));
  more.push_back(attr("kv_cache_bit_width", bits));
  return more;
}

// Inputs up to the scales of keys and values.
std::vector<Input> with_scales(std::vector<Input> inputs, const Input& scale) {
  while (inputs.size() < 12) inputs.push_back(absent());
  inputs.push_back(scale.as(DType::float32));
  inputs.push_back(scale.as(DType::float32));
  return inputs;
}

const Input kBytes = uniform({2, 2, 6, 16}, -100, 100).as(DType::int8), kNibbles = uniform({2, 2, 6, 8}, 0, 255).as(DType::uint8);
const Input kNoBytes = values({2, 2, 0, 16}, {}).as(DType::int8), kChannels = uniform({1, 2, 1, 16}, 0.01, 0.04);

const std::vector<OpCase> kQuantized = {
    attend(with_scales({kQ, kK, kV, kNoBytes, kNoBytes, i32({2, 2}), i32({3})}, values({1}, {0.02})), "prompt", quantized("PER_TENSOR", 8)),
    attend(with_scales({kQ1, kK1, kV1, kBytes, kBytes, i32({3, 5}), i32({6})}, values({1}, {0.02})), "one token",
           quantized("PER_TENSOR", 8)),
    attend(with_scales({kQ1, kK1, kV1, kBytes, kBytes, i32({3, 5}), i32({6})}, kChannels), "a scale a channel",
           quantized("PER_CHANNEL", 8)),
    attend(with_scales({kQ1, kK1, kV1, kNibbles, kNibbles, i32({3, 5}), i32({6})}, values({1}, {0.3})), "4 bits",
           quantized("PER_TENSOR", 4)),
    attend(with_scales({kQ1, kK1, kV1, kNibbles, kNibbles, i32({6, 6}), i32({7})}, uniform({1, 2, 1, 16}, 0.1, 0.4)),
           "4 bits, a scale a channel, beyond the cache", quantized("PER_CHANNEL", 4)),
    attend(with_scales({kQ1, kK1, kV1, kBytes, kBytes, i32({3, 5}), i32({6}), kAngles, kAngles}, values({1}, {0.02})), "rotary token",
           quantized("PER_TENSOR", 8, {attr("do_rotary", 1)})),
    attend(with_scales({kQ1, kK1, kV1, kBytes, kBytes, i32({3, 5}), i32({6})}, kChannels), "scales", quantized("PER_TENSOR", 8), 3,
           {"input 12 has shape [1, 2, 1, 16], expected 1 scales"}),
    attend(with_scales({kQ1, kK1, kV1, kBytes, kBytes, i32({3, 5}), i32({6})}, kChannels), "bytes for 4 bits", quantized("PER_CHANNEL", 4),
           3, {"expected uint8[2, 2, capacity, 8]"}),
    attend(with_scales({kQ1, kK1, kV1, kBytes, kBytes, i32({3, 5}), i32({6})}, kChannels), "bits", quantized("PER_CHANNEL", 5), 3,
           {"kv_cache_bit_width is 5"}),
    attend({kQ1, kK1, kV1, kBytes, kBytes, i32({3, 5}), i32({6})}, "no scales", quantized("PER_CHANNEL", 8), 3, {"k_scale and v_scale"}),
};
TEST(OpCases, GroupQueryAttentionWithQuantizedCaches) { run_op_cases("GroupQueryAttention", kQuantized, Types<float>::set); }

const std::vector<OpCase> kScores = {
    attend({kQ, kK, kV, absent(), absent(), i32({2, 2}), i32({3})}, "scores", {attr("qk_output", 1)}, 4),
    attend({kQ, kK, kV, absent(), absent(), i32({2, 2}), i32({3})}, "weights", {attr("qk_output", 2), attr("smooth_softmax", 1)}, 4),
    attend({kQc, kKc, kVc, kPastOne, kPastOne, i32({8}), i32({9}), absent(), absent(), absent(), normal({1, 4, 3, 9})},
           "scores with a bias", {attr("qk_output", 1), attr("local_window_size", 4), attr("softcap", 0.7f)}, 4),
    attend({kQ1, kK1, kV1, kPast, kPast, i32({5, 5}), i32({6})}, "weights of one token", {attr("qk_output", 2)}, 4),
    attend({kQ, kK, kV, absent(), absent(), i32({2, 2}), i32({3})}, "kind", {attr("qk_output", 3)}, 4, {"qk_output is 3"}),
};
TEST(OpCases, GroupQueryAttentionWithScores) { run_op_cases("GroupQueryAttention", kScores, (Types<float, Float16>::set)); }

// A query (3, 4) becomes (3, 40) / sqrt(12.5) and a key (0, 2) becomes (0, 1) / sqrt(2).
OpCase normalized(std::vector<Input> weights, std::vector<Input> expected, std::vector<std::string> fails = {},
                  std::vector<Attribute> more = {}) {
  std::vector<Input> inputs{
      values({1, 1, 2}, {3, 4}), values({1, 1, 2}, {0, 2}), values({1, 1, 2}, {5, 6}), absent(), absent(), i32({0}), i32({1})};
  inputs.resize(14, absent());
  inputs.insert(inputs.end(), weights.begin(), weights.end());
  more.insert(more.end(), {attr("num_heads", 1), attr("kv_num_heads", 1), attr("qk_output", 1), attr("scale", 1.0f)});
  return {.opset = 1,
          .attributes = std::move(more),
          .inputs = std::move(inputs),
          .purpose = "normalised queries and keys",
          .fails = std::move(fails),
          .outputs = 4,
          .tolerance = 1e-5,
          .domain = "com.microsoft",
          .expected = std::move(expected),
          .stock_is_wrong = true};  // it normalises on GPUs only
}
const std::vector<OpCase> kNormalized = {
    normalized({values({2}, {1, 10}), values({2}, {1, 0.5})},
               {values({1, 1, 2}, {5, 6}), values({1, 1, 1, 2}, {0, 0.70710678}), values({1, 1, 1, 2}, {5, 6}), values({1, 1, 1, 1}, {8})}),
    normalized({values({2}, {1, 10}), values({2}, {1, 0.5})},
               {values({1, 1, 2}, {5, 6}), values({1, 1, 1, 2}, {0, 0.5}), values({1, 1, 1, 2}, {5, 6}), values({1, 1, 1, 1}, {4})}, {},
               {attr("q_norm_epsilon", 12.5f), attr("k_norm_epsilon", 2.0f)}),
    normalized({values({2}, {1, 10}), values({2}, {1, 0.5})}, {}, {"epsilon", "-1"}, {attr("k_norm_epsilon", -1.0f)}),
    normalized({values({2}, {1, 10}), values({1}, {1})}, {}, {"input 15 has shape [1], expected [2]"}),
    normalized({values({2}, {1, 10})}, {}, {"q_norm_weight and k_norm_weight one is left out"}),
};
// The number of new tokens that count comes last. All count here: what others give is not compared.
std::vector<Input> with_counts(std::vector<Input> inputs, std::vector<double> counts) {
  inputs.resize(16, absent());
  inputs.push_back(i32(std::move(counts)));
  return inputs;
}
const Input kPast9 = normal({2, 2, 9, 16});
const std::vector<OpCase> kCounted = {
    attend(with_counts({kQ, kK, kV, kPast9, kPast9, i32({4, 6}), i32({9})}, {3, 3}), "chunks of two sequences"),
    attend(with_counts({kQ, kK, kV, kPast9, kPast9, i32({2, 6}), i32({9}), kAngles, kAngles}, {3, 3}), "one begins, rotary",
           {attr("do_rotary", 1)}),
    attend(with_counts({kQ, kK, kV, kPast, kPast, i32({4, 7}), i32({9})}, {3, 3}), "beyond the cache"),
    attend(with_counts({kQ, kK, kV, kPast9, kPast9, i32({4, 6}), i32({9}), absent(), absent(), absent(), normal({1, 4, 3, 9})}, {3, 3}),
           "bias of scores"),
    attend(with_counts({kQ, kK, kV, kPast, kPast, i32({11, 8}), i32({12})}, {3, 3}), "kept windows",
           {attr("local_window_size", 4), attr("sliding_window_cache", 1)}),
    attend(with_counts({kQ, kK, kV, absent(), absent(), i32({2, 2}), i32({3})}, {3, 3}), "no past", {}, 3, {"expected past_key"}),
    attend(with_counts({kQ, kK, kV, kPast9, kPast9, i32({4, 6}), i32({9})}, {4, 3}), "too many", {}, 3, {"query_seqlens has 4"}),
    attend(with_counts({kQ, kK, kV, kPast9, kPast9, i32({8, 6}), i32({9})}, {1, 3}), "no room", {}, 3, {"8 tokens before 3 new ones"}),
    attend(with_counts({kQ, kK, kV, kPast9, kPast9, i32({4, 6}), i32({9})}, {3}), "a count left out", {}, 3, {"[1]", "[2]"}),
};
TEST(OpCases, GroupQueryAttentionOfPaddedTokens) { run_op_cases("GroupQueryAttention", kCounted, (Types<float, Float16>::set)); }

TEST(OpCases, GroupQueryAttentionNormalized) { run_op_cases("GroupQueryAttention", kNormalized, Types<float>::set); }

RH_OP_TEST(GroupQueryAttention, kCases, (Types<float, Float16>::set))

OpCase rotate(std::vector<Input> inputs, const char* purpose, std::vector<Attribute> attributes = {}, std::vector<std::string> fails = {}) {
  return {.opset = 1,
          .attributes = std::move(attributes),
          .inputs = std::move(inputs),
          .purpose = purpose,
          .fails = std::move(fails),
          .domain = "com.microsoft"};
}
Input i64(Shape shape, std::vector<double> v) { return values(std::move(shape), std::move(v)).as(DType::int64); }

const std::vector<OpCase> kRotary = {
    rotate({normal({2, 3, 32}), i64({2, 3}, {0, 1, 2, 5, 4, 3}), kAngles, kAngles}, "positions"),
    rotate({normal({2, 3, 32}), i64({1}, {4}), kAngles, kAngles}, "first position"),
    rotate({normal({2, 2, 3, 16}), i64({1}, {4}), kAngles, kAngles}, "heads first", {attr("interleaved", 1)}),
    rotate({normal({2, 3, 32}), i64({1}, {0}), normal({9, 4}), normal({9, 4})}, "a part turns",
           {attr("num_heads", 2), attr("rotary_embedding_dim", 8)}),
    rotate({normal({2, 3, 32}), i64({1}, {14}), kAngles, kAngles}, "beyond the angles", {}, {"position_ids has 14"}),
    rotate({normal({2, 3, 32}), i64({2, 3}, {0, 1, 2, 5, -1, 3}), kAngles, kAngles}, "negative position", {}, {"position_ids has -1"}),
    rotate({normal({2, 3, 30}), i64({1}, {0}), kAngles, kAngles}, "heads do not divide", {}, {"[2, 3, 30]"}),
};
TEST(OpCases, RotaryEmbeddingOfMicrosoft) { run_op_cases("RotaryEmbedding", kRotary, (Types<float, Float16>::set)); }

}  // namespace
}  // namespace rh::test
