#include "providers/gpu/plan/known_branches.h"

#include "graph/edit.h"
#include "passes/driver/driver.h"
#include "providers/gpu/plan/known_loops.h"
#include "providers/gpu/plan/known_numbers.h"

namespace rh {

namespace passes {
Edit inline_constant_branches(const Graph& graph, PassContext& context);
}

namespace gpu {

namespace {

constexpr Pass kInline[] = {{"inline_constant_branches", PassLevel::basic, passes::inline_constant_branches, nullptr},
                            {"unroll_known_loops", PassLevel::basic, unroll_known_loops, nullptr}};

bool is_if(const Node& node) { return node.op_type == "If" && node.domain.empty(); }

/// Makes constants of conditions that are known. Whether some If has one now, or some Loop can be unrolled.
bool fix_conditions(Graph& graph, const KnownContents& contents) {
  Edit edit(graph);
  bool is_any = false;
  for (const NodeId id : graph.nodes()) {
    const Node& node = graph.node(id);
    is_any |= node.op_type == "Loop" && node.domain.empty() && known_trips(graph, node).has_value();
    if (!is_if(node)) continue;
    const ValueId condition = node.inputs.at(0);
    const bool is_constant = graph.value(condition).constant_tensor() != nullptr;
    is_any |= is_constant;
    const std::optional<double> known = is_constant ? std::nullopt : number_of(graph, condition, contents);
    if (!known) continue;
    Tensor value(DType::boolean, Shape{});
    *value.data<bool>() = *known != 0;
    edit.set_input(id, 0, edit.add_constant("condition", Value(std::move(value))));
    is_any = true;
  }
  if (!edit.empty()) std::move(edit).apply(graph);
  return is_any;
}

}  // namespace

KnownContents inline_known_branches(Graph& graph) {
  KnownContents contents = infer_types(graph);
  while (fix_conditions(graph, contents)) {
    run_passes(graph, kInline, {.check = false});
    contents = infer_types(graph);
  }
  return contents;
}

}  // namespace gpu

}  // namespace rh
