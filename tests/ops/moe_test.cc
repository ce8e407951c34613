#include "support/op_case.h"

namespace rh::test {
namespace {

/// Sizes of a layer whose fc1 has `outer` rows an expert.
struct Sizes {
  int64_t tokens, hidden, inner, experts, outer;
};
constexpr Sizes kSmall{5, 6, 5, 4, 5}, kFused{5, 6, 5, 4, 10};

OpCase experts(std::vector<Attribute> attributes, const Sizes& s, bool has_bias, const char* purpose, std::vector<std::string> fails = {}) {
  return contributed(std::move(attributes),
                     {normal({s.tokens, s.hidden}), normal({s.tokens, s.experts}), normal({s.experts, s.outer, s.hidden}).constant(),
                      has_bias ? normal({s.experts, s.outer}) : absent(), normal({s.experts, s.hidden, s.inner}).constant(),
                      has_bias ? normal({s.experts, s.hidden}) : absent()},
                     purpose, std::move(fails), 1, 1e-5);
}
OpCase with_inputs(OpCase c, std::vector<Input> more) {
  c.inputs.insert(c.inputs.end(), more.begin(), more.end());
  return c;
}
OpCase changed(OpCase c, size_t input, Shape shape) {
  c.inputs[input].shape = std::move(shape);
  return c;
}
/// The same with weights that come with the run.
OpCase fed(OpCase c) {
  for (Input& input : c.inputs) input.is_constant = false;
  return c;
}
Attribute k(int count) { return attr("k", count); }
Attribute activation(const char* name) { return attr("activation_type", name); }
Attribute gates(int order) { return attr("swiglu_fusion", order); }

const std::vector<OpCase> kMoE = {
    experts({}, kSmall, true, "one expert, relu"),
    experts({k(2)}, kSmall, false, "two experts, without bias"),
    experts({k(4), attr("use_sparse_mixer", 0)}, kSmall, true, "all experts"),
    experts({k(2), attr("normalize_routing_weights", 1)}, kSmall, true, "weights that sum to 1"),
    experts({k(2), activation("gelu")}, kSmall, true, "gelu"),
    experts({k(2), activation("silu"), attr("activation_alpha", 2.0f)}, kSmall, true, "silu"),
    experts({k(2), activation("identity")}, kSmall, true, "identity"),
    experts({k(2), activation("swiglu"), gates(1)}, kFused, true, "swiglu, interleaved"),
    experts(
        {k(2), activation("swiglu"), gates(1), attr("activation_alpha", 1.702f), attr("activation_beta", 1.0f), attr("swiglu_limit", 0.5f)},
        kFused, true, "swiglu with all its numbers"),
    experts({k(3)}, {70, 33, 65, 7, 65}, true, "many tokens"),
    experts({k(1)}, {1, 64, 32, 8, 32}, true, "one token"),
    fed(experts({k(3)}, {70, 33, 65, 7, 65}, true, "many tokens, weights not known at load")),
    fed(changed(experts({k(1)}, {1, 64, 32, 8, 32}, true, "fc1 too short, not known at load", {"input 2", "[8, 31, 64]", "[8, 32, 64]"}), 2,
                {8, 31, 64})),
    experts({k(2)}, {0, 6, 5, 4, 5}, true, "no tokens"),
    changed(experts({k(2)}, kSmall, true, "a batch"), 0, {1, 5, 6}),
    changed(experts({k(2)}, kSmall, true, "router of another shape", {"router_probs", "[4, 4]", "5"}), 1, {4, 4}),
    changed(experts({k(2)}, kSmall, true, "fc1 of another shape", {"input 2", "[4, 5, 7]", "[4, 5, 6]"}), 2, {4, 5, 7}),
    changed(experts({k(2)}, kSmall, true, "bias of another shape", {"input 5", "[4, 5]", "[4, 6]"}), 5, {4, 5}),
    changed(experts({k(2)}, kSmall, true, "input of one dimension", {"[30]"}), 0, {30}),
    experts({k(5)}, kSmall, true, "too many", {"k is 5", "4 experts"}),
    experts({k(0)}, kSmall, true, "none", {"k is 0"}),
    experts({activation("tanh")}, kSmall, true, "activation", {"tanh", "swiglu"}),
    experts({activation("swiglu")}, kSmall, true, "no gates", {"fc3_experts_weights"}),
    experts({activation("swiglu"), gates(3)}, kFused, true, "gates", {"swiglu_fusion is 3"}),
    experts({activation("swiglu"), gates(1), attr("swiglu_limit", -1.0f)}, kFused, true, "limit", {"swiglu_limit is -1"}),
    with_inputs(experts({activation("swiglu"), gates(1)}, kFused, true, "gates twice", {"fc3_experts_weights"}), {normal({4, 5, 6})}),
};
RH_OP_TEST(MoE, kMoE, (Types<float, BFloat16>::set))

// The stock library takes the input for zeros in float16.
std::vector<OpCase> without_stock(std::vector<OpCase> cases) {
  for (OpCase& c : cases) c.stock_is_wrong = true;
  return cases;
}
RH_OP_TEST(MoEInHalfPrecision, without_stock([] {
             std::vector<OpCase> cases = kMoE;
             for (OpCase& c : cases) c.op_type = "MoE";
             return cases;
           }()),
           Types<Float16>::set)

/// Codes of a layer: `bits` each, `block` columns a scale (0: all).
OpCase coded(std::vector<Attribute> attributes, const Sizes& s, int bits, int block, bool has_zeros, const char* purpose,
             std::vector<std::string> fails = {}) {
  attributes.push_back(attr("expert_weight_bits", bits));
  if (block > 0) attributes.push_back(attr("block_size", block));
  const auto bytes = [](Shape shape) { return uniform(std::move(shape), 0, 256).as(DType::uint8).constant(); };
  const auto codes = [&](int64_t rows, int64_t columns) { return bytes({s.experts, rows, columns * bits / 8}); };
  const auto scales = [&](int64_t rows, int64_t columns) {
    return uniform(block > 0 ? Shape{s.experts, rows, columns / block} : Shape{s.experts, rows}, 0.01, 0.1).constant();
  };
  const auto zeros = [&](int64_t rows, int64_t columns) {
    if (!has_zeros) return absent();
    return bytes(block > 0 ? Shape{s.experts, rows, (columns / block * bits + 7) / 8} : Shape{s.experts, (rows * bits + 7) / 8});
  };
  return contributed(std::move(attributes),
                     {normal({s.tokens, s.hidden}), normal({s.tokens, s.experts}), codes(s.outer, s.hidden), scales(s.outer, s.hidden),
                      normal({s.experts, s.outer}), codes(s.hidden, s.inner), scales(s.hidden, s.inner), normal({s.experts, s.hidden}),
                      absent(), absent(), absent(), zeros(s.outer, s.hidden), zeros(s.hidden, s.inner)},
                     purpose, std::move(fails), 1, 1e-5);
}
// Blocks of 8-bit codes are multiplied with rows rounded to 8 bits by the stock library, as its documentation says.
OpCase rounded(OpCase c) {
  c.tolerance = 2e-2;
  return c;
}
constexpr Sizes kCoded{5, 64, 32, 4, 32}, kCodedFused{5, 64, 32, 4, 64};

const std::vector<OpCase> kQMoE = {
    coded({k(2)}, kCoded, 4, 0, false, "4 bits"),
    coded({k(2)}, kCoded, 4, 0, true, "4 bits, zero points"),
    coded({k(2)}, kCoded, 4, 16, false, "4 bits, blocks of 16"),
    coded({k(2)}, kCoded, 4, 32, true, "4 bits, blocks of 32, zero points"),
    coded({k(2), attr("normalize_routing_weights", 1)}, kCoded, 8, 0, false, "8 bits"),
    coded({k(2)}, kCoded, 8, 0, true, "8 bits, zero points"),
    rounded(coded({k(2)}, kCoded, 8, 32, true, "8 bits, blocks, zero points")),
    coded({k(2)}, kCoded, 2, 0, true, "2 bits, zero points"),
    coded({k(2)}, kCoded, 2, 16, true, "2 bits, blocks, zero points"),
    coded({k(3)}, {7, 22, 14, 3, 14}, 4, 0, true, "odd sizes"),
    coded({k(1)}, {1, 64, 32, 4, 32}, 4, 32, false, "one token"),
    coded({k(2)}, {0, 64, 32, 4, 32}, 4, 32, false, "no tokens"),
    coded({k(2), activation("swiglu"), gates(1), attr("swiglu_limit", 0.5f), attr("activation_beta", 1.0f)}, kCodedFused, 4, 32, false,
          "swiglu, interleaved"),
    coded({k(2), activation("silu"), attr("weights_prepacked", 0)}, kCoded, 4, 0, false, "silu"),
    with_inputs(coded({k(2)}, kCoded, 4, 0, true, "weights of their own"), {absent(), uniform({5, 4}, 0, 1)}),
    with_inputs(coded({k(2), attr("normalize_routing_weights", 1)}, kCoded, 4, 0, true, "weights of their own that sum to 1"),
                {absent(), uniform({5, 4}, 0, 1)}),
    with_inputs(coded({k(2)}, kCoded, 4, 0, true, "weights of another shape", {"input 14", "[5, 3]", "[5, 4]"}),
                {absent(), uniform({5, 3}, 0, 1)}),
    coded({k(2), attr("quant_type", "fp4")}, kCoded, 4, 0, false, "codes", {"quant_type", "fp4", "int"}),
    coded({k(2)}, kCoded, 4, 24, false, "block size", {"block_size", "24"}),
    coded({k(2), attr("fc2_expert_weight_bits", 5)}, kCoded, 4, 0, false, "bits", {"fc2_expert_weight_bits is 5"}),
    changed(coded({k(2)}, kCoded, 4, 16, false, "scales of another shape", {"input 3", "[4, 32]", "[4, 32, 4]"}), 3, {4, 32}),
    changed(coded({k(2)}, kCoded, 4, 16, true, "zero points of another shape", {"zero_points", "[4, 32, 1]"}), 11, {4, 32, 1}),
};
RH_OP_TEST(QMoE, kQMoE, (Types<float, Float16, BFloat16>::set))

/// A pattern of numbers: (7 i mod period) * step + first.
std::vector<double> pattern(int count, int period, double step, double first) {
  std::vector<double> numbers;
  for (int i = 0; i < count; ++i) numbers.push_back(7 * i % period * step + first);
  return numbers;
}
Input codes(Shape shape, int period) {
  std::vector<double> bytes;
  for (int64_t i = 0; i < shape.elements(); ++i) bytes.push_back(static_cast<double>(37 * i % period));
  return values(std::move(shape), bytes).as(DType::uint8);
}
Input all(Shape shape, double value) { return values(shape, std::vector<double>(static_cast<size_t>(shape.elements()), value)); }

// Forms that the stock library does not run on the CPU: fc1 in two halves, factors from fc3, codes of several widths. The numbers come from
// the definition in numpy.
TEST(MoE, forms_that_only_the_documentation_has) {
  const Input x = values({2, 4}, pattern(8, 9, 0.25, -1)), router = values({2, 2}, {1, 2, 3, -1}),
              fc2 = values({2, 4, 4}, pattern(32, 13, 0.25, -1.5));
  const std::vector<double> both = pattern(64, 11, 0.25, -1);  // [2, 8, 4]: gates in even rows, factors in odd ones
  std::vector<double> halves(64), gate(32), factor(32);
  for (size_t i = 0; i < 64; ++i) {
    const size_t expert = i / 32, row = i / 4 % 8, column = i % 4, at = (expert * 4 + row / 2) * 4 + column;
    (row % 2 == 0 ? gate : factor)[at] = both[i];
    halves[(expert * 8 + row % 2 * 4 + row / 2) * 4 + column] = both[i];
  }
  const auto layer = [&](std::vector<Attribute> attributes, Input fc1, std::vector<Input> more, std::vector<double> expected,
                         const char* purpose) {
    attributes.push_back(k(2));
    OpCase c = with_inputs(contributed(std::move(attributes), {x, router, std::move(fc1), absent(), fc2}, purpose), more);
    c.expected = {values({2, 4}, std::move(expected))};
    return c;
  };
  const std::vector<double> limited = {0.1961579, 0.02777436, 0.1182534, -0.00235036, 0.2264377, 0.02544656, -0.1723455, 0.1790277},
                            gated = {0.8390405, -0.1767157, -0.2864531, 0.6729289, 1.792865, -0.1824855, -2.147839, 1.866101};
  const std::vector<double> limited_activated = {0.24692602, 0.02777437, 0.06748523,  0.06110985,
                                                 0.36257257, 0.03992899, -0.27951546, 0.28909415};
  const Attribute limit = attr("swiglu_limit", 0.5f);
  const std::vector<Input> fc3 = {absent(), values({2, 4, 4}, factor)};
  run_op_cases("MoE",
               {layer({activation("swiglu"), gates(1), limit}, values({2, 8, 4}, both), {}, limited, "interleaved"),
                layer({activation("swiglu"), gates(2), limit}, values({2, 8, 4}, halves), {}, limited, "halves"),
                layer({activation("swiglu"), limit}, values({2, 4, 4}, gate), fc3, limited, "two projections"),
                layer({activation("swiglu"), gates(1), limit, attr("swiglu_limit_after_activation", 1)}, values({2, 8, 4}, both), {},
                      limited_activated, "the limit of activated gates"),
                layer({activation("silu")}, values({2, 4, 4}, gate), fc3, gated, "silu of two projections")},
               Types<float>::set);
  OpCase mixed = contributed({k(1), activation("swiglu"), attr("fc1_expert_weight_bits", 8), attr("fc3_expert_weight_bits", 2)},
                             {values({2, 8}, pattern(16, 9, 0.25, -1)), router, codes({2, 8, 8}, 251), all({2, 8}, 0.01), absent(),
                              codes({2, 8, 4}, 253), all({2, 8}, 0.05), absent(), codes({2, 8, 2}, 255), all({2, 8}, 0.25)},
                             "codes of several widths");
  mixed.expected = {values({2, 8}, {-0.01898498, -0.009130687, 0.02326796, 0.02842622, -0.06899761, -0.005155897, -0.01314613, 0.009739151,
                                    0.08396243, -0.07840611, -0.002492893, -0.3413903, -0.09080143, 0.2220656, -0.1425227, -0.0165956})};
  run_op_cases("QMoE", {mixed}, Types<float>::set);
}

}  // namespace
}  // namespace rh::test
