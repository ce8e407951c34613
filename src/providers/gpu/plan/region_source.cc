#include "providers/gpu/plan/region_source.h"

#include <algorithm>

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

}  // namespace

RegionSource::RegionSource(const kit::Region& region, bool recognises)
    : graph_(region.graph->clone()),
      inputs_(region.inputs),
      outputs_(region.outputs),
      host_inputs_(region.host_inputs),
      sizes_(sizes_of(region)) {
  graph_->set_outputs(region.outputs);
  graph_->set_inputs(region.inputs);
  lift_constant_nodes();
  if (recognises) {
    graph_ = recognised(*graph_);
    outputs_ = graph_->outputs();
  }
  upload(region);
}

void RegionSource::lift_constant_nodes() {
  for (NodeId id : graph_->nodes()) {
    const Node& node = graph_->node(id);
    if (node.op_type != "Constant" || !node.domain.empty()) continue;
    const ValueId made = node.outputs[0];
    const Tensor value = NodeView(*graph_, node).tensor("value")->clone();
    graph_->remove_node(id);
    graph_->set_initializer(made, value);
    graph_->set_type(made, static_type(value.dtype(), value.shape()));
  }
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
  for (const Tensor& tensor : owned) tensors.push_back(&tensor);
  const std::vector<Tensor> there = region.constants->upload(tensors);
  region.constants->keep(std::make_shared<const std::vector<Tensor>>(owned));
  for (size_t i = 0; i < ids.size(); ++i) {
    constants_.emplace(ids[i], there[i]);
    graph_->set_type(ids[i], static_type(owned[i].dtype(), owned[i].shape()));
    graph_->set_initializer(ids[i], owned[i].bytes() <= kSmallBytes ? Value(owned[i].clone()) : Value());
  }
}

bool RegionSource::has_host_inputs() const { return std::ranges::find(host_inputs_, true) != host_inputs_.end(); }

StaticRegion RegionSource::at(std::span<const Shape> shapes, std::span<const Tensor> host_values) const {
  StaticRegion region{graph_->clone(), {}, {}};
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
  region.contents = infer_types(graph);
  return region;
}

}  // namespace rh::gpu
