#include "providers/kit/regions/islands.h"

#include <algorithm>
#include <iterator>
#include <set>
#include <string_view>

#include "base/error.h"

namespace rh::kit {

namespace {

/// What runs in one pass over the elements when its neighbours do too.
constexpr std::string_view kElementwise[] = {
    "Abs",   "Add",     "And",  "Cast",    "Ceil",        "Clip",      "Cos",      "Div",       "Elu",   "Equal",      "Erf",
    "Exp",   "Floor",   "Gelu", "Greater", "HardSigmoid", "HardSwish", "Identity", "LeakyRelu", "Less",  "Log",        "Max",
    "Min",   "Mish",    "Mod",  "Mul",     "Neg",         "Not",       "Or",       "PRelu",     "Pow",   "Reciprocal", "Relu",
    "Round", "Sigmoid", "Sign", "Sin",     "Softplus",    "Sqrt",      "Sub",      "Tanh",      "Where", "Xor"};
constexpr double kTrips = 8;  // of a loop, whose number only a run says

bool is_elementwise(const Node& node) {
  return node.domain.empty() && std::ranges::find(kElementwise, std::string_view(node.op_type)) != std::end(kElementwise);
}

/// Operations and bytes of a region.
class Work {
 public:
  explicit Work(int64_t unknown_size) : unknown_size_(unknown_size) {}

  double operations = 0, bytes = 0;

  double size_of(const Dim& dim) const { return dim.is_constant() ? static_cast<double>(dim.value()) : static_cast<double>(unknown_size_); }

  double elements(const ValueType& type) const {
    if (!type.is_tensor() || !type.tensor().has_rank()) return static_cast<double>(unknown_size_);
    double product = 1;
    for (const Dim& dim : *type.tensor().dims) product *= size_of(dim);
    return product;
  }

  double bytes_of(const ValueType& type) const {
    const bool is_sized = type.is_tensor() && type.tensor().dtype != DType::string && type.tensor().dtype != DType::undefined;
    return elements(type) * (is_sized ? bits_of(type.tensor().dtype) / 8.0 : 4);
  }

  /// `region`: of the graph's nodes, those that run together.
  void add(const Graph& graph, const std::vector<NodeId>& region, double times) {
    const std::set<NodeId> inside(region.begin(), region.end());
    std::set<ValueId> read;
    for (NodeId id : region) {
      const Node& node = graph.node(id);
      operations += times * operations_of(graph, node);
      for (ValueId input : node.inputs) {
        if (input != kNoValue && !is_passed_on(graph, input, inside) && read.insert(input).second)
          bytes += times * bytes_of(graph.value(input).type);
      }
      for (ValueId output : node.outputs) {
        if (output != kNoValue && !is_passed_on(graph, output, inside)) bytes += times * bytes_of(graph.value(output).type);
      }
      Graph::for_each_subgraph(node,
                               [&](const Graph& body) { add(body, body.nodes(), node.op_type == "If" ? times / 2 : times * kTrips); });
    }
  }

 private:
  /// From one node of a chain of element-wise ones to the next, which is in no memory then.
  static bool is_passed_on(const Graph& graph, ValueId id, const std::set<NodeId>& inside) {
    const GraphValue& value = graph.value(id);
    const auto fits = [&](NodeId node) { return inside.contains(node) && is_elementwise(graph.node(node)); };
    return value.producer != kNoNode && !value.is_output && fits(value.producer) && !value.consumers.empty() &&
           std::ranges::all_of(value.consumers, fits);
  }

  double operations_of(const Graph& graph, const Node& node) const {
    const auto type = [&](ValueId id) -> const ValueType& { return id == kNoValue ? kUnknownType : graph.value(id).type; };
    double most = 0;
    for (ValueId input : node.inputs) most = std::max(most, input == kNoValue ? 0 : elements(type(input)));
    for (ValueId output : node.outputs) most = std::max(most, output == kNoValue ? 0 : elements(type(output)));
    if (node.inputs.size() < 2 || node.outputs.empty()) return most;
    const ValueType& first = type(node.inputs[0]);
    const ValueType& second = type(node.inputs[1]);
    const std::string_view op = node.op_type;
    // Of each result as many products as the operand has elements for it.
    if (op == "Conv" || op == "QLinearConv" || op == "ConvInteger")
      return elements(type(node.outputs[0])) * per_first(type(weights_of(node)));
    if (op == "ConvTranspose") return elements(first) * per_first(second);
    if (op == "LSTM" || op == "GRU" || op == "RNN") return elements(first) / last(first) * 2 * elements(second);
    if (op.find("MatMul") != op.npos || op.find("Gemm") != op.npos || op.find("Attention") != op.npos) {
      return elements(type(node.outputs[0])) * last(first);
    }
    return most;
  }

  static ValueId weights_of(const Node& node) { return node.inputs[node.op_type == "QLinearConv" && node.inputs.size() > 3 ? 3 : 1]; }
  double per_first(const ValueType& type) const {
    const bool has_sizes = type.is_tensor() && type.tensor().has_rank() && type.tensor().rank() > 0;
    return has_sizes ? elements(type) / std::max(1.0, size_of(type.tensor().dims->front())) : elements(type);
  }
  double last(const ValueType& type) const {
    const bool has_sizes = type.is_tensor() && type.tensor().has_rank() && type.tensor().rank() > 0;
    return has_sizes ? std::max(1.0, size_of(type.tensor().dims->back())) : static_cast<double>(unknown_size_);
  }

  int64_t unknown_size_;
};

/// What a region takes from the host and gives to it, but what is on the device for others of its nodes anyway.
struct Crossings {
  size_t copies = 0;
  double bytes = 0;
  bool is_island = false;
};

Crossings crossings_of(const Graph& graph, const std::vector<NodeId>& region, const std::vector<Owner>& owners, const Work& work) {
  const std::set<NodeId> inside(region.begin(), region.end());
  const auto is_elsewhere = [&](NodeId id) { return owners[static_cast<size_t>(id)] == Owner::others; };
  const auto is_other_device = [&](NodeId id) { return !inside.contains(id) && !is_elsewhere(id); };
  Crossings found;
  std::set<ValueId> seen;
  const auto cross = [&](ValueId id, bool by_others) {
    if (!seen.insert(id).second) return;
    ++found.copies;
    found.bytes += work.bytes_of(graph.value(id).type);
    found.is_island |= by_others;
  };
  for (NodeId id : region) {
    for (const auto* inputs : {&graph.node(id).inputs, &graph.node(id).implicit_inputs}) {
      for (ValueId input : *inputs) {
        if (input == kNoValue || graph.value(input).is_constant()) continue;
        const GraphValue& value = graph.value(input);
        const bool is_produced = value.producer != kNoNode;
        if (is_produced && !is_elsewhere(value.producer)) continue;
        if (!std::ranges::any_of(value.consumers, is_other_device)) cross(input, is_produced);
      }
    }
    for (ValueId output : graph.node(id).outputs) {
      if (output == kNoValue) continue;
      const GraphValue& value = graph.value(output);
      const bool to_others = std::ranges::any_of(value.consumers, is_elsewhere);
      if (to_others || value.is_output) cross(output, to_others);
    }
  }
  return found;
}

}  // namespace

std::optional<std::string> island_reason(const Graph& graph, const std::vector<NodeId>& region, const std::vector<Owner>& owners,
                                         const CostModel& costs) {
  Work work(costs.unknown_size);
  const Crossings crossings = crossings_of(graph, region, owners, work);
  if (!crossings.is_island) return {};
  work.add(graph, region, 1);
  const double on_cpu = work.operations / costs.cpu_operations + work.bytes / costs.cpu_bytes;
  const double on_device = costs.launch + work.operations / costs.device_operations + work.bytes / costs.device_bytes;
  const double copied = static_cast<double>(crossings.copies) * costs.copy + crossings.bytes / costs.copied_bytes;
  if (on_cpu > on_device + copied) return {};
  return fmt::format("its region takes about {:.3g} us on the CPU, on the device {:.3g} us and {:.3g} us for {} cop{} of {:.3g} kB",
                     on_cpu * 1e6, on_device * 1e6, copied * 1e6, crossings.copies, crossings.copies == 1 ? "y" : "ies",
                     crossings.bytes / 1e3);
}

}  // namespace rh::kit
