#include "ops/control_flow/loop.h"

#include <algorithm>

#include "ops/control_flow/subgraph_types.h"
#include "ops/dim_rules.h"
#include "ops/registry.h"

namespace rh::ops {

namespace {

int declared_rank(const Graph& body, size_t input) {
  const ValueType& type = body.value(body.inputs()[input]).type;
  return type.is_tensor() && type.tensor().has_rank() && type.tensor().rank() == 1 ? 1 : 0;
}

// True where the body can never end the loop: its condition is constantly true, or the one it was given, which is true or left out.
bool never_ends_early(const InferenceContext& context, const Graph& body) {
  const Tensor* given = context.input_constant(1);
  if (context.has_input(1) && !(given && given->dtype() == DType::boolean && given->elements() == 1 && *given->data<bool>())) return false;
  ValueId id = body.outputs()[0];
  for (const Node* node = body.producer(id); node && node->op_type == "Identity" && node->domain.empty(); node = body.producer(id)) {
    id = node->inputs[0];
  }
  if (id == body.inputs()[1]) return true;
  const Tensor* constant = body.value(id).constant_tensor();
  if (const Node* node = body.producer(id); node && node->op_type == "Constant") {
    const Attribute* value = node->attribute("value");
    constant = value ? value->get<Tensor>() : nullptr;
  }
  return constant && constant->dtype() == DType::boolean && constant->elements() == 1 && *constant->data<bool>();
}

Dim trip_count(const InferenceContext& context, const Graph& body) {
  const auto count = context.input_contents(0);
  if (!count || count->size() != 1 || count->front().is_unknown() || !never_ends_early(context, body)) return {};
  return clamp_to_zero(count->front());
}

}  // namespace

Loop Loop::read(const NodeView& node) {
  const Graph* body = node.subgraph("body");
  if (!body) node.fail("attribute 'body' is missing, expected a graph");
  Loop op;
  op.carried = std::max(0, node.input_count() - 2);
  const size_t inputs = 2 + static_cast<size_t>(op.carried);
  if (body->inputs().size() != inputs || static_cast<int>(body->outputs().size()) < node.output_count() + 1 ||
      node.output_count() < op.carried) {
    node.fail("body has {} inputs and {} outputs, expected {} and {} for a node with {} outputs", body->inputs().size(),
              body->outputs().size(), inputs, node.output_count() + 1, node.output_count());
  }
  op.iteration_rank = declared_rank(*body, 0);
  op.condition_rank = declared_rank(*body, 1);
  op.scans = static_cast<int>(body->outputs().size()) - 1 - op.carried;
  return op;
}

void infer(const Loop& op, InferenceContext& context) {
  std::vector<ValueType> inputs{ValueType::tensor(DType::int64, SymbolicShape(static_cast<size_t>(op.iteration_rank), Dim(1))),
                                ValueType::tensor(DType::boolean, SymbolicShape(static_cast<size_t>(op.condition_rank), Dim(1)))};
  for (int i = 0; i < op.carried; ++i) inputs.push_back(context.input_type(i + 2));
  const CarriedTypes types = infer_loop_body(context, std::move(inputs), 2, 1, op.carried);
  for (int i = 0; i < op.carried; ++i) context.set_output(i, after_loop(context, types, i + 2, i + 1));
  const Dim trips = trip_count(context, *context.node().subgraph("body"));
  for (int i = op.carried; i < context.output_count(); ++i) {
    const ValueType one = visible_outside(context, types.outputs[i + 1]);
    if (!one.is_unknown() && !one.is_tensor()) context.node().fail("scan output {} is a {}, expected a tensor", i, one.to_string());
    TensorType all = one.is_tensor() ? one.tensor() : TensorType{};
    if (all.has_rank()) all.dims->insert(all.dims->begin(), trips);
    context.set_output(i, std::move(all));
  }
}

}  // namespace rh::ops

RH_DEFINE_OP(Loop)
