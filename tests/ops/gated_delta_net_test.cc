#include "support/op_case.h"

namespace rh::test {
namespace {

using FloatsAndHalves = Types<float, Float16, BFloat16>;

Input floats(Input input) { return input.as(DType::float32); }
Input begins(std::vector<double> v) {
  const auto count = static_cast<int64_t>(v.size());
  return values({count}, std::move(v)).as(DType::int32);
}
Input decays(Shape shape) { return uniform(std::move(shape), -1, 0); }
Input rates(Shape shape) { return uniform(std::move(shape), 0, 1); }
Input state(int batch, int heads, int value_depth, int depth) { return floats(normal({batch, heads, value_depth, depth})); }

/// Keys are small, as the recurrence asks for.
std::vector<Input> tokens(Shape leading, int heads, int depth, int value_heads, int value_depth) {
  const auto with = [&leading](int count, int size) {
    Shape shape = leading;
    shape.push_back(count);
    shape.push_back(size);
    return shape;
  };
  return {normal(with(heads, depth)), uniform(with(heads, depth), -0.3, 0.3), normal(with(value_heads, value_depth))};
}

OpCase delta_net(std::vector<Attribute> attributes, std::vector<Input> inputs, std::vector<Input> more, const char* purpose,
                 std::vector<std::string> fails = {}, int outputs = 2) {
  inputs.insert(inputs.end(), more.begin(), more.end());
  return contributed(std::move(attributes), std::move(inputs), purpose, std::move(fails), outputs);
}

/// One head of depth 2 and values of 1, so that a state has two numbers.
OpCase small(const char* rule, std::vector<Input> inputs, std::vector<Input> expected, const char* purpose) {
  OpCase row = contributed({attr("update_rule", rule), attr("scale", 1.0f)}, std::move(inputs), purpose, {}, 2);
  row.expected = std::move(expected);
  return row;
}

const Input kBegins = begins({0, 3, 3, 7});

const std::vector<OpCase> kRules = {
    small("linear",
          {values({2, 1, 2}, {1, 2, 3, 1}), values({2, 1, 2}, {1, 0, 2, 1}), values({2, 1, 1}, {5, 1}), absent(), absent(), absent(),
           floats(values({1, 1, 1, 2}, {0, 0}))},
          {values({2, 1, 1}, {5, 22}), floats(values({1, 1, 1, 2}, {7, 1}))}, "linear: states (5, 0) and (7, 1)"),
    small("gated_delta",
          {values({1, 1, 2}, {1, 1}), values({1, 1, 2}, {1, 0}), values({1, 1, 1}, {6}), begins({0, 1}), floats(values({1, 1}, {0})),
           floats(values({1, 1}, {1})), floats(values({1, 1, 1, 2}, {2, 4}))},
          {values({1, 1, 1}, {10}), floats(values({1, 1, 1, 2}, {6, 4}))}, "gated and delta"),
    delta_net({attr("update_rule", "linear")}, tokens({7}, 2, 4, 4, 3), {kBegins}, "linear without a state"),
    delta_net({attr("update_rule", "gated")}, tokens({7}, 2, 4, 4, 3), {kBegins, floats(decays({7, 4, 4})), absent(), state(3, 4, 3, 4)},
              "a decay for each element of a key"),
    delta_net({attr("update_rule", "delta")}, tokens({7}, 1, 8, 3, 5), {kBegins, absent(), floats(rates({7, 3})), state(3, 3, 5, 8)},
              "delta"),
    delta_net({attr("qk_l2_norm", 1), attr("scale", 2.5f)}, tokens({40}, 2, 32, 2, 16),
              {begins({0, 1, 40}), floats(decays({40, 2})), floats(rates({40, 2}))}, "normalised keys, many tokens"),
    delta_net({}, tokens({6}, 2, 4, 2, 3), {absent(), decays({6, 2}), rates({6, 2}), state(3, 2, 3, 4)},
              "requests of one length, decays of the queries' type"),
    delta_net({}, tokens({2, 5}, 2, 4, 2, 3), {absent(), floats(decays({2, 5, 2})), floats(rates({2, 5, 2}))}, "batch and length"),
    delta_net({}, {normal({7, 2 * 2 * 4 + 2 * 3})},
              {absent(), absent(), kBegins, floats(decays({7, 2})), floats(rates({7, 2})), state(3, 2, 3, 4)},
              "queries, keys and values in one"),
};

const std::vector<OpCase> kGates = {
    delta_net({attr("gate_activation", "softplus"), attr("beta_activation", "sigmoid")}, tokens({7}, 2, 4, 4, 3),
              {kBegins, floats(normal({7, 4})), floats(normal({7, 4})), state(3, 4, 3, 4), floats(normal({4})), floats(normal({4}))},
              "softplus"),
    delta_net({attr("gate_activation", "qwen")}, tokens({7}, 2, 4, 2, 3),
              {kBegins, floats(normal({7, 2, 4})), floats(rates({7, 2})), state(3, 2, 3, 4), floats(normal({2})), floats(normal({2, 4}))},
              "its other name, a bias for each element of a key"),
    delta_net({attr("gate_activation", "sigmoid"), attr("gate_lower_bound", -3.0f)}, tokens({7}, 2, 4, 2, 3),
              {kBegins, floats(normal({7, 2})), floats(rates({7, 2})), state(3, 2, 3, 4), floats(normal({2})), floats(normal({2}))},
              "sigmoid"),
    delta_net({attr("gate_activation", "kda")}, tokens({7}, 2, 4, 2, 3),
              {kBegins, floats(normal({7, 2, 4})), floats(rates({7, 2})), state(3, 2, 3, 4), floats(normal({2})), floats(normal({8}))},
              "its other name, biases in one dimension"),
};

const std::vector<OpCase> kUpdates = {
    // All requests fill their room: what is beyond is zeros here, anything in the stock library.
    delta_net({attr("state_update_capacity", 3), attr("qk_l2_norm", 1)}, tokens({7}, 1, 4, 2, 3),
              {begins({0, 3, 7}), floats(decays({7, 2})), floats(rates({7, 2})), state(2, 2, 3, 4), absent(), absent(), begins({9, 3})},
              "decays, keys and changes", {}, 3),
    delta_net({attr("state_update_capacity", 3)}, tokens({7}, 1, 4, 2, 3),
              {begins({0, 3, 7}), floats(decays({7, 2, 4})), floats(rates({7, 2})), state(2, 2, 3, 4), absent(), absent(), begins({3, 3})},
              "a decay for each element of a key", {}, 3),
    delta_net({attr("state_update_capacity", 3), attr("update_rule", "linear")}, tokens({7}, 1, 4, 2, 3),
              {begins({0, 3, 7}), absent(), absent(), state(2, 2, 3, 4), absent(), absent(), begins({3, 3})}, "linear", {}, 3),
    delta_net({attr("state_update_capacity", 3)}, tokens({7}, 1, 4, 2, 3),
              {begins({0, 3, 7}), floats(decays({7, 2})), floats(rates({7, 2})), state(2, 2, 3, 4), absent(), absent(), begins({3, 3}),
               begins({0})},
              "not active: zeros", {}, 3),
};

const std::vector<OpCase> kErrors = {
    delta_net({attr("update_rule", "x")}, tokens({7}, 2, 4, 2, 3), {kBegins}, "rule", {"update_rule is 'x'"}),
    delta_net({attr("gate_activation", "x")}, tokens({7}, 2, 4, 2, 3), {kBegins}, "gate", {"gate_activation is 'x'"}),
    delta_net({attr("beta_activation", "x")}, tokens({7}, 2, 4, 2, 3), {kBegins}, "beta", {"beta_activation is 'x'"}),
    delta_net({attr("gate_lower_bound", 3.0f)}, tokens({7}, 2, 4, 2, 3), {kBegins}, "bound", {"gate_lower_bound is 3"}),
    delta_net({attr("state_update_capacity", 9)}, tokens({7}, 2, 4, 2, 3), {kBegins}, "capacity", {"state_update_capacity is 9"}),
    delta_net({}, tokens({7}, 2, 4, 2, 3), {kBegins}, "no decay", {"'gated_delta' needs the input decay"}),
    delta_net({attr("update_rule", "linear")}, tokens({7}, 2, 4, 2, 3), {kBegins, floats(decays({7, 2}))}, "a decay too many",
              {"'linear' has no use for the input decay"}),
    delta_net({attr("update_rule", "linear")}, tokens({7}, 2, 4, 2, 3), {}, "no requests", {"neither cu_seqlens nor initial_state"}),
    delta_net({attr("update_rule", "linear")}, tokens({7}, 2, 4, 3, 3), {kBegins}, "heads", {"3 heads of values", "multiple of 2"}),
    delta_net({attr("update_rule", "linear")}, tokens({7}, 2, 4, 2, 3), {begins({0, 4, 3, 7})}, "order", {"falls from 4 to 3"}),
    delta_net({attr("update_rule", "linear")}, tokens({7}, 2, 4, 2, 3), {begins({0, 4, 6})}, "end", {"0 to 6", "0 to 7"}),
    delta_net({attr("update_rule", "linear")}, tokens({7}, 2, 4, 2, 3), {absent(), absent(), absent(), state(3, 2, 3, 4)}, "a rest",
              {"7 tokens", "multiple of 3"}),
    delta_net({attr("update_rule", "linear")}, tokens({7}, 2, 4, 2, 3), {kBegins, absent(), absent(), state(3, 2, 4, 4)}, "state",
              {"initial_state has shape [3, 2, 4, 4]", "[3, 2, 3, 4]"}),
    delta_net({attr("update_rule", "linear")}, {normal({7, 9})}, {absent(), absent(), kBegins, absent(), absent(), state(3, 2, 3, 4)},
              "a row that is too short", {"[7, 9]"}),
};

TEST(OpCases, GatedDeltaNet) { run_op_cases("GatedDeltaNet", kRules, FloatsAndHalves::set); }
TEST(OpCases, GatedDeltaNetGates) { run_op_cases("GatedDeltaNet", kGates, FloatsAndHalves::set); }
TEST(OpCases, GatedDeltaNetUpdates) { run_op_cases("GatedDeltaNet", kUpdates, FloatsAndHalves::set); }
TEST(OpCases, GatedDeltaNetErrors) { run_op_cases("GatedDeltaNet", kErrors, FloatsAndHalves::set); }

}  // namespace
}  // namespace rh::test
