#include "providers/gpu/plan/known_loops.h"

#include "ops/control_flow/loop.h"
#include "passes/driver/body_copy.h"

namespace rh::gpu {

namespace {

using passes::BodyCopy, passes::Rewrite;

constexpr int64_t kMostTrips = 128, kMostNodes = 2048;

bool is_true(const Tensor* tensor) {
  return tensor && tensor->dtype() == DType::boolean && tensor->elements() == 1 && *tensor->data<bool>();
}

/// Whether the body gives the condition that it was given, or a constant that is true.
bool goes_on(const Graph& body) {
  ValueId id = body.outputs()[0];
  for (const Node* node = body.producer(id); node; node = body.producer(id)) {
    if (passes::is_op(*node, "Constant")) return is_true(NodeView(body, *node).tensor("value"));
    if (!passes::is_op(*node, "Identity")) return false;
    id = node->inputs[0];
  }
  return id == body.inputs()[1] || is_true(body.value(id).constant_tensor());
}

template <typename T>
Value number(DType dtype, int rank, T value) {
  Tensor tensor(dtype, rank == 1 ? Shape{1} : Shape{});
  *tensor.data<T>() = value;
  return Value(std::move(tensor));
}

ValueId add_part(Rewrite& rewrite, const Node& loop, std::string_view op_type, std::vector<ValueId> inputs,
                 std::vector<Attribute> attributes) {
  return rewrite.add_part(passes::part_of(loop, false, op_type, std::move(inputs), std::move(attributes)), loop);
}

/// A scan's output of all trips.
ValueId stacked(Rewrite& rewrite, const Node& loop, const std::vector<ValueId>& trips) {
  const ValueId axis = rewrite.edit().add_constant("axis", number<int64_t>(DType::int64, 1, 0));
  std::vector<ValueId> rows;
  for (const ValueId trip : trips) rows.push_back(add_part(rewrite, loop, "Unsqueeze", {trip, axis}, {}));
  return add_part(rewrite, loop, "Concat", std::move(rows), {{"axis", int64_t{0}}});
}

void unroll(const Graph& graph, Rewrite& rewrite, const Node& node, int64_t trips) {
  const NodeView view(graph, node);
  const ops::Loop op = ops::Loop::read(view);
  const Graph& body = *view.subgraph("body");
  const auto carried = static_cast<size_t>(op.carried), scans = static_cast<size_t>(op.scans);
  std::vector<ValueId> values(node.inputs.begin() + 2, node.inputs.end());
  std::vector<std::vector<ValueId>> rows(scans);
  const ValueId condition = rewrite.edit().add_constant("condition", number(DType::boolean, op.condition_rank, true));
  for (int64_t trip = 0; trip < trips; ++trip) {
    BodyCopy copy(rewrite, body);
    copy.set_input(0, rewrite.edit().add_constant("iteration", number(DType::int64, op.iteration_rank, trip)));
    copy.set_input(1, condition);
    for (size_t i = 0; i < carried; ++i) copy.set_input(2 + i, values[i]);
    copy.add_nodes();
    for (size_t i = 0; i < carried; ++i) values[i] = copy.outside(body.outputs()[1 + i]);
    for (size_t i = 0; i < scans; ++i) rows[i].push_back(copy.outside(body.outputs()[1 + carried + i]));
  }
  for (size_t i = 0; i < node.outputs.size(); ++i) {
    if (node.outputs[i] == kNoValue) continue;
    passes::give_output(rewrite, graph, node, node.outputs[i], i < carried ? values[i] : stacked(rewrite, node, rows[i - carried]));
  }
  rewrite.remove(node.id);
}

}  // namespace

std::optional<int64_t> known_trips(const Graph& graph, const Node& loop) {
  constexpr int kScanByInput = 13;  ///< the opset from which Unsqueeze has its axes as an input
  const NodeView view(graph, loop);
  const ops::Loop op = ops::Loop::read(view);
  const Graph& body = *view.subgraph("body");
  const Tensor* count = view.constant_input(0);
  if (!count || count->dtype() != DType::int64 || count->elements() != 1 || !goes_on(body)) return std::nullopt;
  if (view.has_input(1) && !is_true(view.constant_input(1))) return std::nullopt;
  const int64_t trips = *count->data<int64_t>();
  if (trips < 0 || trips > kMostTrips || trips * static_cast<int64_t>(body.nodes().size()) > kMostNodes) return std::nullopt;
  if (op.scans > 0 && (trips == 0 || view.opset() < kScanByInput)) return std::nullopt;
  return trips;
}

Edit unroll_known_loops(const Graph& graph, PassContext& context) {
  Rewrite rewrite(graph);
  for (const NodeId id : graph.nodes()) {
    const Node& node = graph.node(id);
    if (!passes::is_op(node, "Loop")) continue;
    const std::optional<int64_t> trips = known_trips(graph, node);
    if (trips && context.admit()) unroll(graph, rewrite, node, *trips);
  }
  return rewrite.take();
}

}  // namespace rh::gpu
