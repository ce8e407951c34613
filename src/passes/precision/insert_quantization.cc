#include "passes/precision/insert_quantization.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <tuple>

#include "graph/check.h"
#include "graph/edit.h"
#include "ops/inference.h"
#include "passes/precision/known_names.h"
#include "passes/precision/quantize_codes.h"
#include "passes/precision/scopes.h"

namespace rh::precision {

namespace {

constexpr int kQuantizeOpset = 10;    // that brought QuantizeLinear
constexpr int kPerChannelOpset = 13;  // that brought its axis
constexpr double kMostBiasCode = 0x1p30;
constexpr int all = 1 << 20, none = -1;

enum class Form : uint8_t { computes, moves };
using enum Form;

struct Rule {
  std::string_view op_type;
  int activations;
  int weight, bias;  ///< none: -1
  Form form;
};

constexpr Rule kRules[] = {
#define RH_QUANTIZE(op_type, activations, weight, bias, form) {op_type, activations, weight, bias, form},
#include "passes/precision/quantize_rules.inc"
#undef RH_QUANTIZE
};

const Rule* rule_of(const Node& node) {
  if (!node.domain.empty()) return nullptr;
  const auto at = std::ranges::find_if(kRules, [&](const Rule& rule) { return rule.op_type == node.op_type; });
  return at == std::end(kRules) ? nullptr : at;
}

/// The axis of the weight's output channels; negative where one scale is for all.
int channel_axis(const NodeView& node, const Tensor& weight) {
  const int rank = weight.shape().rank();
  if (node.op_type() == "Conv") return 0;
  if (node.op_type() == "ConvTranspose") return node.int_or("group", 1) == 1 ? 1 : -1;
  if (node.op_type() == "Gemm") return node.flag("transB") ? 0 : 1;
  return rank == 2 ? 1 : -1;
}

bool is_float_tensor(const ValueType& type) { return type.is_tensor() && type.tensor().dtype == DType::float32; }

/// What is done to one node.
struct Plan {
  std::vector<std::optional<Quantization>> inputs;  ///< of activations
  ValueId result = kNoValue;                        ///< behind the activation, if there is one
  Quantization output;
};

class Quantizer {
 public:
  Quantizer(Graph& graph, const Scopes& scopes, const Calibration& table, const QuantizationOptions& options, Report& report)
      : graph_(graph), scopes_(scopes), table_(table), options_(options), report_(report) {}

  void run() {
    for (NodeId id : graph_.topological_order()) {
      const Node& node = graph_.node(id);
      const Rule* rule = rule_of(node);
      if (!rule) continue;
      Plan plan;
      if (const std::string why = why_left(node, *rule, plan); !why.empty()) {
        report_.kept.push_back({node.display_name(), node.op_text(), why});
        continue;
      }
      quantize_inputs(node, *rule, plan);
      quantize_result(plan);
      report_.converted.push_back(node.display_name());
    }
  }

 private:
  // --- what can be done
  std::string why_left(const Node& node, const Rule& rule, Plan& plan) {
    if (std::ranges::find(options_.keep_nodes, node.name) != options_.keep_nodes.end()) return "the options keep this node";
    if (std::ranges::find(options_.keep_operators, node.op_type) != options_.keep_operators.end()) return "the options keep this operator";
    if (opset() < kQuantizeOpset) return fmt::format("opset {} has no QuantizeLinear, expected {} or newer", opset(), kQuantizeOpset);
    const NodeView view(graph_, node);
    if (node.op_type == "Gemm" && (view.float_or("alpha", 1) != 1 || view.float_or("beta", 1) != 1)) return "alpha or beta is not 1";
    plan.inputs.resize(node.inputs.size());
    for (size_t i = 0; i < node.inputs.size(); ++i) {
      if (std::string why = why_left(node, rule, i, plan); !why.empty()) return why;
    }
    return find_result(node, rule, plan);
  }

  std::string why_left(const Node& node, const Rule& rule, size_t input, Plan& plan) {
    const int i = static_cast<int>(input);
    const ValueId id = node.inputs[input];
    if (id == kNoValue || (i >= rule.activations && i != rule.weight)) return {};
    if (!is_float_tensor(graph_.value(id).type))
      return fmt::format("input {} is {}, expected float32", i, graph_.value(id).type.to_string());
    const Tensor* constant = scopes_.constant(graph_, id);
    if (i == rule.weight && constant) return {};
    plan.inputs[input] =
        constant ? quantization_of(graph_.value(id).name, range_of(*constant), options_.activations, options_.symmetric) : scale_of(id);
    return plan.inputs[input] ? std::string() : no_scale(id);
  }

  std::string no_scale(ValueId id) const { return fmt::format("the table has no scale of '{}'", graph_.value(id).name); }

  std::string find_result(const Node& node, const Rule& rule, Plan& plan) {
    plan.result = node.outputs[0];
    if (plan.result == kNoValue) return "its result is left out";
    for (size_t i = 1; i < node.outputs.size(); ++i) {
      if (node.outputs[i] != kNoValue && is_used(node.outputs[i])) return "it has further results";
    }
    if (rule.form == moves) {
      plan.output = *plan.inputs[0];
      return {};
    }
    plan.result = behind_activation(plan.result);
    const auto scale = scale_of(plan.result);
    if (!scale) return no_scale(plan.result);
    plan.output = *scale;
    return {};
  }

  bool is_used(ValueId id) const { return graph_.value(id).is_output || !graph_.value(id).consumers.empty(); }

  /// Runtimes compute a Relu or Clip together with the operator before it.
  ValueId behind_activation(ValueId id) const {
    const GraphValue& value = graph_.value(id);
    if (value.is_output || value.consumers.size() != 1) return id;
    const Node& user = graph_.node(value.consumers[0]);
    const bool is_activation = user.domain.empty() && (user.op_type == "Relu" || user.op_type == "Clip");
    return is_activation && user.inputs[0] == id && user.outputs[0] != kNoValue ? user.outputs[0] : id;
  }

  /// That of the pair which gives the value, else the table's.
  std::optional<Quantization> scale_of(ValueId id) const {
    if (const auto at = quantized_.find(id); at != quantized_.end()) return at->second;
    const std::string& name = graph_.value(id).name;
    const auto entry = table_.find(name);
    if (entry == table_.end()) return std::nullopt;
    return quantization_of(name, entry->second, options_.activations, options_.symmetric);
  }

  int opset() const {
    const auto at = graph_.opset_imports.find("");
    return at == graph_.opset_imports.end() ? 0 : at->second;
  }

  // --- what is done
  void quantize_inputs(const Node& node, const Rule& rule, const Plan& plan) {
    for (size_t i = 0; i < node.inputs.size(); ++i) {
      if (!plan.inputs[i]) continue;
      const Tensor* constant = scopes_.constant(graph_, node.inputs[i]);
      graph_.set_input(node.id, i,
                       constant ? dequantized(node.inputs[i], *constant, *plan.inputs[i]) : pair(node.inputs[i], *plan.inputs[i]));
    }
    const NodeView view(graph_, node);
    const size_t w = static_cast<size_t>(rule.weight);
    const Tensor* weight = rule.weight != none && !plan.inputs[w] ? scopes_.constant(graph_, node.inputs[w]) : nullptr;
    if (!weight) return;
    const bool per_channel = options_.per_channel && opset() >= kPerChannelOpset;
    const int axis = per_channel ? channel_axis(view, *weight) : -1;
    std::vector<float> scales = weight_scales(*weight, axis);
    const Tensor* bias = rule.bias != none && view.has_input(rule.bias) ? scopes_.constant(graph_, node.inputs[rule.bias]) : nullptr;
    const bool takes_bias = bias && bias->shape().rank() == 1 && bias->dtype() == DType::float32 &&
                            (scales.size() == 1 || bias->elements() == static_cast<int64_t>(scales.size()));
    if (takes_bias) make_room(*bias, plan.inputs[0]->scale, scales);
    graph_.set_input(node.id, w, dequantized_weight(node.inputs[w], *weight, scales, axis));
    if (takes_bias) graph_.set_input(node.id, rule.bias, dequantized_bias(node.inputs[rule.bias], *bias, plan.inputs[0]->scale, scales));
  }

  /// Scales of weights become so large that the bias fits in 32 bits.
  static void make_room(const Tensor& bias, float input_scale, std::vector<float>& scales) {
    const float* b = bias.data<float>();
    for (int64_t i = 0; i < bias.elements(); ++i) {
      float& scale = scales[scales.size() == 1 ? 0 : static_cast<size_t>(i)];
      scale = std::max(scale, static_cast<float>(std::fabs(b[i]) / (input_scale * kMostBiasCode)));
    }
  }

  /// DequantizeLinear of QuantizeLinear of the value; what such a pair gives already stays.
  ValueId pair(ValueId id, const Quantization& q) {
    if (quantized_.contains(id)) return id;
    if (const auto at = pairs_.find(id); at != pairs_.end()) return at->second;
    const std::string name = graph_.value(id).name;
    const ValueId scale = add_scale(name, {q.scale}, false);
    const ValueId zero = add_zero(name, options_.activations, q.zero_point, 0);
    const ValueId codes = add_node("QuantizeLinear", name + "_quantized", {id, scale, zero}, -1, {}, graph_.producer(id));
    const ValueId result =
        add_node("DequantizeLinear", name + "_dequantized", {codes, scale, zero}, -1, graph_.value(id).type, graph_.producer(id));
    pairs_.emplace(id, result);
    quantized_.emplace(result, q);
    ++report_.added_nodes;
    return result;
  }

  /// All that took the result takes it rounded, so that the operator gives nothing but codes.
  void quantize_result(const Plan& plan) {
    const ValueId id = plan.result;
    if (quantized_.contains(id)) return;
    const std::vector<NodeId> users = graph_.value(id).consumers;
    const ValueId result = pair(id, plan.output);
    for (NodeId user : users) {
      const Node& node = graph_.node(user);
      for (size_t i = 0; i < node.inputs.size(); ++i) {
        if (node.inputs[i] == id && node.op_type != "QuantizeLinear") graph_.set_input(user, i, result);
      }
    }
    if (!graph_.value(id).is_output) return;
    for (size_t i = 0; i < graph_.outputs().size(); ++i) {
      if (graph_.outputs()[i] == id) graph_.set_output(i, result);
    }
    graph_.pass_name(id, result);
  }

  ValueId dequantized(ValueId id, const Tensor& constant, const Quantization& q) {
    ValueId& made = operands_.try_emplace(id, kNoValue).first->second;
    if (made != kNoValue) return made;
    const std::string name = graph_.value(id).name;
    ++report_.constants;
    const ValueId codes =
        graph_.add_initializer(name + "_quantized", quantize(constant, options_.activations, {q.scale}, -1, q.zero_point));
    const ValueId scale = add_scale(name, {q.scale}, false), zero = add_zero(name, options_.activations, q.zero_point, 0);
    return made = add_node("DequantizeLinear", name + "_dequantized", {codes, scale, zero}, -1);
  }

  ValueId dequantized_weight(ValueId id, const Tensor& weight, const std::vector<float>& scales, int axis) {
    ValueId& made = weights_.try_emplace({id, axis, scales}, kNoValue).first->second;
    if (made != kNoValue) return made;
    const std::string name = graph_.value(id).name;
    ++report_.constants;
    const ValueId codes = graph_.add_initializer(name + "_quantized", quantize(weight, DType::int8, scales, axis, 0));
    const ValueId zero = add_zero(name, DType::int8, 0, axis < 0 ? 0 : scales.size());
    return made = add_node("DequantizeLinear", name + "_dequantized", {codes, add_scale(name, scales, axis >= 0), zero}, axis);
  }

  ValueId dequantized_bias(ValueId id, const Tensor& bias, float input_scale, std::vector<float> scales) {
    const std::string name = graph_.value(id).name;
    for (float& scale : scales) scale *= input_scale;
    ++report_.constants;
    const ValueId codes = graph_.add_initializer(name + "_quantized", quantize(bias, DType::int32, scales, 0, 0));
    const bool is_row = scales.size() > 1;
    return add_node("DequantizeLinear", name + "_dequantized", {codes, add_scale(name, scales, is_row)}, is_row ? 0 : -1);
  }

  ValueId add_scale(const std::string& name, const std::vector<float>& scales, bool is_row) {
    return graph_.add_initializer(name + "_scale",
                                  Tensor::from<float>(is_row ? Shape{static_cast<int64_t>(scales.size())} : Shape{}, scales));
  }

  /// `count` zero points; 0: a scalar.
  ValueId add_zero(const std::string& name, DType dtype, int zero_point, size_t count) {
    Tensor zero(dtype, count ? Shape{static_cast<int64_t>(count)} : Shape{});
    std::fill_n(zero.data<uint8_t>(), zero.elements(), static_cast<uint8_t>(zero_point));
    return graph_.add_initializer(name + "_zero_point", std::move(zero));
  }

  ValueId add_node(const char* op_type, const std::string& name, std::vector<ValueId> inputs, int axis, ValueType type = {},
                   const Node* stands_for = nullptr) {
    Node made;
    made.name = name;
    made.op_type = op_type;
    made.inputs = std::move(inputs);
    if (axis >= 0) made.attributes = {{"axis", static_cast<int64_t>(axis)}};
    const auto provenance = stands_for ? stands_for->provenance : std::vector<std::shared_ptr<const OriginalNode>>{};
    const ValueId output = graph_.add_value(name, std::move(type));
    made.outputs = {output};
    const NodeId id = graph_.add_node(std::move(made));
    graph_.add_provenance(id, provenance);
    return output;
  }

  Graph& graph_;
  const Scopes& scopes_;
  const Calibration& table_;
  const QuantizationOptions& options_;
  Report& report_;
  std::map<ValueId, ValueId> pairs_;                                         // by what they quantise
  std::map<ValueId, Quantization> quantized_;                                // what pairs give
  std::map<ValueId, ValueId> operands_;                                      // constants with the scale of all their elements
  std::map<std::tuple<ValueId, int, std::vector<float>>, ValueId> weights_;  // by axis and scales
};

void quantize_graph(Graph& graph, const Scopes& scopes, const Calibration& table, const QuantizationOptions& options, Report& report) {
  for (NodeId id : graph.nodes()) {
    Graph::for_each_subgraph(graph.mutable_node(id), [&](Graph& body) { quantize_graph(body, scopes, table, options, report); });
  }
  Quantizer(graph, scopes, table, options, report).run();
}

}  // namespace

Report insert_quantization(Graph& graph, const Calibration& scales, const QuantizationOptions& options) {
  if (options.activations != DType::int8 && options.activations != DType::uint8) {
    fail(ErrorCode::invalid_argument, "precision: activations are {}, expected int8 or uint8", to_string(options.activations));
  }
  const KnownNames known(graph);
  known.check_nodes(options.keep_nodes);
  known.check_operators(options.keep_operators);
  Report report;
  for (const auto& [name, entry] : scales) {
    if (!known.has_value(name)) report.unused.push_back(name);
  }
  const Scopes scopes(graph);
  quantize_graph(graph, scopes, scales, options, report);
  drop_unused(graph);
  infer_types(graph);
  check(graph);
  return report;
}

}  // namespace rh::precision
