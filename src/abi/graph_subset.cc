#include <algorithm>
#include <unordered_set>

#include "abi/graph_view.h"

namespace rh::abi {

namespace {

/// Copies nodes of one view, with the values they use, to another.
class NodeCopier {
 public:
  NodeCopier(const OrtGraph& from, OrtGraph& to) : to_(to) {
    to_.model = from.model;
    to_.model_path = from.model_path;
    to_.model_graph = from.model_graph;
    to_.name = from.name;
    to_.opsets = from.opsets;
  }

  /// The copy of a value: everything but its place among the nodes and in the graph's signature.
  OrtValueInfo* value(const OrtValueInfo* from) {
    if (!from) return nullptr;
    OrtValueInfo*& copy = values_[from];
    if (copy) return copy;
    copy = &to_.add_value(from->name);
    copy->type = from->type;
    copy->initializer = from->initializer;
    copy->external = from->external;
    copy->is_constant = from->is_constant;
    copy->is_outer = from->is_outer;
    copy->is_optional_input = from->is_outer && from->is_optional_input;
    return copy;
  }

  void add(const OrtNode& from) {
    OrtNode& node = *to_.nodes.emplace_back(std::make_unique<OrtNode>());
    node.id = from.id;
    node.name = from.name;
    node.domain = from.domain;
    node.op_type = from.op_type;
    node.since_version = from.since_version;
    node.provider = from.provider;
    node.attributes = from.attributes;
    node.graph = &to_;
    for (size_t i = 0; i < from.inputs.size(); ++i) node.inputs.push_back(use(from.inputs[i], node, static_cast<int64_t>(i)));
    for (const OrtValueInfo* input : from.implicit_inputs) node.implicit_inputs.push_back(use(input, node, -1));
    for (size_t i = 0; i < from.outputs.size(); ++i) {
      OrtValueInfo* output = value(from.outputs[i]);
      node.outputs.push_back(output);
      if (!output) continue;
      output->producer = &node;
      output->output_index = i;
    }
    for (const OrtNode::Subgraph& subgraph : from.subgraphs) node.subgraphs.push_back({subgraph.attribute, whole(*subgraph.graph, node)});
  }

 private:
  const OrtValueInfo* use(const OrtValueInfo* from, const OrtNode& node, int64_t index) {
    OrtValueInfo* input = value(from);
    if (input) input->consumers.push_back({&node, index});
    return input;
  }

  static std::unique_ptr<OrtGraph> whole(const OrtGraph& from, const OrtNode& parent) {
    auto copy = std::make_unique<OrtGraph>();
    NodeCopier copier(from, *copy);
    copy->parent = &parent;
    for (const OrtValueInfo* input : from.inputs) copy->inputs.push_back(copier.value(input));
    for (const OrtValueInfo* initializer : from.initializers) copy->initializers.push_back(copier.value(initializer));
    for (const auto& node : from.nodes) copier.add(*node);
    for (const OrtValueInfo* output : from.outputs) copy->outputs.push_back(copier.value(output));
    for (const auto& [source, target] : copier.values_) {
      target->is_required_input = source->is_required_input;
      target->is_optional_input = source->is_optional_input;
      target->is_output = source->is_output;
    }
    return copy;
  }

  OrtGraph& to_;
  std::unordered_map<const OrtValueInfo*, OrtValueInfo*> values_;
};

/// The chosen nodes in the order of the view, each once.
std::vector<const OrtNode*> in_order(const OrtGraph& source, std::span<const OrtNode* const> nodes,
                                     std::unordered_set<const OrtNode*>& chosen) {
  for (const OrtNode* node : nodes) {
    if (!node) fail(ErrorCode::invalid_argument, "argument 'nodes' must not hold null");
    chosen.insert(node);
  }
  std::vector<const OrtNode*> ordered;
  for (const auto& node : source.nodes) {
    if (chosen.contains(node.get())) ordered.push_back(node.get());
  }
  if (ordered.size() != chosen.size()) {
    fail(ErrorCode::invalid_argument, "{} of {} nodes are not of this graph", chosen.size() - ordered.size(), chosen.size());
  }
  return ordered;
}

}  // namespace

std::unique_ptr<OrtGraph> make_subset_view(const OrtGraph& source, std::span<const OrtNode* const> nodes, const SubsetOptions& options) {
  std::unordered_set<const OrtNode*> chosen;
  const std::vector<const OrtNode*> ordered = in_order(source, nodes, chosen);
  auto view = std::make_unique<OrtGraph>();
  NodeCopier copier(source, *view);
  view->name = options.name;
  std::unordered_set<const OrtValueInfo*> seen;
  const auto take = [&](const OrtValueInfo* from) {
    if (!from || chosen.contains(from->producer) || !seen.insert(from).second) return;
    OrtValueInfo* value = copier.value(from);
    if (from->initializer && !from->is_outer) view->initializers.push_back(value);
    if (from->is_constant && (from->is_outer || !options.constants_are_inputs)) return;
    value->mark_input();
    view->inputs.push_back(value);
  };
  for (const OrtNode* node : ordered) {
    for (const OrtValueInfo* input : node->inputs) take(input);
    for (const OrtValueInfo* input : node->implicit_inputs) take(input);
  }
  for (const OrtNode* node : ordered) copier.add(*node);
  for (const OrtNode* node : ordered) {
    for (const OrtValueInfo* from : node->outputs) {
      if (!from) continue;
      const auto outside = [&](const OrtValueInfo::Use& use) { return !chosen.contains(use.node); };
      if (!from->is_output && std::none_of(from->consumers.begin(), from->consumers.end(), outside)) continue;
      OrtValueInfo* value = copier.value(from);
      value->is_output = true;
      view->outputs.push_back(value);
    }
  }
  return view;
}

std::unique_ptr<OrtNode> make_fused_node(const OrtGraph& subset, NodeId id, std::string node_name, std::string provider) {
  auto node = std::make_unique<OrtNode>();
  node->id = id;
  node->name = std::move(node_name);
  node->op_type = subset.name;
  node->domain = provider;
  node->since_version = 1;
  const auto copy = [&](const OrtValueInfo* from) -> const OrtValueInfo* {
    OrtValueInfo& value = node->own_values.emplace_back();
    value.name = from->name;
    value.type = from->type;
    return &value;
  };
  std::ranges::transform(subset.inputs, std::back_inserter(node->inputs), copy);
  std::ranges::transform(subset.outputs, std::back_inserter(node->outputs), copy);
  node->attributes = std::make_shared<const std::vector<OrtOpAttr>>();
  node->provider = std::move(provider);
  return node;
}

}  // namespace rh::abi
