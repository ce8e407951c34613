#include "partition/copies.h"

#include <algorithm>
#include <map>

#include "partition/device_constants.h"

namespace rh {

namespace {

/// Constants that were copied, by where they are on the host and where they are wanted: nodes, subgraphs and units share them.
using DeviceConstants = std::map<std::pair<const void*, Device>, Tensor>;

class CopyPlacer {
 public:
  CopyPlacer(Graph& graph, Assignment& assignment, std::span<const std::shared_ptr<Provider>> providers, DeviceConstants& constants,
             std::vector<CopyPlacement>& report)
      : graph_(graph), assignment_(assignment), providers_(providers), constants_(constants), report_(report) {}

  /// A subgraph of node `holder` of the enclosing placer's graph.
  CopyPlacer(Graph& graph, CopyPlacer& enclosing, NodeId holder)
      : CopyPlacer(graph, enclosing.assignment_, enclosing.providers_, enclosing.constants_, enclosing.report_) {
    enclosing_ = &enclosing;
    holder_ = holder;
  }

  void place() {
    const Graph* enclosing = enclosing_ ? &enclosing_->graph_ : nullptr;
    auto& locations = assignment_.locations_of(graph_);
    locations.assign(static_cast<size_t>(graph_.value_count()), Device{});
    for (ValueId id = 0; id < graph_.value_count(); ++id) {
      const ValueId outer = graph_.value(id).outer;
      if (outer != kNoValue && enclosing && !graph_.value(id).is_constant()) set_location(id, assignment_.location(*enclosing, outer));
    }
    if (!enclosing) place_inputs();
    if (enclosing) place_boundary();
    for (NodeId id : graph_.topological_order()) place_node(id);
    for (NodeId id : graph_.nodes()) place_for_subgraphs(id);
    if (enclosing) place_outputs();
    for (NodeId id : graph_.nodes()) {
      Graph::for_each_subgraph(graph_.mutable_node(id), [&](Graph& subgraph) { CopyPlacer(subgraph, *this, id).place(); });
    }
  }

 private:
  void set_location(ValueId id, Device device) { assignment_.locations_of(graph_)[static_cast<size_t>(id)] = device; }
  Device location(ValueId id) const { return assignment_.location(graph_, id); }
  const NodeAssignment& assigned(NodeId id) const { return assignment_.of(graph_, id); }
  Device device_of(const NodeAssignment& assigned) const { return providers_[static_cast<size_t>(assigned.provider)]->device(); }
  Device device_of(NodeId id) const { return device_of(assigned(id)); }

  static bool has_bit(uint64_t bits, size_t i) { return i < 64 && (bits >> i & 1) != 0; }
  Device wanted(const NodeAssignment& assigned, size_t input) const {
    if (input < assigned.unit_host_inputs.size() && assigned.unit_host_inputs[input]) return Device{};
    return has_bit(assigned.host_inputs, input) ? Device{} : device_of(assigned);
  }
  Device wanted(NodeId id, size_t input) const { return wanted(assigned(id), input); }

  // Where all uses agree; an input that a subgraph captures or that is an output as well stays on the host.
  void place_inputs() {
    for (ValueId id : graph_.inputs()) {
      const GraphValue& value = graph_.value(id);
      if (!value.type.is_tensor() || value.is_output || !value.initializer.empty()) continue;
      std::optional<Device> agreed;
      bool mixed = false;
      for (NodeId consumer : value.consumers) {
        const Node& node = graph_.node(consumer);
        if (std::ranges::find(node.implicit_inputs, id) != node.implicit_inputs.end()) mixed = true;
        for (size_t i = 0; i < node.inputs.size(); ++i) {
          if (node.inputs[i] != id) continue;
          const Device want = wanted(consumer, i);
          mixed = mixed || (agreed && *agreed != want);
          agreed = want;
        }
      }
      if (agreed && !mixed) set_location(id, *agreed);
    }
  }

  void place_node(NodeId id) {
    const Node& node = graph_.node(id);
    for (size_t i = 0; i < node.inputs.size(); ++i) {
      const ValueId input = node.inputs[i];
      const Device want = input == kNoValue ? Device{} : wanted(id, i);
      if (input == kNoValue || location(input) == want || !graph_.value(input).type.is_tensor()) continue;
      const ValueId there = moved(input, want, [&] { return cause_of({&node, assigned(id).provider}); });
      graph_.set_input(id, i, there);
    }
    for (size_t i = 0; i < node.outputs.size(); ++i) {
      if (node.outputs[i] == kNoValue || !graph_.value(node.outputs[i]).type.is_tensor()) continue;
      set_location(node.outputs[i], has_bit(assigned(id).host_outputs, i) ? Device{} : device_of(id));
    }
  }

  /// Values of one graph, where they are wanted, and the node that wants them there.
  struct Taker {
    const Node* node;
    int provider;
  };
  using Needs = std::map<std::pair<ValueId, Device>, Taker>;

  // What subgraphs take whenever their node runs is copied before it, once, where others can use the copy.
  void place_for_subgraphs(NodeId id) {
    for (const auto& [need, taker] : captured_needs(graph_, id, false)) {
      if (location(need.first) != need.second) moved(need.first, need.second, [&taker = taker, this] { return cause_of(taker); });
    }
  }

  // Of the values of `graph`, those that the subgraphs of a node take: of an If the ones that all branches take, or, where `any`, one of
  // them.
  Needs captured_needs(const Graph& graph, NodeId id, bool any) const {
    Needs needs;
    bool first = true;
    any = any || repeats(graph.node(id));
    Graph::for_each_subgraph(graph.node(id), [&](const Graph& subgraph) {
      Needs outer;
      for (const auto& [need, taker] : needs_of(subgraph, any)) {
        const ValueId captured = subgraph.value(need.first).outer;
        if (captured != kNoValue) outer.emplace(std::pair(captured, need.second), taker);
      }
      if (any) {
        needs.merge(outer);
      } else if (first) {
        needs = std::move(outer);
      } else {
        std::erase_if(needs, [&](const auto& need) { return !outer.contains(need.first); });
      }
      first = false;
    });
    return needs;
  }

  // What a graph takes in every run, or, where `any`, in some; constants aside.
  Needs needs_of(const Graph& graph, bool any) const {
    Needs needs;
    for (NodeId id : graph.nodes()) {
      const Node& node = graph.node(id);
      const NodeAssignment& assigned = assignment_.of(graph, id);
      for (size_t i = 0; i < node.inputs.size(); ++i) {
        const ValueId input = node.inputs[i];
        if (input == kNoValue || !graph.value(input).type.is_tensor() || graph.value(input).is_constant()) continue;
        needs.emplace(std::pair(input, wanted(assigned, i)), Taker{&node, assigned.provider});
      }
      needs.merge(captured_needs(graph, id, any));
    }
    return needs;
  }

  /// Whether the subgraphs of a node may run many times.
  static bool repeats(const Node& node) { return node.op_type != "If"; }

  std::string cause_of(const Taker& taker) const {
    return fmt::format("node '{}' ({}) of {} takes it there", taker.node->display_name(), taker.node->op_text(),
                       providers_[static_cast<size_t>(taker.provider)]->name());
  }

  // What a subgraph takes and gives is on the host, unless a device's kernel runs it: then where that kernel has it.
  void place_boundary() {
    std::vector<Device> inputs(graph_.inputs().size());
    output_devices_.assign(graph_.outputs().size(), Device{});
    enclosing_->find_boundary(holder_, graph_, inputs, output_devices_);
    for (size_t i = 0; i < inputs.size(); ++i) {
      if (graph_.value(graph_.inputs()[i]).type.is_tensor()) set_location(graph_.inputs()[i], inputs[i]);
    }
  }

  Device given(NodeId id, size_t output) const { return has_bit(assigned(id).host_outputs, output) ? Device{} : device_of(id); }

  void find_boundary(NodeId id, const Graph& subgraph, std::vector<Device>& inputs, std::vector<Device>& outputs) const {
    const Node& node = graph_.node(id);
    if (device_of(id).is_host() || !node.domain.empty()) return;
    const bool loop = node.op_type == "Loop", scan = node.op_type == "Scan";
    if (!loop && !scan && node.op_type != "If") return;
    const size_t skipped = loop ? 1 : 0;                  // the condition
    const size_t first = scan && node.opset < 9 ? 1 : 0;  // after the sequence lengths
    size_t carried = loop ? node.inputs.size() - 2 : 0;
    if (scan) {
      const Attribute* scanned = node.attribute("num_scan_inputs");
      const int64_t* count = scanned ? scanned->get<int64_t>() : nullptr;
      carried = subgraph.inputs().size() - (count ? static_cast<size_t>(*count) : 0);
      for (size_t i = 0; i < inputs.size(); ++i) inputs[i] = wanted(id, first + i);
    }
    for (size_t k = skipped; k < outputs.size(); ++k) {
      const size_t position = k - skipped;
      const bool is_carried = position < carried;
      outputs[k] = is_carried ? wanted(id, loop ? 2 + position : first + position) : given(id, position);
      if (is_carried && loop) inputs.at(2 + position) = outputs[k];
    }
  }

  void place_outputs() {
    for (size_t k = 0; k < graph_.outputs().size(); ++k) {
      const ValueId output = graph_.outputs()[k];
      const Device to = output_devices_[k];
      if (location(output) == to || !graph_.value(output).type.is_tensor()) continue;
      graph_.set_output(k, moved(output, to, [&] { return fmt::format("it is an output of subgraph '{}'", graph_.name); }));
    }
  }

  template <typename Cause>
  ValueId moved(ValueId id, Device to, Cause&& cause) {
    const auto known = moved_.find({id, to});
    if (known != moved_.end()) return known->second;
    if (const ValueId captured = captured_there(id, to, cause); captured != kNoValue) return captured;
    const Device from = location(id);
    DataTransfer* transfer = find_transfer(providers_, from, to);
    if (!transfer) {
      if (!from.is_host() && !to.is_host()) return moved_[{id, to}] = moved(moved(id, Device{}, cause), to, cause);
      fail(ErrorCode::ep_fail, "no provider copies from {} to {}, but value '{}' is wanted there: {}", from.to_string(), to.to_string(),
           graph_.value(id).name, cause());
    }
    const GraphValue& value = graph_.value(id);
    if (value.is_constant()) return moved_[{id, to}] = add_constant(value, to, *transfer);
    report_.push_back({value.name, from, to, cause()});
    return moved_[{id, to}] = add_copy(value, from, to);
  }

  // A captured value that is in this memory outside already, or that is copied there once for all rounds of a loop.
  template <typename Cause>
  ValueId captured_there(ValueId id, Device to, Cause&& cause) {
    const ValueId outer = graph_.value(id).outer;
    if (!enclosing_ || outer == kNoValue || graph_.value(id).is_constant()) return kNoValue;
    const ValueId there = enclosing_->moved_for_subgraph(outer, to, repeats(enclosing_->graph_.node(holder_)), cause);
    if (there == kNoValue) return kNoValue;
    const GraphValue& source = enclosing_->graph_.value(there);
    const ValueId mine = graph_.add_outer(source.name, there, source.type);
    enclosing_->graph_.refresh_implicit_inputs(holder_);
    note(mine, to);
    return moved_[{id, to}] = mine;
  }

  // For what captures a value of this graph: the outermost loop decides where the copy is; without a loop it stays inside, where a branch
  // that is not taken costs nothing.
  template <typename Cause>
  ValueId moved_for_subgraph(ValueId id, Device to, bool repeats, Cause&& cause) {
    const auto known = moved_.find({id, to});
    if (known != moved_.end()) return known->second;
    if (const ValueId captured = captured_there(id, to, cause); captured != kNoValue || !repeats) return captured;
    return moved(id, to, cause);
  }

  ValueId add_constant(const GraphValue& value, Device to, DataTransfer& transfer) {
    const Tensor& host = value.initializer.tensor();
    Tensor apart;
    Tensor& there = host.bytes() == 0 ? apart : constants_[{host.raw(), to}];
    if (!there.defined()) {
      const auto& owner = providers_[static_cast<size_t>(find_owner(providers_, to))];
      there = place_constant(host, value.name, owner, transfer);
    }
    const ValueType type = value.type;
    const ValueId id = graph_.add_initializer(graph_.fresh_name(value.name + "_" + to.to_string()), Value(there.reshaped(host.shape())));
    graph_.set_type(id, type);
    note(id, to);
    return id;
  }

  ValueId add_copy(const GraphValue& value, Device from, Device to) {
    Node node;
    node.name = graph_.fresh_name("copy_" + value.name);
    node.domain = kCopyDomain;
    node.op_type = kCopyOp;
    node.opset = 1;
    node.inputs = {value.id};
    const ValueId there = graph_.add_value(value.name + "_" + to.to_string(), value.type);
    node.outputs = {there};
    const NodeId id = graph_.add_node(std::move(node));
    auto& nodes = assignment_.nodes_of(graph_);
    nodes.resize(static_cast<size_t>(graph_.node_slots()));
    nodes[static_cast<size_t>(id)].provider = find_owner(providers_, from.is_host() ? to : from);
    nodes[static_cast<size_t>(id)].kernel = kCopyOp;
    nodes[static_cast<size_t>(id)].copy = {from, to};
    note(there, to);
    return there;
  }

  void note(ValueId id, Device device) {
    assignment_.locations_of(graph_).resize(static_cast<size_t>(graph_.value_count()));
    set_location(id, device);
  }

  Graph& graph_;
  Assignment& assignment_;
  std::span<const std::shared_ptr<Provider>> providers_;
  DeviceConstants& constants_;
  std::vector<CopyPlacement>& report_;
  CopyPlacer* enclosing_ = nullptr;
  NodeId holder_ = kNoNode;
  std::vector<Device> output_devices_;  // of a subgraph
  std::map<std::pair<ValueId, Device>, ValueId> moved_;
};

}  // namespace

DataTransfer* find_transfer(std::span<const std::shared_ptr<Provider>> providers, Device from, Device to) {
  for (const auto& provider : providers) {
    DataTransfer* transfer = provider->transfer();
    if (transfer && transfer->can_copy(from, to)) return transfer;
  }
  return nullptr;
}

int find_owner(std::span<const std::shared_ptr<Provider>> providers, Device device) {
  const auto at = std::ranges::find_if(providers, [&](const auto& provider) { return provider->device() == device; });
  return at == providers.end() ? -1 : static_cast<int>(at - providers.begin());
}

std::vector<CopyPlacement> place_copies(Graph& graph, Assignment& assignment, std::span<const std::shared_ptr<Provider>> providers) {
  std::vector<CopyPlacement> report;
  if (std::ranges::all_of(providers, [](const auto& provider) { return provider->device().is_host(); })) return report;
  DeviceConstants constants;
  CopyPlacer(graph, assignment, providers, constants, report).place();
  return report;
}

}  // namespace rh
