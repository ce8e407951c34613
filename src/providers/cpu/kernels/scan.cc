#include "ops/control_flow/scan.h"

#include <cstring>
#include <deque>

#include "base/cancellation.h"
#include "base/inline_array.h"
#include "compute/move/strided_copy.h"
#include "providers/cpu/elements.h"
#include "providers/cpu/loop_values.h"

namespace rh::cpu {

namespace {

// Element types that fill whole bytes can be looked at from the middle of a tensor.
bool can_offset(DType dtype) { return dtype == DType::string || bits_of(dtype) >= 8; }

int64_t bytes_of_element(DType dtype) { return static_cast<int64_t>(compute::element_bytes(compute::element_kind(dtype))); }

// Whether positions of a dimension lie in one piece, so that they can be looked at where they are.
bool shares_slices(const Tensor& x, int axis) { return can_offset(x.dtype()) && x.shape().product(0, axis) == 1; }

// Position `at` of a dimension, without that dimension. Shares memory where the slice is contiguous; else it is copied into `memory`, or,
// if that is null, into memory of its own.
Tensor slice_of(const Tensor& x, int axis, int64_t at, void* memory = nullptr) {
  Shape shape = x.shape();
  shape.erase(static_cast<size_t>(axis));
  const auto made = [&] { return memory ? Tensor(x.dtype(), shape, memory, nullptr) : Tensor(x.dtype(), shape); };
  const int64_t inner = x.shape().product(axis + 1, x.shape().rank()), outer = x.shape().product(0, axis), size = x.shape()[axis];
  if (!can_offset(x.dtype())) {
    Tensor y = made();
    std::memset(y.raw(), 0, y.bytes());
    const int bits = bits_of(x.dtype());
    for (int64_t i = 0; i < outer * inner; ++i) {
      set_packed_code(y.raw(), bits, i, packed_code(x.raw(), bits, (i / inner * size + at) * inner + i % inner));
    }
    return y;
  }
  char* data = static_cast<char*>(const_cast<void*>(x.raw())) + at * inner * bytes_of_element(x.dtype());
  if (outer == 1) return Tensor(x.dtype(), shape, data, x.owner());
  Tensor y = made();
  compute::strided_copy(compute::element_kind(x.dtype()), Shape{outer, inner}, data, Shape{size * inner, 1}, y.raw(), Shape{inner, 1}, {});
  return y;
}

void put_slice(const Tensor& slice, Tensor& y, int axis, int64_t at) {
  const int64_t inner = y.shape().product(axis + 1, y.shape().rank()), outer = y.shape().product(0, axis), size = y.shape()[axis];
  if (!can_offset(y.dtype())) {
    const int bits = bits_of(y.dtype());
    for (int64_t i = 0; i < outer * inner; ++i) {
      set_packed_code(y.raw(), bits, (i / inner * size + at) * inner + i % inner, packed_code(slice.raw(), bits, i));
    }
    return;
  }
  char* data = static_cast<char*>(y.raw()) + at * inner * bytes_of_element(y.dtype());
  compute::strided_copy(compute::element_kind(y.dtype()), Shape{outer, inner}, slice.raw(), Shape{inner, 1}, data, Shape{size * inner, 1},
                        {});
}

Tensor zeros(DType dtype, const Shape& shape) {
  Tensor tensor(dtype, shape);
  if (dtype != DType::string) std::memset(tensor.raw(), 0, tensor.bytes());
  return tensor;
}

}  // namespace

class ScanKernel final : public Kernel {
 public:
  using Types = AnyType;

  explicit ScanKernel(const KernelInfo& info) : op_(info.attributes<ops::Scan>()) {}

  Status run(RunContext& context) const override { return op_.batched ? run_batch(context) : run_single(context); }

 private:
  // One sequence: scanned inputs, how many slices to take, and the tensors (made when the first slice tells their shape) that take results.
  struct Pass {
    explicit Pass(const ops::Scan& op)
        : inputs(static_cast<size_t>(op.scans)), states(static_cast<size_t>(op.states)), outputs(op.outputs()) {}

    InlineArray<Tensor, 4> inputs;
    InlineVector<int, 8> axes;
    int64_t length = 0;
    int64_t room = 0;  ///< size of the scanned axis of the outputs, at least `length`
    InlineArray<Value, 4> states;
    InlineArray<Tensor, 4> outputs;
    bool is_whole = false;  ///< the node's outputs are those of this pass, and are written where they lie
  };

  Status run_pass(RunContext& context, Pass& pass) const {
    SubgraphRunner& body = context.subgraph(0);
    const size_t states = static_cast<size_t>(op_.states), scans = static_cast<size_t>(op_.scans);
    const KeptValues kept(body, states + scans);
    const std::span<Value> inputs = kept.inputs, outputs = kept.outputs;
    InlineVector<void*, 8> copies;  // memory for slices that do not lie in one piece
    for (size_t i = 0; i < scans; ++i) copies.push_back(slice_memory(context, pass, i));
    for (size_t i = 0; i < states; ++i) inputs[i] = std::move(pass.states[i]);
    for (int64_t t = 0; t < pass.length; ++t) {
      throw_if_cancelled();
      for (size_t i = 0; i < scans; ++i) {
        inputs[states + i] = slice_of(pass.inputs[i], pass.axes[i], op_.input_backwards[i] ? pass.length - 1 - t : t, copies[i]);
      }
      RH_RETURN_IF_ERROR(body.run(inputs, outputs));
      for (size_t i = 0; i < states; ++i) kept.carry(i, i, t, context, static_cast<int>(i));
      for (size_t i = 0; i < op_.outputs(); ++i) RH_RETURN_IF_ERROR(take(context, pass, i, t, outputs[states + i].tensor()));
    }
    for (size_t i = 0; i < states; ++i) pass.states[i] = std::move(inputs[i]);
    if (pass.length == 0) fill_empty(context, pass);
    return {};
  }

  // Of strings each slice has its own.
  static void* slice_memory(RunContext& context, Pass& pass, size_t i) {
    const Tensor& x = pass.inputs[i];
    if (x.dtype() == DType::string || pass.length == 0 || shares_slices(x, pass.axes[i])) return nullptr;
    return context.scratch(bytes_of(x.dtype(), x.elements() / pass.length));
  }

  int output_axis(size_t i, int rank) const { return normalize_axis(op_.output_axes[i], rank, "Scan: scan_output_axes"); }

  bool writes_in_place(const RunContext& context, const Pass& pass, size_t i, DType dtype) const {
    return pass.is_whole && pass.length > 0 && dtype != DType::string && context.has_output(op_.states + static_cast<int>(i));
  }

  Tensor make_output(RunContext& context, const Pass& pass, size_t i, DType dtype, const Shape& shape) const {
    if (!writes_in_place(context, pass, i, dtype)) return zeros(dtype, shape);
    const MutableView view = context.output(op_.states + static_cast<int>(i), dtype, shape);
    if (!can_offset(dtype)) std::memset(view.raw(), 0, bytes_of(dtype, shape.elements()));
    return Tensor(dtype, shape, view.raw(), nullptr);
  }

  Status take(RunContext& context, Pass& pass, size_t i, int64_t t, const Tensor& slice) const {
    Shape shape = slice.shape();
    const int axis = output_axis(i, shape.rank() + 1);
    shape.insert(static_cast<size_t>(axis), pass.room);
    Tensor& y = pass.outputs[i];
    if (t == 0) y = make_output(context, pass, i, slice.dtype(), shape);
    if (!(y.shape() == shape) || y.dtype() != slice.dtype()) {
      return error_status(ErrorCode::invalid_argument,
                          "Scan: iteration {} gives {}{} to scan output {}, expected the shape of the first, {}", t,
                          to_string(slice.dtype()), slice.shape().to_string(), i, y.shape().to_string());
    }
    put_slice(slice, y, axis, op_.output_backwards[i] ? pass.length - 1 - t : t);
    return {};
  }

  // Without a step: what the first one would give.
  void fill_empty(RunContext& context, Pass& pass) const {
    std::vector<ValueType> types(static_cast<size_t>(op_.states));
    for (size_t i = 0; i < static_cast<size_t>(op_.scans); ++i) {
      SymbolicShape slice(pass.inputs[i].shape().begin(), pass.inputs[i].shape().end());
      slice.erase(slice.begin() + pass.axes[i]);
      types.push_back(ValueType::tensor(pass.inputs[i].dtype(), std::move(slice)));
    }
    const std::vector<ValueType> made = context.subgraph(0).output_types({pass.states.data(), static_cast<size_t>(op_.states)}, types);
    for (size_t i = 0; i < op_.outputs(); ++i) {
      const ValueType& one = made[static_cast<size_t>(op_.states) + i];
      Shape shape = shape_or_zeros(one);
      shape.insert(static_cast<size_t>(output_axis(i, shape.rank() + 1)), pass.room);
      const DType dtype = context.output_dtype(op_.states + static_cast<int>(i));
      pass.outputs[i] = zeros(dtype == DType::undefined && one.is_tensor() ? one.tensor().dtype : dtype, shape);
    }
  }

  Status run_single(RunContext& context) const {
    Pass pass(op_);
    for (int i = 0; i < op_.states; ++i) pass.states[static_cast<size_t>(i)] = context.input_value(i);
    for (int i = 0; i < op_.scans; ++i) {
      const Tensor& x = context.input_tensor(op_.states + i);
      const int axis = normalize_axis(op_.input_axes[i], x.shape().rank(), "Scan: scan_input_axes");
      if (i > 0 && x.shape()[axis] != pass.length) {
        return error_status(ErrorCode::invalid_argument, "Scan: scanned input {} has length {}, expected {} as the first", i,
                            x.shape()[axis], pass.length);
      }
      pass.length = x.shape()[axis];
      pass.axes.push_back(axis);
      pass.inputs[static_cast<size_t>(i)] = x;
    }
    pass.room = pass.length;
    pass.is_whole = true;
    RH_RETURN_IF_ERROR(run_pass(context, pass));
    for (int i = 0; i < op_.states; ++i) {
      if (context.has_output(i)) context.set_output(i, independent(context, std::move(pass.states[static_cast<size_t>(i)])));
    }
    for (size_t i = 0; i < op_.outputs(); ++i) {
      const int output = op_.states + static_cast<int>(i);
      if (!context.has_output(output) || writes_in_place(context, pass, i, pass.outputs[i].dtype())) continue;
      context.set_output(output, std::move(pass.outputs[i]));
    }
    return {};
  }

  // Item `b` of a batch; zeros of its shape where there is none.
  static Tensor item_of(const Tensor& x, int64_t b) {
    if (x.shape()[0] > 0) return slice_of(x, 0, b);
    Shape shape = x.shape();
    shape.erase(0);
    return zeros(x.dtype(), shape);
  }

  // Opset 8: one pass for each item of the batch; what a shorter sequence does not write stays 0.
  Status run_batch(RunContext& context) const {
    const int first = op_.first_input();
    std::vector<Shape> shapes;
    for (int i = 0; i < op_.states + op_.scans; ++i) shapes.push_back(context.input_tensor(first + i).shape());
    const ops::ScanBatch items = ops::batch_of(op_, shapes, context.has_input(0) ? &context.input_tensor(0) : nullptr);
    const int64_t batch = static_cast<int64_t>(items.lengths.size());
    std::vector<Tensor> results(static_cast<size_t>(context.output_count()));
    for (int64_t b = 0; b < std::max<int64_t>(1, batch); ++b) {
      Pass pass(op_);
      pass.room = items.length;
      pass.length = batch == 0 ? 0 : items.lengths[static_cast<size_t>(b)];
      const auto item = [&](int input) { return item_of(context.input_tensor(first + input), b); };
      for (int i = 0; i < op_.states; ++i) pass.states[static_cast<size_t>(i)] = item(i);
      for (int i = 0; i < op_.scans; ++i) {
        pass.inputs[static_cast<size_t>(i)] = item(op_.states + i);
        pass.axes.push_back(0);
      }
      RH_RETURN_IF_ERROR(run_pass(context, pass));
      for (int i = 0; i < context.output_count(); ++i) {
        const Tensor& made =
            i < op_.states ? pass.states[static_cast<size_t>(i)].tensor() : pass.outputs[static_cast<size_t>(i - op_.states)];
        if (b == 0) {
          Shape all = made.shape();
          all.insert(0, batch);
          results[i] = zeros(made.dtype(), all);
        }
        if (results[i].elements() != made.elements() * batch) {
          return error_status(ErrorCode::invalid_argument, "Scan: batch item {} gives shape {} to output {}, expected that of the first", b,
                              made.shape().to_string(), i);
        }
        if (batch > 0) put_slice(made, results[i], 0, b);
      }
    }
    for (int i = 0; i < context.output_count(); ++i) {
      if (context.has_output(i)) context.set_output(i, std::move(results[i]));
    }
    return {};
  }

  ops::Scan op_;
};

}  // namespace rh::cpu

RH_DEFINE_KERNEL(ScanKernel)
