#include "ops/control_flow/scan.h"

#include "ops/control_flow/subgraph_types.h"
#include "ops/dim_rules.h"
#include "ops/registry.h"

namespace rh::ops {

namespace {

std::vector<int64_t> axes(const NodeView& node, const char* name, int count) {
  std::vector<int64_t> values = node.ints_or(name, std::vector<int64_t>(static_cast<size_t>(count)));
  if (static_cast<int>(values.size()) != count) node.fail("{} has {} elements, expected {}", name, values.size(), count);
  return values;
}

std::vector<bool> directions(const NodeView& node, const char* name, int count) {
  std::vector<bool> backwards;
  for (int64_t value : axes(node, name, count)) {
    if (value != 0 && value != 1) node.fail("{} has {}, expected 0 or 1", name, value);
    backwards.push_back(value == 1);
  }
  return backwards;
}

// The type without the batch dimension that opset 8 has.
ValueType without_dim(const ValueType& type, int dim) {
  if (!type.is_tensor() || !type.tensor().has_rank() || type.tensor().rank() <= dim) return type;
  TensorType result = type.tensor();
  result.dims->erase(result.dims->begin() + dim);
  return result;
}

TensorType with_dim(TensorType type, int dim, const Dim& size) {
  if (type.has_rank()) type.dims->insert(type.dims->begin() + dim, size);
  return type;
}

}  // namespace

Scan Scan::read(const NodeView& node) {
  const Graph* body = node.subgraph("body");
  if (!body) node.fail("attribute 'body' is missing, expected a graph");
  Scan op;
  op.batched = node.opset() < 9;
  const int64_t scans = node.required_int("num_scan_inputs");
  const int given = node.input_count() - op.first_input();
  if (scans < 1 || scans > given) node.fail("num_scan_inputs is {}, expected a value in [1, {}]", scans, given);
  op.scans = static_cast<int>(scans);
  op.states = given - op.scans;
  const int outputs = node.output_count() - op.states;
  if (static_cast<int>(body->inputs().size()) != given || static_cast<int>(body->outputs().size()) < node.output_count() || outputs < 0) {
    node.fail("body has {} inputs and {} outputs, expected {} and {}", body->inputs().size(), body->outputs().size(), given,
              node.output_count());
  }
  if (op.batched) {
    op.input_axes.assign(static_cast<size_t>(op.scans), 0);
    op.output_axes.assign(static_cast<size_t>(outputs), 0);
    op.input_backwards = directions(node, "directions", op.scans);
    op.output_backwards.assign(static_cast<size_t>(outputs), false);
  } else {
    op.input_axes = axes(node, "scan_input_axes", op.scans);
    op.output_axes = axes(node, "scan_output_axes", outputs);
    op.input_backwards = directions(node, "scan_input_directions", op.scans);
    op.output_backwards = directions(node, "scan_output_directions", outputs);
  }
  return op;
}

void infer(const Scan& op, InferenceContext& context) {
  const int first = op.first_input();
  std::vector<ValueType> inputs;
  Dim batch, length;
  for (int i = 0; i < op.states; ++i) {
    const ValueType& type = context.input_type(first + i);
    if (op.batched && type.is_tensor() && type.tensor().has_rank() && type.tensor().rank() > 0)
      batch = agree(context, batch, (*type.tensor().dims)[0], "batch sizes");
    inputs.push_back(op.batched ? without_dim(type, 0) : type);
  }
  for (int i = 0; i < op.scans; ++i) {
    ValueType type = context.input_type(first + op.states + i);
    if (type.is_tensor() && type.tensor().has_rank()) {
      if (op.batched) {
        if (type.tensor().rank() < 2) context.node().fail("scanned input {} has rank {}, expected at least 2", i, type.tensor().rank());
        batch = agree(context, batch, (*type.tensor().dims)[0], "batch sizes");
        type = without_dim(type, 0);
      }
      const int axis = context.check_axis("scan_input_axes", op.input_axes[i], type.tensor().rank());
      length = agree(context, length, (*type.tensor().dims)[axis], "lengths of the scanned axes");
      type = without_dim(type, axis);
    }
    inputs.push_back(std::move(type));
  }
  const CarriedTypes types = infer_loop_body(context, std::move(inputs), 0, 0, op.states);
  for (int i = 0; i < op.states; ++i) {
    const ValueType type = after_loop(context, types, i, i);
    context.set_output(i, op.batched && type.is_tensor() ? ValueType(with_dim(type.tensor(), 0, batch)) : type);
  }
  for (int i = op.states; i < context.output_count(); ++i) {
    const ValueType one = visible_outside(context, types.outputs[i]);
    TensorType all = one.is_tensor() ? one.tensor() : TensorType{};
    if (all.has_rank()) {
      const int axis = context.check_axis("scan_output_axes", op.output_axes[i - op.states], all.rank() + 1);
      all = with_dim(std::move(all), axis, length);
      if (op.batched) all = with_dim(std::move(all), 0, batch);
    }
    context.set_output(i, std::move(all));
  }
}

ScanBatch batch_of(const Scan& op, std::span<const Shape> shapes, const Tensor* sequence_lens) {
  const Shape& first = shapes[static_cast<size_t>(op.states)];
  if (first.rank() < 2) rh::fail(ErrorCode::invalid_argument, "Scan: scanned input 0 has rank {}, expected at least 2", first.rank());
  const int64_t batch = first[0];
  ScanBatch made{first[1], std::vector<int64_t>(static_cast<size_t>(batch), first[1])};
  for (size_t i = 0; i < shapes.size(); ++i) {
    const Shape& x = shapes[i];
    const bool scanned = i >= static_cast<size_t>(op.states);
    if (x.rank() < (scanned ? 2 : 1) || x[0] != batch || (scanned && x[1] != made.length)) {
      rh::fail(ErrorCode::invalid_argument, "Scan: input {} has shape {}, expected batch {} and length {}", i + 1, x.to_string(), batch,
               made.length);
    }
  }
  if (!sequence_lens) return made;
  if (sequence_lens->elements() != batch) {
    rh::fail(ErrorCode::invalid_argument, "Scan: sequence_lens has {} elements, expected {}", sequence_lens->elements(), batch);
  }
  for (size_t b = 0; b < made.lengths.size(); ++b) {
    made.lengths[b] = sequence_lens->data<int64_t>()[b];
    if (made.lengths[b] < 0 || made.lengths[b] > made.length) {
      rh::fail(ErrorCode::invalid_argument, "Scan: sequence_lens has {}, expected a value in [0, {}]", made.lengths[b], made.length);
    }
  }
  return made;
}

}  // namespace rh::ops

RH_DEFINE_OP(Scan)
