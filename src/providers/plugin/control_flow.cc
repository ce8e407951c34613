#include "providers/plugin/control_flow.h"

#include <functional>
#include <limits>
#include <memory>

#include "base/cancellation.h"
#include "ops/control_flow/loop.h"
#include "ops/control_flow/scan.h"
#include "ops/node_view.h"
#include "providers/plugin/call.h"
#include "providers/plugin/kernel_context.h"

namespace rh::plugin {

namespace {

/// A kernel of ours in the form of a plugin's.
struct ControlFlowImpl : OrtKernelImpl {
  explicit ControlFlowImpl(std::function<Status(OrtKernelContext&)> work) : OrtKernelImpl{}, run(std::move(work)) {
    ort_version_supported = ORT_API_VERSION;
    Compute = [](OrtKernelImpl* self, OrtKernelContext* context) -> OrtStatus* {
      try {
        context->mark_given();
        return abi::make_status(static_cast<ControlFlowImpl*>(self)->run(*context));
      } catch (...) {
        return abi::status_of_current_exception();
      }
    };
    Release = [](OrtKernelImpl* self) { delete static_cast<ControlFlowImpl*>(self); };
  }
  std::function<Status(OrtKernelContext&)> run;
};

template <typename Helper>
using Held = std::shared_ptr<Helper>;

template <typename Helper>
Held<Helper> hold(Helper& helper) {
  return Held<Helper>(&helper, [](Helper* h) {
    if (RH_HAS(*h, 24, Release)) tell([&] { h->Release(h); });
  });
}

/// What moves the tensors of a node that runs subgraphs.
class Mover {
 public:
  explicit Mover(const OrtKernelInfo& info) : allocator_(info.allocator), transfer_(info.transfer) {}

  /// Elements of equal type and number.
  void copy(const Tensor& from, Tensor& to) const {
    if (from.device().is_host() && to.device().is_host()) return copy_elements(from.view(), to.mutable_view());
    if (from.bytes() == 0) return;
    if (!transfer_ || !transfer_->can_copy(from.device(), to.device())) {
      fail(ErrorCode::ep_fail, "the provider does not copy from {} to {}", from.device().to_string(), to.device().to_string());
    }
    if (const Status status = transfer_->copy(from, to, nullptr); !status.ok()) fail(status.code(), "{}", status.message());
  }

  /// Uninitialised, where `device` is.
  Tensor make(DType dtype, const Shape& shape, Device device) const {
    if (device.is_host()) return Tensor(dtype, shape);
    void* memory =
        ask<void*>(nullptr, [&] { return allocator_->Alloc(allocator_, std::max<size_t>(bytes_of(dtype, shape.elements()), 1)); });
    if (!memory) fail(ErrorCode::ep_fail, "the provider's allocator gave no memory for {}{}", to_string(dtype), shape.to_string());
    std::shared_ptr<const void> owner(
        memory, [allocator = allocator_](const void* p) { tell([&] { allocator->Free(allocator, const_cast<void*>(p)); }); });
    return Tensor(dtype, shape, memory, std::move(owner), device);
  }

 private:
  OrtAllocator* allocator_;
  DataTransfer* transfer_;
};

Device device_of_output(const OrtKernelContext& context, int i) {
  const bool on_host = i < 64 && (context.place.host_outputs >> i & 1) != 0;
  return context.place.memory && !on_host ? context.place.device : Device{};
}

/// Memory of the run for output i.
Tensor output_tensor(OrtKernelContext& context, int i, DType dtype, const Shape& shape) {
  return Tensor(dtype, shape, context.run.output(i, dtype, shape).raw(), nullptr, device_of_output(context, i));
}

/// The value becomes output i: as it is where it keeps its memory, else copied.
void give(OrtKernelContext& context, const Mover& mover, int i, const Value& value) {
  if (!context.run.has_output(i)) return;
  if (!value.is_tensor() || (value.tensor().owns_memory() && value.tensor().device() == device_of_output(context, i))) {
    context.run.set_output(i, value);
    return;
  }
  Tensor to = output_tensor(context, i, value.tensor().dtype(), value.tensor().shape());
  mover.copy(value.tensor(), to);
}

/// One number of an input on the host.
int64_t host_number(const RunContext& run, int i, const char* what) {
  const Tensor& tensor = run.input_tensor(i);
  if (!tensor.device().is_host()) {
    fail(ErrorCode::ep_fail, "{} is on {}: register the kernel with input {} in the memory of the CPU", what, tensor.device().to_string(),
         i);
  }
  if (tensor.elements() != 1) fail(ErrorCode::invalid_argument, "{} has {} elements, expected 1", what, tensor.elements());
  return tensor.dtype() == DType::boolean ? int64_t{*tensor.data<bool>()} : *tensor.data<int64_t>();
}

template <typename T>
Tensor small_tensor(int rank, T value) {
  return Tensor::from<T>(Shape(static_cast<size_t>(rank), 1), std::span<const T>(&value, 1));
}

const OrtMemoryInfo* memory_of(const OrtKernelContext& context, const Tensor& tensor) {
  return tensor.device().is_host() ? nullptr : context.place.memory.get();
}

OrtValue as_value(const OrtKernelContext& context, const Tensor& tensor) {
  return OrtValue(Value(tensor), memory_of(context, tensor) ? context.place.memory : nullptr);
}

void check_operator(const OrtKernelInfo& info, const char* op) {
  if (info.node->op_type == op && info.node->domain.empty()) return;
  fail(ErrorCode::invalid_argument, "the node is a {}, expected {}", info.node->op_text(), op);
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
    scans_.resize(op_.scans.size());
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
      const TensorType& declared = op_.scans[scan];
      for (int k = 0; declared.has_rank() && k < declared.rank(); ++k) {
        const Dim& dim = (*declared.dims)[static_cast<size_t>(k)];
        shape.push_back(dim.is_constant() ? dim.value() : 0);
      }
      (void)output_tensor(context, output, declared.dtype, shape);
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
};

class ScanRun {
 public:
  ScanRun(const ops::Scan& op, const Mover& mover, OrtScanKernelHelper& helper, OrtKernelContext& context)
      : op_(op), mover_(mover), helper_(helper), context_(context) {}

  Status run() {
    RunContext& run = context_.run;
    SubgraphRunner& body = run.subgraph(0);
    const size_t states = static_cast<size_t>(op_.states), scans = static_cast<size_t>(op_.scans);
    std::vector<Value> inputs(states + scans), outputs(static_cast<size_t>(body.output_count()));
    for (size_t i = 0; i < states; ++i) inputs[i] = run.input_value(static_cast<int>(i));
    for (size_t i = 0; i < scans; ++i) add_scanned(run.input_tensor(static_cast<int>(states + i)), i);
    made_.resize(op_.slices.size());
    for (int64_t t = 0; t < length_; ++t) {
      throw_if_cancelled();
      for (size_t i = 0; i < scans; ++i) inputs[states + i] = slice(scanned_[i], op_.input_backwards[i] ? length_ - 1 - t : t);
      RH_RETURN_IF_ERROR(body.run(inputs, outputs));
      for (size_t i = 0; i < states; ++i) inputs[i] = std::move(outputs[i]);
      for (size_t i = 0; i < made_.size(); ++i) {
        take(outputs[states + i].tensor(), i, op_.output_backwards[i] ? length_ - 1 - t : t);
      }
    }
    for (size_t i = 0; i < states; ++i) give(context_, mover_, static_cast<int>(i), inputs[i]);
    for (size_t i = 0; i < made_.size(); ++i) finish(i);
    return {};
  }

 private:
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
    Shape shape = x.shape();
    shape.erase(0);
    const size_t bytes = x.shape()[0] == 0 ? 0 : x.bytes() / static_cast<size_t>(x.shape()[0]);
    auto* data = static_cast<char*>(const_cast<void*>(x.raw()));
    return Tensor(x.dtype(), shape, data + static_cast<size_t>(at) * bytes, x.owner(), x.device());
  }

  void take(const Tensor& one, size_t i, int64_t at) {
    Tensor& all = made_[i];
    if (bits_of(one.dtype()) < 8) fail(ErrorCode::not_implemented, "Scan: slices of {} are not joined on devices", to_string(one.dtype()));
    if (!all.defined()) {
      Shape shape = one.shape();
      shape.insert(0, length_);
      const int output = op_.states + static_cast<int>(i);
      const bool straight = output_axis(i, shape.rank()) == 0 && context_.run.has_output(output);
      all = straight ? output_tensor(context_, output, one.dtype(), shape) : mover_.make(one.dtype(), shape, one.device());
    }
    Tensor place = slice(all, at);
    if (place.dtype() != one.dtype() || !(place.shape() == one.shape())) {
      fail(ErrorCode::invalid_argument, "Scan: output {} is {} in one iteration, expected {}", i, one.shape().to_string(),
           place.shape().to_string());
    }
    mover_.copy(one, place);
  }

  int output_axis(size_t i, int rank) const { return normalized(op_.output_axes[i], rank); }

  void finish(size_t i) {
    const int output = op_.states + static_cast<int>(i);
    if (!context_.run.has_output(output)) return;
    if (!made_[i].defined()) {
      const TensorType& declared = op_.slices[i];
      Shape shape;
      for (int k = 0; declared.has_rank() && k < declared.rank(); ++k) {
        const Dim& dim = (*declared.dims)[static_cast<size_t>(k)];
        shape.push_back(dim.is_constant() ? dim.value() : 0);
      }
      shape.insert(static_cast<size_t>(output_axis(i, shape.rank() + 1)), 0);
      (void)output_tensor(context_, output, declared.dtype, shape);
      return;
    }
    const int axis = output_axis(i, made_[i].shape().rank());
    if (axis == 0) return;
    Tensor to = output_tensor(context_, output, made_[i].dtype(), moved_shape(made_[i].shape(), 0, axis));
    transpose_into(made_[i], to, 0, axis);
  }

  const ops::Scan& op_;
  const Mover& mover_;
  OrtScanKernelHelper& helper_;
  OrtKernelContext& context_;
  int64_t length_ = 0;
  std::vector<Tensor> scanned_, made_;
};

}  // namespace

OrtKernelImpl* make_if_kernel(const OrtKernelInfo& info) {
  check_operator(info, "If");
  return new ControlFlowImpl([mover = Mover(info)](OrtKernelContext& context) { return run_if(context, mover); });
}

OrtKernelImpl* make_loop_kernel(const OrtKernelInfo& info, OrtLoopKernelHelper& helper) {
  check_operator(info, "Loop");
  if (!RH_HAS(helper, 24, ConcatOutput)) fail(ErrorCode::invalid_argument, "the OrtLoopKernelHelper has no ConcatOutput");
  const auto op = std::make_shared<const ops::Loop>(ops::Loop::read(NodeView(*info.graph, *info.node)));
  return new ControlFlowImpl(
      [op, mover = Mover(info), held = hold(helper)](OrtKernelContext& context) { return LoopRun(*op, mover, *held).run(context); });
}

OrtKernelImpl* make_scan_kernel(const OrtKernelInfo& info, OrtScanKernelHelper& helper) {
  check_operator(info, "Scan");
  if (!RH_HAS(helper, 24, Transpose)) fail(ErrorCode::invalid_argument, "the OrtScanKernelHelper has no Transpose");
  const auto op = std::make_shared<const ops::Scan>(ops::Scan::read(NodeView(*info.graph, *info.node)));
  if (op->batched) fail(ErrorCode::not_implemented, "Scan of opset 8 runs on the CPU alone");
  return new ControlFlowImpl(
      [op, mover = Mover(info), held = hold(helper)](OrtKernelContext& context) { return ScanRun(*op, mover, *held, context).run(); });
}

}  // namespace rh::plugin
