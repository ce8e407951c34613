#include "ops/tensor/unrunnable.h"

#include "ops/registry.h"

namespace rh::ops {

Unrunnable Unrunnable::read(const NodeView& node) { return {.message = node.required_string("message")}; }

void infer(const Unrunnable&, InferenceContext& context) { context.set_output(0, context.input_dtype(0), std::nullopt); }

void make_unrunnable(Node& node, const std::string& message) {
  if (node.provenance.empty()) {
    node.provenance.push_back(
        std::make_shared<const OriginalNode>(OriginalNode{node.name, node.op_type, node.id, node.domain, node.opset, nullptr}));
  }
  node.attributes = {{"message", message}};
  node.op_type = "Unrunnable";
  node.domain = "roundhouse";
  node.opset = 1;
}

}  // namespace rh::ops

RH_DEFINE_OP(Unrunnable)
