#include "providers/sample/lowering.h"

#include <map>

#include "ops/node_view.h"

namespace rh::sample {

namespace {

/// Each value of the graph has a number in the program.
class Lowering {
 public:
  Lowering(const Vendor& vendor, const Graph& graph, const std::vector<ValueId>& inputs)
      : vendor_(vendor), graph_(graph), made_{{vendor.create(static_cast<int>(inputs.size())), vendor.destroy}, {}} {
    if (!program()) fail(ErrorCode::ep_fail, "the sample vendor's sv_create failed");
    for (size_t i = 0; i < inputs.size(); ++i) numbers_[inputs[i]] = static_cast<int>(i);
  }

  OwnedProgram lower(const std::vector<ValueId>& outputs) {
    for (NodeId id : graph_.topological_order()) add(graph_.node(id));
    std::vector<int> numbers;
    for (ValueId output : outputs) numbers.push_back(number(output));
    checked(vendor_.set_outputs(program(), numbers.data(), static_cast<int>(numbers.size())), "sv_set_outputs");
    return std::move(made_);
  }

 private:
  static int checked(int result, const char* function) {
    return result >= 0 ? result : (fail(ErrorCode::ep_fail, "the sample vendor's {} failed", function), -1);
  }

  int number(ValueId id) {
    if (const auto known = numbers_.find(id); known != numbers_.end()) return known->second;
    const Tensor* constant = graph_.value(id).constant_tensor();
    if (!constant) fail(ErrorCode::ep_fail, "value '{}' has no number", graph_.value(id).name);
    const Shape& shape = constant->shape();
    const int made = vendor_.add_constant(program(), constant->data<float>(), shape.begin(), shape.rank());
    made_.steps.emplace_back();
    return numbers_[id] = checked(made, "sv_add_constant");
  }

  Program* program() const { return made_.program.get(); }

  void add(const Node& node) {
    if (node.op_type == "If") return add_branch(node);
    const int result = vendor_.add_step(program(), step_of(node.op_type), number(node.inputs[0]), number(node.inputs[1]));
    made_.steps.push_back(node.display_name());
    numbers_[node.outputs[0]] = checked(result, "sv_add_step");
  }

  // What a body takes from around it are its program's inputs.
  OwnedProgram lower_body(const Graph& body, std::vector<int>& taken) {
    std::vector<ValueId> inputs;
    for (ValueId id = 0; id < body.value_count(); ++id) {
      if (body.value(id).outer == kNoValue) continue;
      inputs.push_back(id);
      taken.push_back(number(body.value(id).outer));
    }
    return Lowering(vendor_, body, inputs).lower(body.outputs());
  }

  void add_branch(const Node& node) {
    const NodeView view(graph_, node);
    std::vector<int> then_inputs, else_inputs;
    OwnedProgram then_program = lower_body(*view.subgraph("then_branch"), then_inputs);
    OwnedProgram else_program = lower_body(*view.subgraph("else_branch"), else_inputs);
    const int condition = number(node.inputs[0]);
    const int first = vendor_.add_branch(program(), condition, then_program.program.release(), then_inputs.data(),
                                         else_program.program.release(), else_inputs.data());
    made_.steps.push_back(node.display_name());
    checked(first, "sv_add_branch");
    for (size_t i = 0; i < node.outputs.size(); ++i) numbers_[node.outputs[i]] = first + static_cast<int>(i);
  }

  const Vendor& vendor_;
  const Graph& graph_;
  OwnedProgram made_;
  std::map<ValueId, int> numbers_;
};

}  // namespace

const char* step_of(std::string_view op) { return op == "Add" ? "add" : op == "Mul" ? "mul" : op == "MatMul" ? "matmul" : nullptr; }

OwnedProgram lower(const Vendor& vendor, const Graph& graph, const std::vector<ValueId>& inputs, const std::vector<ValueId>& outputs) {
  return Lowering(vendor, graph, inputs).lower(outputs);
}

}  // namespace rh::sample
