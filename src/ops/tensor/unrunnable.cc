#include "ops/tensor/unrunnable.h"

#include "ops/registry.h"
#include "ops/schema.h"

namespace rh::ops {

namespace {

constexpr std::string_view kMessage = "roundhouse.message", kCode = "roundhouse.code", kTypes = "roundhouse.types";

bool is_mark(const Attribute& attribute) { return attribute.name == kMessage || attribute.name == kCode || attribute.name == kTypes; }

// The element type of an output: the only one that its port allows, or that of an input of the same type parameter.
DType type_of_output(const NodeView& node, const OpSchema& schema, int output) {
  const Port* port = schema.output(output);
  if (!port) return DType::undefined;
  for (int i = 0; i < node.input_count(); ++i) {
    const Port* input = schema.input(i);
    if (input && input->type == port->type && node.has_input(i) && node.input_type(i).is_tensor()) return node.input_type(i).tensor().dtype;
  }
  const TypeSet& allowed = *port->allowed;
  const bool tensors_alone = !allowed.sequence && !allowed.optional && !allowed.optional_sequence && !allowed.sparse;
  if (!tensors_alone || !allowed.tensor || (allowed.tensor & (allowed.tensor - 1))) return DType::undefined;
  return static_cast<DType>(std::countr_zero(allowed.tensor));
}

std::vector<int64_t> types_of_outputs(const NodeView& node) {
  std::vector<int64_t> types(static_cast<size_t>(node.output_count()), 0);
  const OpSchema* schema = find_schema(node.domain(), node.op_type(), node.opset());
  if (!schema && node.output_count() > 0 && node.input_count() > 0 && node.input_type(0).is_tensor()) {
    types[0] = static_cast<int64_t>(node.input_type(0).tensor().dtype);
  }
  for (int i = 0; schema && i < node.output_count(); ++i) {
    types[static_cast<size_t>(i)] = static_cast<int64_t>(type_of_output(node, *schema, i));
  }
  return types;
}

}  // namespace

Unrunnable Unrunnable::read(const NodeView& node) {
  return {.message = node.required_string(kMessage),
          .code = static_cast<ErrorCode>(node.required_int(kCode)),
          .types = node.ints_or(kTypes, {})};
}

void infer(const Unrunnable& op, InferenceContext& context) {
  for (size_t i = 0; i < op.types.size(); ++i) {
    if (op.types[i] > 0) context.set_output(static_cast<int>(i), static_cast<DType>(op.types[i]), std::nullopt);
  }
}

void make_unrunnable(const NodeView& view, Node& node, ErrorCode code, const std::string& message) {
  if (node.provenance.empty()) {
    node.provenance.push_back(
        std::make_shared<const OriginalNode>(OriginalNode{node.name, node.op_type, node.id, node.domain, node.opset, nullptr}));
  }
  std::vector<int64_t> types = types_of_outputs(view);
  node.attributes.push_back({std::string(kMessage), message});
  node.attributes.push_back({std::string(kCode), static_cast<int64_t>(code)});
  node.attributes.push_back({std::string(kTypes), std::move(types)});
  node.op_type = "Unrunnable";
  node.domain = "roundhouse";
  node.opset = 1;
}

std::optional<Node> runnable_form(const Node& node) {
  if (node.op_type != "Unrunnable" || node.domain != "roundhouse" || node.provenance.empty()) return std::nullopt;
  const OriginalNode& original = *node.provenance.front();
  Node form = node;
  form.op_type = original.op_type;
  form.domain = original.domain;
  form.opset = original.opset;
  std::erase_if(form.attributes, is_mark);
  return form;
}

}  // namespace rh::ops

RH_DEFINE_OP(Unrunnable)
