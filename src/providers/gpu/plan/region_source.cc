#include "providers/gpu/plan/region_source.h"

#include <algorithm>

#include "passes/driver/rewrite.h"

#include "providers/gpu/plan/known_branches.h"
#include "providers/gpu/plan/region_passes.h"

namespace rh::gpu {

namespace {

constexpr size_t kSmallBytes = 1024;  ///< what may say what operators do: shapes, axes, scales

kit::PlanSizes sizes_of(const kit::Region& region) {
  kit::PlanSizes::Dims dims;
  for (ValueId id : region.inputs) {
    const ValueType& type = region.graph->value(id).type;
    dims.push_back(type.is_tensor() ? type.tensor().dims : std::nullopt);
  }
  return kit::PlanSizes(std::move(dims));
}

ValueType static_type(DType dtype, const Shape& shape) {
  SymbolicShape dims;
  for (int64_t size : shape) dims.emplace_back(size);
  return ValueType::tensor(dtype, std::move(dims));
}

/// Makes constants of the nodes that give one, those of branches too.
void lift_constant_nodes(Graph& graph) {
  for (NodeId id : graph.nodes()) {
    Graph::for_each_subgraph(graph.mutable_node(id), [](Graph& branch) { lift_constant_nodes(branch); });
    const Node& node = graph.node(id);
    if (node.op_type != "Constant" || !node.domain.empty()) continue;
    const ValueId made = node.outputs[0];
    const Tensor value = NodeView(graph, node).tensor("value")->clone();
    graph.remove_node(id);
    graph.set_initializer(made, value);
    graph.set_type(made, static_type(value.dtype(), value.shape()));
  }
}

bool is_uploaded(const Tensor* tensor) { return tensor && tensor->dtype() != DType::string && tensor->bytes() > 0; }

void collect_of_branches(const Graph& graph, std::vector<Tensor>& tensors) {
  for (NodeId id : graph.nodes()) {
    Graph::for_each_subgraph(graph.node(id), [&](const Graph& branch) {
      for (ValueId value = 0; value < branch.value_count(); ++value) {
        if (const Tensor* tensor = branch.value(value).constant_tensor(); is_uploaded(tensor)) tensors.push_back(*tensor);
      }
      collect_of_branches(branch, tensors);
    });
  }
}

}  // namespace

RegionSource::RegionSource(const kit::Region& region, bool recognises)
    : graph_(region.graph->clone()), inputs_(region.inputs), host_inputs_(region.host_inputs), sizes_(sizes_of(region)) {
  graph_->set_outputs(region.outputs);
  graph_->set_inputs(region.inputs);
  lift_constant_nodes(*graph_);
  if (recognises) graph_ = recognised(*graph_);
  upload(region);
}

void RegionSource::upload(const kit::Region& region) {
  std::vector<ValueId> ids;
  std::vector<const Tensor*> tensors;
  std::vector<Tensor> owned;
  for (ValueId id = 0; id < graph_->value_count(); ++id) {
    const Tensor* tensor = graph_->value(id).constant_tensor();
    if (!tensor || tensor->dtype() == DType::string) continue;
    ids.push_back(id);
    owned.push_back(*tensor);
  }
  collect_of_branches(*graph_, owned);
  has_branches_ = std::ranges::any_of(graph_->nodes(), [&](NodeId id) { return passes::has_subgraph(graph_->node(id)); });
  for (const Tensor& tensor : owned) tensors.push_back(&tensor);
  const std::vector<Tensor> there = region.constants->upload(tensors);
  region.constants->keep(std::make_shared<const std::vector<Tensor>>(owned));
  for (size_t i = 0; i < ids.size(); ++i) {
    constants_.emplace(ids[i], there[i]);
    graph_->set_type(ids[i], static_type(owned[i].dtype(), owned[i].shape()));
    graph_->set_initializer(ids[i], owned[i].bytes() <= kSmallBytes ? Value(owned[i].clone()) : Value());
  }
  for (size_t i = ids.size(); i < owned.size(); ++i) of_branches_.emplace(owned[i].raw(), there[i]);
}

bool RegionSource::has_host_inputs() const { return std::ranges::find(host_inputs_, true) != host_inputs_.end(); }

StaticRegion RegionSource::at(std::span<const Shape> shapes, std::span<const Tensor> host_values) const {
  StaticRegion region{graph_->clone(), {}, {}, constants_};
  Graph& graph = *region.graph;
  std::vector<ValueId> inputs;
  for (size_t i = 0; i < inputs_.size(); ++i) {
    graph.set_type(inputs_[i], static_type(graph.value(inputs_[i]).type.tensor().dtype, shapes[i]));
    if (!is_on_host(i)) {
      inputs.push_back(inputs_[i]);
      continue;
    }
    region.host.emplace(inputs_[i], host_values[i]);
  }
  graph.set_inputs(inputs);
  for (const auto& [id, value] : region.host) graph.set_initializer(id, value);
  region.contents = has_branches_ ? inline_known_branches(graph) : infer_types(graph);
  for (ValueId id = 0; has_branches_ && id < graph.value_count(); ++id) {
    const Tensor* tensor = graph.value(id).constant_tensor();
    if (!tensor || region.constants.contains(id)) continue;
    if (const auto there = of_branches_.find(tensor->raw()); there != of_branches_.end()) {
      region.constants.emplace(id, there->second);
    } else {
      region.host.emplace(id, *tensor);  // numbers of trips, which unrolling made
    }
  }
  return region;
}

}  // namespace rh::gpu
