#include "support/op_case.h"

namespace rh::test {
namespace {

OpCase attend(std::vector<Input> inputs, const char* purpose, std::vector<Attribute> attributes = {}, int outputs = 1,
              std::vector<std::string> fails = {}) {
  attributes.push_back(attr("num_heads", 2));
  return contributed(std::move(attributes), std::move(inputs), purpose, std::move(fails), outputs, 4e-6);
}
Input i32(Shape shape, std::vector<double> v) { return values(std::move(shape), std::move(v)).as(DType::int32); }
Input flags(Shape shape) { return uniform(std::move(shape), 0, 2).as(DType::int32); }

const Input kQ = normal({2, 5, 16}), kBias = normal({48});

const std::vector<OpCase> kMultiHead = {
    attend({kQ, kQ, kQ}, "alone"),
    attend({kQ, normal({2, 7, 16}), normal({2, 7, 24})}, "other lengths and widths", {attr("scale", 0.3f)}),
    attend({kQ, kQ, kQ, kBias}, "bias"),
    attend({kQ, kQ, kQ, kBias}, "causal", {attr("unidirectional", 1)}),
    attend({kQ, normal({2, 2, 7, 8}), normal({2, 2, 7, 8})}, "keys with heads"),
    attend({kQ, kQ, kQ, absent(), i32({2}, {3, 5})}, "mask of lengths"),
    attend({kQ, kQ, kQ, absent(), i32({8}, {3, 5, 0, 5, 10, 0, 3, 8})}, "mask of positions"),
    attend({kQ, kQ, kQ, absent(), flags({2, 5})}, "mask of keys"),
    attend({kQ, kQ, kQ, absent(), flags({2, 5, 5})}, "mask of pairs", {attr("mask_filter_value", -1.5f)}),
    attend({kQ, kQ, kQ, absent(), absent(), normal({2, 2, 5, 5})}, "bias of scores"),
    attend({kQ, kQ, kQ, absent(), absent(), normal({1, 1, 5, 5})}, "one bias of scores"),
    attend({kQ, kQ, kQ, absent(), flags({2, 5}), normal({1, 2, 5, 5})}, "mask and bias of scores"),
    attend({kQ, kQ, kQ, kBias, absent(), absent(), normal({2, 2, 3, 8}), normal({2, 2, 3, 8})}, "past", {attr("unidirectional", 1)}, 3),
    attend({kQ, kQ, kQ, absent(), flags({2, 8}), absent(), normal({2, 2, 3, 8}), normal({2, 2, 3, 8})}, "past with a mask", {}, 4),
    attend({kQ, kQ, kQ}, "present", {attr("unidirectional", 1)}, 4),
    attend({normal({2, 40, 16}), normal({2, 40, 16}), normal({2, 40, 16})}, "many queries", {attr("unidirectional", 1)}),
    attend({kQ}, "query alone", {}, 1, {"[2, 5, 16]"}),
    attend({kQ, normal({2, 7, 16}), normal({2, 6, 16})}, "lengths differ", {}, 1, {"[2, 7, 16]", "[2, 6, 16]"}),
    attend({kQ, kQ, kQ, normal({47})}, "bias of another size", {}, 1, {"[47]", "[48]"}),
    attend({kQ, kQ, kQ, absent(), i32({2}, {3, 6})}, "a length out of range", {}, 1, {"6", "5"}),
    attend({kQ, kQ, kQ, absent(), i32({2}, {-1, 5})}, "a negative length", {}, 1, {"-1"}),
    attend({kQ, kQ, kQ, absent(), flags({2, 4})}, "mask of another size", {}, 1, {"[2, 4]"}),
    attend({kQ, kQ, kQ, absent(), absent(), normal({3, 1, 5, 5})}, "bias of another batch", {}, 1, {"[3, 1, 5, 5]"}),
    attend({kQ, kQ, kQ, absent(), absent(), absent(), normal({2, 2, 3, 7}), normal({2, 2, 3, 8})}, "past of another depth", {}, 1,
           {"[2, 2, 3, 7]"}),
};
// Four rows, two beams of two items, with a cache of room for six tokens.
const Input kOne = normal({4, 1, 16}), kRoom = normal({4, 2, 6, 8}),
            kBeams = values({2, 2, 6}, {0, 1, 0, 0, 0, 0, 1, 1, 0, 0, 0, 0,  //
                                        1, 0, 1, 0, 0, 0, 0, 0, 1, 0, 0, 0})
                         .as(DType::int32);
Input number(double value) { return values({1}, {value}).as(DType::int32); }

const std::vector<OpCase> kShared = {
    attend({kOne, kOne, kOne, absent(), absent(), absent(), kRoom, kRoom, number(3)}, "one token in a shared buffer", {}, 3),
    attend({normal({4, 3, 16}), normal({4, 3, 16}), normal({4, 3, 16}), absent(), absent(), absent(), kRoom, kRoom, number(0)},
           "a prompt in a shared buffer", {attr("unidirectional", 1)}, 3),
    attend({kOne, kOne, kOne, normal({48}), absent(), absent(), kRoom, kRoom, number(5)}, "the last place", {}, 3),
    attend({kOne, kOne, kOne, absent(), absent(), normal({1, 2, 1, 4}), kRoom, kRoom, number(3), kBeams}, "beams", {}, 3),
    attend({kOne, kOne, kOne, absent(), absent(), absent(), kRoom, kRoom, number(6)}, "no place", {}, 3, {"at least 7"}),
    attend({kOne, kOne, kOne, absent(), absent(), absent(), kRoom, kRoom, number(-1)}, "past", {}, 3, {"past_sequence_length is -1"}),
    attend({kOne, kOne, kOne, absent(), absent(), absent(), kRoom, kRoom, number(2),
            values({2, 2, 2}, {0, 1, 0, 1, 0, 2, 0, 1}).as(DType::int32)},
           "a beam that is not there", {}, 3, {"cache_indirection has 2", "[0, 2)"}),
    attend({kOne, kOne, kOne, absent(), absent(), absent(), kRoom, kRoom, number(3),
            values({2, 2, 2}, std::vector<double>(8)).as(DType::int32)},
           "too few tokens", {}, 3, {"cache_indirection has shape [2, 2, 2]", "at least 3 tokens"}),
};
TEST(OpCases, MultiHeadAttentionInSharedBuffers) { run_op_cases("MultiHeadAttention", kShared, Types<float>::set); }

OpCase decode(std::vector<Input> inputs, const char* purpose, int outputs = 3, std::vector<std::string> fails = {}) {
  return attend(std::move(inputs), purpose, {attr("past_present_share_buffer", 1)}, outputs, std::move(fails));
}

const std::vector<OpCase> kDecoder = {
    decode({kOne, kOne, kOne, absent(), absent(), kRoom, kRoom, number(3)}, "one token"),
    decode({kOne, kOne, kOne, absent(), absent(), kRoom, kRoom, number(3), number(2), kBeams}, "beams"),
    decode({kOne, kOne, kOne, values({4, 4}, {1, 0, 1, 1, 1, 1, 1, 1, 0, 1, 1, 1, 1, 1, 0, 1}).as(DType::int32), normal({1, 2, 1, 4}),
            kRoom, kRoom, number(3), absent(), absent(), normal({48})},
           "mask and biases"),
    attend({kOne, normal({4, 2, 5, 8}), normal({4, 2, 5, 8})}, "the encoder's keys"),
    attend({kOne, kOne, kOne, absent(), absent(), kRoom, kRoom, number(3)}, "scores",
           {attr("past_present_share_buffer", 1), attr("output_qk", 1)}, 4),
    decode({normal({4, 2, 16}), normal({4, 2, 16}), normal({4, 2, 16}), absent(), absent(), kRoom, kRoom, number(3)}, "two tokens", 3,
           {"query has shape [4, 2, 16]", "[batch, 1, width]"}),
    decode({kOne, kOne, kOne, absent(), absent(), kRoom, kRoom, number(7)}, "past", 3, {"past_sequence_length is 7, expected 0 to 6"}),
};
TEST(OpCases, DecoderMaskedMultiHeadAttention) { run_op_cases("DecoderMaskedMultiHeadAttention", kDecoder, Types<float>::set); }

RH_OP_TEST(MultiHeadAttention, kMultiHead, (Types<float, Float16>::set))

/// One token, whose output is its value. The stock library has no packed forms.
std::vector<OpCase> packed() {
  std::vector<OpCase> cases = {
      attend({values({1, 1, 2, 3, 2}, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12})}, "all packed", {}, 3),
      attend({normal({1, 1, 4}), values({1, 1, 2, 2, 2}, {3, 4, 5, 6, 9, 10, 11, 12})}, "keys and values packed", {}, 3),
  };
  for (OpCase& c : cases) {
    c.expected = {values({1, 1, 4}, {5, 6, 11, 12}), values({1, 2, 1, 2}, {3, 4, 9, 10}), values({1, 2, 1, 2}, {5, 6, 11, 12})};
    c.stock_is_wrong = true;
  }
  return cases;
}
TEST(OpCases, PackedMultiHeadAttention) { run_op_cases("MultiHeadAttention", packed(), Types<float, Float16>::set); }

const Input kX = normal({2, 5, 6}), kW = normal({6, 48});

const std::vector<OpCase> kProjected = {
    attend({kX, kW, kBias}, "alone"),
    attend({kX, kW.constant(), kBias}, "constant weights"),
    attend({kX, kW, kBias, i32({2}, {3, 5})}, "ends"),
    attend({kX, kW, kBias, i32({4}, {3, 5, 1, 0})}, "ends and starts"),
    attend({kX, kW, kBias, i32({8}, {3, 5, 0, 5, 10, 0, 3, 8})}, "mask of positions"),
    attend({kX, kW, kBias, i32({2, 1}, {1, 1})}, "no mask"),
    attend({kX, kW, kBias, flags({2, 5})}, "mask of keys"),
    attend({kX, kW, kBias, flags({2, 5, 5})}, "mask of pairs"),
    attend({kX, kW, kBias, flags({2, 1, 9, 9})}, "square mask"),
    attend({kX, kW, kBias, absent(), normal({2, 2, 2, 3, 8})}, "past", {attr("unidirectional", 1)}, 2),
    attend({kX, kW, kBias, flags({2, 8}), normal({2, 2, 2, 3, 8})}, "past with a mask", {}, 2),
    attend({kX, kW, kBias}, "present", {}, 2),
    attend({kX, normal({6, 56}), normal({56})}, "sizes", {attr("qkv_hidden_sizes", {16, 16, 24})}),
    attend({kX, kW, kBias, flags({2, 5}), absent(), normal({1, 2, 5, 5})}, "bias of scores", {attr("scale", 0.7f)}),
    attend({kX, normal({5, 48}), kBias}, "weights of another size", {}, 1, {"[2, 5, 6]", "[5, 48]"}),
    attend({kX, kW, normal({40})}, "bias of another size", {}, 1, {"[40]", "[48]"}),
    attend({kX, kW, kBias, i32({2}, {3, 6})}, "an end out of range", {}, 1, {"6"}),
    attend({kX, kW, kBias, absent(), normal({2, 2, 2, 3, 7})}, "past of another depth", {}, 1, {"[2, 2, 2, 3, 7]"}),
    attend({kX, kW, kBias}, "rotary", {attr("do_rotary", 1)}, 1, {"do_rotary", "RotaryEmbedding"}),
    attend({kX, kW, kBias, absent(), normal({2, 2, 2, 6, 8})}, "shared buffer", {attr("past_present_share_buffer", 1)}, 2,
           {"past and past_sequence_length"}),
    attend({kX, kW, kBias, absent(), normal({2, 2, 2, 6, 8}), absent(), i32({1}, {2})}, "shared buffer without room",
           {attr("past_present_share_buffer", 1)}, 2, {"past_sequence_length is 2, expected 0 to 1"}),
};
TEST(OpCases, ProjectedAttention) { run_op_cases("Attention", kProjected, (Types<float>::set)); }

/// Tokens that see themselves alone, whose outputs are their values. The stock library crashes without a bias and has no square masks.
std::vector<OpCase> of_values() {
  const Input weights = values({2, 12}, {0, 1, 2, 3, 4, 5, 6, 7, 1, 0, 2, 1, 7, 6, 5, 4, 3, 2, 1, 0, 0, 1, 1, 3});
  std::vector<OpCase> cases = {
      attend({values({1, 1, 2}, {1, 2}), weights}, "without bias"),
      attend({values({1, 2, 2}, {1, 2, 3, 4}), weights, absent(), i32({1, 1, 3, 3}, {1, 0, 1, 0, 1, 1, 1, 1, 1})}, "square mask"),
  };
  cases[0].expected = {values({1, 1, 4}, {1, 2, 4, 7})};
  cases[1].expected = {values({1, 2, 4}, {1, 2, 4, 7, 3, 4, 10, 15})};
  for (OpCase& c : cases) c.stock_is_wrong = true;
  return cases;
}
TEST(OpCases, ProjectedAttentionOfValues) { run_op_cases("Attention", of_values(), Types<float, Float16>::set); }

std::vector<OpCase> quantized() {
  const auto row = [](DType weight_type, Input mask, Input past, int outputs, const char* purpose, Shape scales = {}) {
    const bool is_signed = weight_type == DType::int8;
    return attend({uniform({2, 5, 6}, 0, 256).as(DType::uint8), uniform({6, 48}, is_signed ? -100 : 0, 100).as(weight_type),
                   kBias.as(DType::float32), values({}, {0.02}).as(DType::float32), uniform(scales, 0.005, 0.02).as(DType::float32),
                   std::move(mask), values({}, {121}).as(DType::uint8),
                   is_signed ? values({}, {3}).as(weight_type) : values({}, {50}).as(weight_type), std::move(past)},
                  purpose, {}, outputs);
  };
  return {row(DType::uint8, absent(), absent(), 1, "alone"), row(DType::int8, absent(), absent(), 1, "signed weights"),
          row(DType::int8, flags({2, 5}), absent(), 1, "mask of keys"), row(DType::uint8, i32({2}, {3, 5}), absent(), 1, "ends"),
          row(DType::uint8, absent(), normal({2, 2, 2, 3, 8}).as(DType::float32), 2, "past")};
}
const std::vector<OpCase> kQuantized = quantized();
RH_OP_TEST(QAttention, kQuantized, (Types<float>::set))

}  // namespace
}  // namespace rh::test
