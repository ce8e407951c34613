#include <cstring>
#include <memory>

#include "base/cancellation.h"
#include "ops/control_flow/scan.h"
#include "ops/node_view.h"
#include "providers/plugin/control_flow.h"
#include "providers/plugin/subgraph_kernel.h"

namespace rh::plugin {

namespace {

class ScanRun {
 public:
  ScanRun(const ops::Scan& op, const Mover& mover, OrtScanKernelHelper& helper, OrtKernelContext& context)
      : op_(op), mover_(mover), helper_(helper), context_(context) {}

  Status run() {
    made_.resize(op_.outputs());
    RH_RETURN_IF_ERROR(op_.batched ? run_batch() : run_single());
    for (size_t i = 0; i < made_.size(); ++i) finish(i);
    return {};
  }

 private:
  Status run_single() {
    std::vector<Value> states;
    for (int i = 0; i < op_.states; ++i) states.push_back(context_.run.input_value(i));
    for (int i = 0; i < op_.scans; ++i) add_scanned(context_.run.input_tensor(op_.states + i), static_cast<size_t>(i));
    RH_RETURN_IF_ERROR(run_sequence(scanned_, length_, states, 0));
    for (int i = 0; i < op_.states; ++i) give(context_, mover_, i, states[static_cast<size_t>(i)]);
    return {};
  }

  /// Opset 8: each item of the batch by itself; what a shorter sequence does not write stays 0.
  Status run_batch() {
    RunContext& run = context_.run;
    const int first = op_.first_input();
    std::vector<Shape> shapes;
    for (int i = 0; i < op_.states + op_.scans; ++i) shapes.push_back(run.input_tensor(first + i).shape());
    if (run.has_input(0)) check_on_host(run, 0, "Scan: the sequence lengths");
    const ops::ScanBatch items = ops::batch_of(op_, shapes, run.has_input(0) ? &run.input_tensor(0) : nullptr);
    length_ = items.length;
    batch_ = static_cast<int64_t>(items.lengths.size());
    std::vector<Tensor> results(static_cast<size_t>(op_.states));
    for (int64_t b = 0; b < batch_; ++b) {
      std::vector<Value> states;
      std::vector<Tensor> scanned;
      for (int i = 0; i < op_.states; ++i) states.emplace_back(slice(run.input_tensor(first + i), b));
      for (int i = 0; i < op_.scans; ++i) scanned.push_back(slice(run.input_tensor(first + op_.states + i), b));
      RH_RETURN_IF_ERROR(run_sequence(scanned, items.lengths[static_cast<size_t>(b)], states, b));
      for (int i = 0; i < op_.states; ++i) put_state(results[static_cast<size_t>(i)], states[static_cast<size_t>(i)].tensor(), i, b);
    }
    for (int i = 0; batch_ == 0 && i < op_.states; ++i) {
      if (run.has_output(i)) (void)output_tensor(context_, i, run.input_tensor(first + i).dtype(), shapes[static_cast<size_t>(i)]);
    }
    return {};
  }

  /// One sequence, the one at `item` of the batch; the states become the last ones.
  Status run_sequence(const std::vector<Tensor>& scanned, int64_t length, std::vector<Value>& states, int64_t item) {
    SubgraphRunner& body = context_.run.subgraph(0);
    const size_t carried = states.size();
    std::vector<Value> inputs(carried + scanned.size()), outputs(static_cast<size_t>(body.output_count()));
    for (int64_t t = 0; t < length; ++t) {
      throw_if_cancelled();
      for (size_t i = 0; i < carried; ++i) inputs[i] = std::move(states[i]);
      for (size_t i = 0; i < scanned.size(); ++i) inputs[carried + i] = slice(scanned[i], op_.input_backwards[i] ? length - 1 - t : t);
      RH_RETURN_IF_ERROR(body.run(inputs, outputs));
      for (size_t i = 0; i < carried; ++i) states[i] = std::move(outputs[i]);
      for (size_t i = 0; i < made_.size(); ++i) {
        take(outputs[carried + i].tensor(), i, item, op_.output_backwards[i] ? length - 1 - t : t);
      }
    }
    return {};
  }

  void put_state(Tensor& all, const Tensor& state, int i, int64_t item) {
    if (!context_.run.has_output(i)) return;
    if (!all.defined()) {
      Shape shape = state.shape();
      shape.insert(0, batch_);
      all = output_tensor(context_, i, state.dtype(), shape);
    }
    copy_to_slice(state, all, item, i);
  }

  void copy_to_slice(const Tensor& one, const Tensor& all, int64_t at, int output) {
    Tensor place = slice(all, at);
    if (place.dtype() != one.dtype() || !(place.shape() == one.shape())) {
      fail(ErrorCode::invalid_argument, "Scan: output {} is {} in one iteration, expected {}", output, one.shape().to_string(),
           place.shape().to_string());
    }
    mover_.copy(one, place);
  }

  /// The scanned axis comes first.
  void add_scanned(const Tensor& x, size_t i) {
    const int rank = x.shape().rank(), axis = normalized(op_.input_axes[i], rank);
    const int64_t length = x.shape()[axis];
    if (i > 0 && length != length_) fail(ErrorCode::invalid_argument, "Scan: input {} has {} slices, expected {}", i, length, length_);
    length_ = length;
    scanned_.push_back(axis == 0 ? x : transposed(x, axis, 0));
  }

  static int normalized(int64_t axis, int rank) {
    const int64_t at = axis < 0 ? axis + rank : axis;
    if (at < 0 || at >= rank) fail(ErrorCode::invalid_argument, "Scan: axis {} is not in [{}, {}]", axis, -rank, rank - 1);
    return static_cast<int>(at);
  }

  /// Axis `from` goes to position `to`, in memory of its own.
  Tensor transposed(const Tensor& x, int from, int to) {
    Tensor y = mover_.make(x.dtype(), moved_shape(x.shape(), from, to), x.device());
    transpose_into(x, y, from, to);
    return y;
  }

  static std::vector<size_t> order(int rank, int from, int to) {
    std::vector<size_t> axes;
    for (int k = 0; k < rank; ++k) {
      if (k != from) axes.push_back(static_cast<size_t>(k));
    }
    axes.insert(axes.begin() + to, static_cast<size_t>(from));
    return axes;
  }
  static Shape moved_shape(const Shape& shape, int from, int to) {
    Shape moved;
    for (size_t axis : order(shape.rank(), from, to)) moved.push_back(shape[static_cast<int>(axis)]);
    return moved;
  }

  void transpose_into(const Tensor& x, Tensor& y, int from, int to) {
    const std::vector<size_t> axes = order(x.shape().rank(), from, to);
    const OrtValue source = as_value(context_, x);
    OrtValue target = as_value(context_, y);
    call("Scan", "OrtScanKernelHelper::Transpose",
         [&] { return helper_.Transpose(&helper_, axes.data(), axes.size(), &source, nullptr, &target); });
  }

  /// Slice `at` of the first axis, in the tensor's memory.
  static Tensor slice(const Tensor& x, int64_t at) {
    if (bits_of(x.dtype()) < 8) fail(ErrorCode::not_implemented, "Scan: tensors of {} are not cut on devices", to_string(x.dtype()));
    Shape shape = x.shape();
    shape.erase(0);
    const size_t bytes = x.shape()[0] == 0 ? 0 : x.bytes() / static_cast<size_t>(x.shape()[0]);
    auto* data = static_cast<char*>(const_cast<void*>(x.raw()));
    return Tensor(x.dtype(), shape, data + static_cast<size_t>(at) * bytes, x.owner(), x.device());
  }

  void take(const Tensor& one, size_t i, int64_t item, int64_t at) {
    const int output = op_.states + static_cast<int>(i);
    Tensor& all = made_[i];
    if (!all.defined()) {
      Shape shape = one.shape();
      shape.insert(0, length_);
      if (op_.batched) shape.insert(0, batch_);
      const bool straight = output_axis(i, shape.rank()) == 0 && context_.run.has_output(output);
      all = straight ? output_tensor(context_, output, one.dtype(), shape) : mover_.make(one.dtype(), shape, one.device());
      if (op_.batched) clear(all);
    }
    copy_to_slice(one, op_.batched ? slice(all, item) : all, at, output);
  }

  void clear(Tensor& tensor) const {
    if (tensor.dtype() == DType::string || tensor.bytes() == 0) return;
    Tensor zeros(tensor.dtype(), tensor.shape());
    std::memset(zeros.raw(), 0, zeros.bytes());
    mover_.copy(zeros, tensor);
  }

  int output_axis(size_t i, int rank) const { return normalized(op_.output_axes[i], rank); }

  void finish(size_t i) {
    const int output = op_.states + static_cast<int>(i);
    if (!context_.run.has_output(output)) return;
    if (!made_[i].defined()) {
      const ValueType one = type_without_steps(static_cast<size_t>(output));
      Shape shape = shape_or_zeros(one);
      shape.insert(static_cast<size_t>(output_axis(i, shape.rank() + 1)), length_);
      if (op_.batched) shape.insert(0, batch_);
      Tensor empty = output_tensor(context_, output, one.is_tensor() ? one.tensor().dtype : DType::undefined, shape);
      if (op_.batched) clear(empty);
      return;
    }
    const int axis = output_axis(i, made_[i].shape().rank());
    if (axis == 0) return;
    Tensor to = output_tensor(context_, output, made_[i].dtype(), moved_shape(made_[i].shape(), 0, axis));
    transpose_into(made_[i], to, 0, axis);
  }

  /// Of what the first step would give at an output of the body.
  ValueType type_without_steps(size_t output) const {
    const int batch = op_.batched ? 1 : 0;
    std::vector<ValueType> types;
    for (int i = 0; i < op_.states + op_.scans; ++i) {
      const Tensor& x = context_.run.input_tensor(op_.first_input() + i);
      SymbolicShape dims(x.shape().begin() + batch, x.shape().end());
      if (i >= op_.states)
        dims.erase(dims.begin() + (op_.batched ? 0 : normalized(op_.input_axes[static_cast<size_t>(i - op_.states)], x.shape().rank())));
      types.push_back(ValueType::tensor(x.dtype(), std::move(dims)));
    }
    const std::vector<Value> none(types.size());
    return context_.run.subgraph(0).output_types(none, types)[output];
  }

  const ops::Scan& op_;
  const Mover& mover_;
  OrtScanKernelHelper& helper_;
  OrtKernelContext& context_;
  int64_t length_ = 0, batch_ = 0;
  std::vector<Tensor> scanned_, made_;
};

}  // namespace

OrtKernelImpl* make_scan_kernel(const OrtKernelInfo& info, OrtScanKernelHelper& helper) {
  check_operator(info, "Scan");
  if (!RH_HAS(helper, 24, Transpose)) fail(ErrorCode::invalid_argument, "the OrtScanKernelHelper has no Transpose");
  const auto op = std::make_shared<const ops::Scan>(ops::Scan::read(NodeView(*info.graph, *info.node)));
  return make_subgraph_kernel(
      [op, mover = Mover(info), held = hold(helper)](OrtKernelContext& context) { return ScanRun(*op, mover, *held, context).run(); });
}

}  // namespace rh::plugin
