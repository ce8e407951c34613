#include <deque>

#include "providers/cpu/kernel.h"

namespace rh::cpu {

namespace {

/// A run of one node by itself: every output in memory of its own, or of the caller where it fits.
class SingleNodeContext final : public RunContext {
 public:
  SingleNodeContext(std::span<const Value* const> inputs, std::span<const DType> dtypes, std::span<const bool> wanted,
                    std::span<Value> outputs, const Parallel& parallel, size_t max_bytes)
      : RunContext(inputs, dtypes, wanted, parallel), outputs_(outputs), max_bytes_(max_bytes) {}

  MutableView output(int i, DType dtype, const Shape& shape) override {
    check_size(bytes_of(dtype, shape.elements()));
    Value& value = outputs_[static_cast<size_t>(i)];
    if (!value.is_tensor() || value.tensor().dtype() != dtype || value.tensor().shape() != shape) value = Tensor(dtype, shape);
    return value.tensor().mutable_view();
  }
  void set_output(int i, Value value) override { outputs_[static_cast<size_t>(i)] = std::move(value); }
  void output_part(int i, int from, int64_t first, const Shape& shape) override {
    outputs_[static_cast<size_t>(i)] = input_tensor(from).part(first, shape).clone();
  }
  void* scratch(size_t bytes) override {
    check_size(bytes);
    return scratch_.emplace_back(DType::uint8, Shape{static_cast<int64_t>(bytes)}).raw();
  }
  SubgraphRunner& subgraph(int) override { fail(ErrorCode::not_implemented, "a node with subgraphs cannot be evaluated by itself"); }

 private:
  void check_size(size_t bytes) const {
    if (bytes > max_bytes_) fail(ErrorCode::runtime_exception, "{} bytes are asked for, expected at most {}", bytes, max_bytes_);
  }

  std::span<Value> outputs_;
  size_t max_bytes_;
  std::deque<Tensor> scratch_;
};

}  // namespace

void run_alone(const Kernel& kernel, std::span<const Value* const> inputs, std::span<const DType> dtypes, std::span<const bool> wanted,
               std::span<Value> outputs, const Parallel& parallel, size_t max_bytes) {
  SingleNodeContext context(inputs, dtypes, wanted, outputs, parallel, max_bytes);
  if (Status status = kernel.run(context); !status.ok()) throw Error(status.code(), std::string(status.message()));
}

std::vector<Value> evaluate_node(const Graph& graph, const Node& node, std::span<const Value> inputs, const Parallel& parallel,
                                 size_t max_bytes) {
  const NodeView view(graph, node);
  const std::unique_ptr<Kernel> kernel = make_kernel(KernelInfo(view));
  std::vector<const Value*> pointers;
  for (const Value& input : inputs) pointers.push_back(input.empty() ? nullptr : &input);
  std::vector<DType> dtypes;
  const std::unique_ptr<bool[]> wanted(new bool[node.outputs.size() + 1]);
  for (size_t i = 0; i < node.outputs.size(); ++i) {
    wanted[i] = node.outputs[i] != kNoValue;
    const ValueType type = wanted[i] ? graph.value(node.outputs[i]).type : ValueType();
    dtypes.push_back(type.is_tensor() ? type.tensor().dtype : DType::undefined);
  }
  std::vector<Value> outputs(node.outputs.size());
  try {
    run_alone(*kernel, pointers, dtypes, std::span<const bool>(wanted.get(), node.outputs.size()), outputs, parallel, max_bytes);
  } catch (Error& error) {
    error.add(node.where());
    throw;
  }
  return outputs;
}

}  // namespace rh::cpu
