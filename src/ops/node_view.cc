#include "ops/node_view.h"

namespace rh {

template <typename T>
const T* NodeView::find(std::string_view name, const char* kind) const {
  const Attribute* attribute = node_.attribute(name);
  if (!attribute) return nullptr;
  const T* value = attribute->get<T>();
  if (!value) fail("attribute '{}' has the wrong kind, expected {}", name, kind);
  return value;
}

const Tensor* NodeView::constant_input(int i) const { return has_input(i) ? graph_.value(node_.inputs[i]).constant_tensor() : nullptr; }

const ValueType& NodeView::input_type(int i) const { return has_input(i) ? graph_.value(node_.inputs[i]).type : kUnknownType; }

int64_t NodeView::int_or(std::string_view name, int64_t otherwise) const {
  const auto* value = find<int64_t>(name, "an integer");
  return value ? *value : otherwise;
}

float NodeView::float_or(std::string_view name, float otherwise) const {
  const auto* value = find<float>(name, "a float");
  return value ? *value : otherwise;
}

std::string NodeView::string_or(std::string_view name, std::string_view otherwise) const {
  const auto* value = find<std::string>(name, "a string");
  return value ? *value : std::string(otherwise);
}

std::vector<int64_t> NodeView::ints_or(std::string_view name, std::vector<int64_t> otherwise) const {
  const auto* value = find<std::vector<int64_t>>(name, "a list of integers");
  return value ? *value : std::move(otherwise);
}

std::vector<float> NodeView::floats_or(std::string_view name, std::vector<float> otherwise) const {
  const auto* value = find<std::vector<float>>(name, "a list of floats");
  return value ? *value : std::move(otherwise);
}

std::vector<std::string> NodeView::strings_or(std::string_view name, std::vector<std::string> otherwise) const {
  const auto* value = find<std::vector<std::string>>(name, "a list of strings");
  return value ? *value : std::move(otherwise);
}

std::optional<std::vector<int64_t>> NodeView::ints(std::string_view name) const {
  const auto* value = find<std::vector<int64_t>>(name, "a list of integers");
  return value ? std::optional(*value) : std::nullopt;
}

const Tensor* NodeView::tensor(std::string_view name) const { return find<Tensor>(name, "a tensor"); }

const Graph* NodeView::subgraph(std::string_view name) const {
  const auto* value = find<std::shared_ptr<Graph>>(name, "a graph");
  return value ? value->get() : nullptr;
}

int64_t NodeView::required_int(std::string_view name) const {
  if (!has(name)) fail("attribute '{}' is missing, expected an integer", name);
  return int_or(name, 0);
}

float NodeView::required_float(std::string_view name) const {
  if (!has(name)) fail("attribute '{}' is missing, expected a number", name);
  return float_or(name, 0);
}

std::vector<int64_t> NodeView::required_ints(std::string_view name) const {
  if (!has(name)) fail("attribute '{}' is missing, expected a list of integers", name);
  return ints_or(name);
}

std::string NodeView::required_string(std::string_view name) const {
  if (!has(name)) fail("attribute '{}' is missing, expected a string", name);
  return string_or(name, "");
}

}  // namespace rh
