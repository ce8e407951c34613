#include "partition/resize_layout.h"

#include <algorithm>

namespace rh {

namespace {

constexpr int kFirstVersion = 11;  // of those that the domain has
constexpr size_t kScales = 2, kSizes = 3;

const std::vector<int64_t>* named_axes(const Node& node) {
  const Attribute* axes = node.attribute("axes");
  const auto* list = axes ? axes->get<std::vector<int64_t>>() : nullptr;
  return list && !list->empty() ? list : nullptr;
}

bool crops(const Node& node) {
  const Attribute* mode = node.attribute("coordinate_transformation_mode");
  const auto* text = mode ? mode->get<std::string>() : nullptr;
  return text && *text == "tf_crop_and_resize";
}

template <typename T>
Tensor permuted(const Tensor& list, const std::vector<int64_t>& axes) {
  std::vector<T> values;
  for (int64_t axis : axes) values.push_back(list.data<T>()[axis]);
  return Tensor::from<T>(list.shape(), values);
}

}  // namespace

bool resize_can_follow(const Graph& graph, const Node& node) {
  if (node.opset < kFirstVersion || crops(node)) return false;
  if (named_axes(node)) return true;
  const ValueType& type = graph.value(node.inputs[0]).type;
  const auto rank = static_cast<int64_t>(type.tensor().dims->size());
  for (size_t i = kScales; i <= kSizes && i < node.inputs.size(); ++i) {
    if (node.inputs[i] == kNoValue) continue;
    const Tensor* list = graph.value(node.inputs[i]).constant_tensor();
    if (!list || (list->elements() != 0 && list->elements() != rank)) return false;
    if (list->dtype() != (i == kScales ? DType::float32 : DType::int64)) return false;
  }
  return true;
}

void resize_follow(Graph& graph, NodeId id, const std::vector<int64_t>& axes) {
  const Node& node = graph.node(id);
  const auto rank = static_cast<int64_t>(axes.size());
  if (const auto* named = named_axes(node)) {
    std::vector<int64_t> moved;
    for (int64_t axis : *named) moved.push_back(std::ranges::find(axes, axis < 0 ? axis + rank : axis) - axes.begin());
    graph.set_attribute(id, {"axes", std::move(moved)});
    return;
  }
  for (size_t i = kScales; i <= kSizes && i < node.inputs.size(); ++i) {
    const ValueId input = node.inputs[i];
    const Tensor* list = input == kNoValue ? nullptr : graph.value(input).constant_tensor();
    if (!list || list->elements() != rank) continue;
    Tensor moved = i == kScales ? permuted<float>(*list, axes) : permuted<int64_t>(*list, axes);
    graph.set_input(id, i, graph.add_initializer(graph.fresh_name(graph.value(input).name + "_channels_last"), Value(std::move(moved))));
  }
}

}  // namespace rh
