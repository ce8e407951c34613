#include "providers/plugin/control_flow.h"

#include <limits>
#include <memory>

#include "base/cancellation.h"
#include "ops/control_flow/loop.h"
#include "ops/node_view.h"
#include "providers/plugin/subgraph_kernel.h"

namespace rh::plugin {

namespace {

/// One number of an input on the host.
int64_t host_number(const RunContext& run, int i, const char* what) {
  check_on_host(run, i, what);
  const Tensor& tensor = run.input_tensor(i);
  if (tensor.elements() != 1) fail(ErrorCode::invalid_argument, "{} has {} elements, expected 1", what, tensor.elements());
  return tensor.dtype() == DType::boolean ? int64_t{*tensor.data<bool>()} : *tensor.data<int64_t>();
}

template <typename T>
Tensor small_tensor(int rank, T value) {
  return Tensor::from<T>(Shape(static_cast<size_t>(rank), 1), std::span<const T>(&value, 1));
}

Status run_if(OrtKernelContext& context, const Mover& mover) {
  SubgraphRunner& branch = context.run.subgraph(host_number(context.run, 0, "If: the condition") != 0 ? 1 : 0);
  std::vector<Value> outputs(static_cast<size_t>(branch.output_count()));
  RH_RETURN_IF_ERROR(branch.run({}, outputs));
  for (int i = 0; i < context.run.output_count(); ++i) give(context, mover, i, outputs[static_cast<size_t>(i)]);
  return {};
}

class LoopRun {
 public:
  LoopRun(const ops::Loop& op, const Mover& mover, OrtLoopKernelHelper& helper) : op_(op), mover_(mover), helper_(helper) {}

  Status run(OrtKernelContext& context) {
    RunContext& run = context.run;
    const int64_t limit = run.has_input(0) ? host_number(run, 0, "Loop: the trip count") : std::numeric_limits<int64_t>::max();
    bool goes_on = !run.has_input(1) || host_number(run, 1, "Loop: the condition") != 0;
    SubgraphRunner& body = run.subgraph(0);
    const size_t carried = static_cast<size_t>(op_.carried);
    std::vector<Value> inputs(2 + carried), outputs(static_cast<size_t>(body.output_count()));
    for (size_t i = 0; i < carried; ++i) inputs[2 + i] = run.input_value(static_cast<int>(2 + i));
    inputs[1] = small_tensor<bool>(op_.condition_rank, goes_on);
    scans_.resize(static_cast<size_t>(op_.scans));
    if (!scans_.empty() && (!goes_on || limit <= 0)) {
      inputs[0] = small_tensor<int64_t>(op_.iteration_rank, 0);
      types_ = body.output_types(inputs, {});
    }
    for (int64_t iteration = 0; goes_on && iteration < limit; ++iteration) {
      throw_if_cancelled();
      inputs[0] = small_tensor<int64_t>(op_.iteration_rank, iteration);
      RH_RETURN_IF_ERROR(body.run(inputs, outputs));
      const Tensor& condition = outputs[0].tensor();
      if (condition.elements() != 1)
        fail(ErrorCode::invalid_argument, "Loop: the body gives {} conditions, expected 1", condition.elements());
      goes_on = *condition.data<bool>();
      inputs[1] = small_tensor<bool>(op_.condition_rank, goes_on);
      for (size_t i = 0; i < carried; ++i) inputs[2 + i] = std::move(outputs[1 + i]);
      for (size_t i = 0; i < scans_.size(); ++i) scans_[i].push_back(std::move(outputs[1 + carried + i]));
    }
    for (int i = 0; i < op_.carried; ++i) give(context, mover_, i, inputs[static_cast<size_t>(2 + i)]);
    for (size_t i = 0; i < scans_.size(); ++i) join(context, i);
    return {};
  }

 private:
  void join(OrtKernelContext& context, size_t scan) const {
    const int output = op_.carried + static_cast<int>(scan);
    if (!context.run.has_output(output)) return;
    const std::vector<Value>& values = scans_[scan];
    Shape shape{static_cast<int64_t>(values.size())};
    if (values.empty()) {
      const ValueType& row = types_[static_cast<size_t>(1 + output)];
      for (int64_t size : shape_or_zeros(row)) shape.push_back(size);
      (void)output_tensor(context, output, row.is_tensor() ? row.tensor().dtype : DType::undefined, shape);
      return;
    }
    const Tensor& first = values[0].tensor();
    for (int64_t dim : first.shape()) shape.push_back(dim);
    std::vector<OrtValue> pieces;
    for (const Value& value : values) {
      const Tensor& one = value.tensor();
      if (one.dtype() != first.dtype() || !(one.shape() == first.shape())) {
        fail(ErrorCode::invalid_argument, "Loop: scan output {} is {} in one iteration and {} in another", scan, first.shape().to_string(),
             one.shape().to_string());
      }
      pieces.push_back(as_value(context, one));
    }
    std::vector<const OrtValue*> pointers;
    for (const OrtValue& piece : pieces) pointers.push_back(&piece);
    Tensor to = output_tensor(context, output, first.dtype(), shape);
    call("Loop", "OrtLoopKernelHelper::ConcatOutput",
         [&] { return helper_.ConcatOutput(&helper_, nullptr, pointers.data(), pointers.size(), to.raw(), to.bytes()); });
  }

  const ops::Loop& op_;
  const Mover& mover_;
  OrtLoopKernelHelper& helper_;
  std::vector<std::vector<Value>> scans_;
  std::vector<ValueType> types_;  ///< of what the first iteration would give, where there is none
};

}  // namespace

OrtKernelImpl* make_if_kernel(const OrtKernelInfo& info) {
  check_operator(info, "If");
  return make_subgraph_kernel([mover = Mover(info)](OrtKernelContext& context) { return run_if(context, mover); });
}

OrtKernelImpl* make_loop_kernel(const OrtKernelInfo& info, OrtLoopKernelHelper& helper) {
  check_operator(info, "Loop");
  if (!RH_HAS(helper, 24, ConcatOutput)) fail(ErrorCode::invalid_argument, "the OrtLoopKernelHelper has no ConcatOutput");
  const auto op = std::make_shared<const ops::Loop>(ops::Loop::read(NodeView(*info.graph, *info.node)));
  return make_subgraph_kernel(
      [op, mover = Mover(info), held = hold(helper)](OrtKernelContext& context) { return LoopRun(*op, mover, *held).run(context); });
}

}  // namespace rh::plugin
