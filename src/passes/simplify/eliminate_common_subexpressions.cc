// Pattern: two nodes of one operator, with the same inputs, or equal small constants, and attributes.
// Replacement: the first of them.
// Not: operators of other domains, random ones, subgraphs, QuantizeLinear and DequantizeLinear.

#include <algorithm>
#include <unordered_map>

#include "passes/driver/pass.h"
#include "passes/driver/rewrite.h"

namespace rh::passes {

namespace {

constexpr size_t kSmallConstantBytes = 1024;
constexpr int64_t kMostShared = 8;  // elements of constants that ONNX Runtime shares

template <typename T>
void append(std::string& key, const T& value) {
  key.append(reinterpret_cast<const char*>(&value), sizeof(value));
}

void append_text(std::string& key, std::string_view text) {
  append(key, text.size());
  key += text;
}

void append_tensor(std::string& key, const Tensor& tensor) {
  append(key, tensor.dtype());
  append(key, tensor.shape().size());
  for (int64_t d : tensor.shape()) append(key, d);
  if (tensor.dtype() == DType::string) {
    for (const std::string& element : tensor.span<std::string>()) append_text(key, element);
  } else {
    key.append(static_cast<const char*>(tensor.raw()), tensor.bytes());
  }
}

// False for kinds that are not compared.
bool append_attribute(std::string& key, const Attribute& attribute) {
  append_text(key, attribute.name);
  append(key, attribute.value.index());
  if (const auto* v = attribute.get<int64_t>()) {
    append(key, *v);
  } else if (const auto* f = attribute.get<float>()) {
    append(key, *f);
  } else if (const auto* s = attribute.get<std::string>()) {
    append_text(key, *s);
  } else if (const auto* ints = attribute.get<std::vector<int64_t>>()) {
    append(key, ints->size());
    for (int64_t i : *ints) append(key, i);
  } else if (const auto* floats = attribute.get<std::vector<float>>()) {
    append(key, floats->size());
    for (float f : *floats) append(key, f);
  } else if (const auto* strings = attribute.get<std::vector<std::string>>()) {
    append(key, strings->size());
    for (const std::string& text : *strings) append_text(key, text);
  } else if (const auto* tensor = attribute.get<Tensor>(); tensor && tensor->bytes() <= kSmallConstantBytes) {
    append_tensor(key, *tensor);
  } else {
    return false;
  }
  return true;
}

// Pairs of quantisation nodes stay with the operators beside them.
bool is_kept(const Node& node) {
  return !node.domain.empty() || is_random(node) || has_subgraph(node) || node.op_type == "QuantizeLinear" ||
         node.op_type == "DequantizeLinear";
}

class Finder : NodePass {
 public:
  using NodePass::NodePass;

  Edit run() {
    for (NodeId id : graph_.topological_order()) {
      const Node& node = graph_.node(id);
      std::string key;
      if (is_kept(node) || !append_node(key, node)) continue;
      const auto [first, is_new] = first_.try_emplace(std::move(key), id);
      if (!is_new) merge(graph_.node(first->second), node);
    }
    return rewrite_.take();
  }

 private:
  // Small constants are the same where their contents are.
  ValueId canonical(ValueId id) {
    if (id == kNoValue) return id;
    id = rewrite_.current(id);
    const Tensor* tensor = graph_.value(id).constant_tensor();
    if (!tensor || tensor->bytes() > kSmallConstantBytes) return id;
    if (context_.for_tools && (!context_.shares_constants || tensor->elements() > kMostShared)) return id;
    std::string key;
    append_tensor(key, *tensor);
    return constants_.try_emplace(std::move(key), id).first->second;
  }

  bool append_node(std::string& key, const Node& node) {
    append_text(key, node.op_type);
    append(key, node.opset);
    append(key, node.inputs.size());
    for (ValueId input : node.inputs) append(key, canonical(input));
    append(key, node.outputs.size());
    for (ValueId output : node.outputs) append(key, output == kNoValue);
    std::vector<const Attribute*> attributes;
    for (const Attribute& attribute : node.attributes) attributes.push_back(&attribute);
    std::sort(attributes.begin(), attributes.end(), [](const Attribute* a, const Attribute* b) { return a->name < b->name; });
    return std::all_of(attributes.begin(), attributes.end(), [&](const Attribute* a) { return append_attribute(key, *a); });
  }

  void merge(const Node& first, const Node& second) {
    for (size_t i = 0; i < second.outputs.size(); ++i) {
      if (second.outputs[i] != kNoValue && !rewrite_.can_replace(second.outputs[i], first.outputs[i])) return;
    }
    if (!context_.admit()) return;
    for (size_t i = 0; i < second.outputs.size(); ++i) {
      if (second.outputs[i] != kNoValue) rewrite_.replace(second.outputs[i], first.outputs[i]);
    }
    rewrite_.remove(second.id);
  }

  std::unordered_map<std::string, NodeId> first_;
  std::unordered_map<std::string, ValueId> constants_;
};

}  // namespace

Edit eliminate_common_subexpressions(const Graph& graph, PassContext& context) { return Finder(graph, context).run(); }

}  // namespace rh::passes
