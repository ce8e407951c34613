#include "ops/tensor/slice.h"

#include <algorithm>
#include <limits>

#include "ops/dim_rules.h"
#include "ops/impossible_shapes.h"
#include "ops/registry.h"

namespace rh::ops {

namespace {

constexpr int64_t kUnbounded = std::numeric_limits<int32_t>::max();  // an end from here on means "to the end" of any symbolic dimension

Dim smaller(const Dim& a, const Dim& b) {
  return is_nonnegative(b - a) ? a : is_nonnegative(a - b) ? b : Dim::apply(Dim::Function::min, a, b);
}

// A start or end within [0, size] for a step of at least 1; unknown where its sign is.
Dim clamped(const Dim& size, const Dim& at) {
  if (at.is_constant() && at.value() >= kUnbounded) return size;
  if (is_nonnegative(at)) return smaller(at, size);
  if (at.is_constant()) return at.value() <= -kUnbounded ? Dim(0) : clamp_to_zero(size + at);
  if (is_nonnegative(Dim(-1) - at)) return clamp_to_zero(size + at);
  return {};
}

Dim sliced(const Dim& size, const Dim& start, const Dim& end, const Dim& step) {
  if (!step.is_constant()) return {};
  if (size.is_constant() && start.is_constant() && end.is_constant()) {
    return Dim(slice_range(size.value(), start.value(), end.value(), step.value()).count);
  }
  if (step.is_constant(-1) && start.is_constant(-1) && end.is_constant() && end.value() <= -kUnbounded) return size;
  if (step.value() < 1) return {};
  const Dim length = clamp_to_zero(clamped(size, end) - clamped(size, start));
  return Dim::apply(Dim::Function::ceil_div, length, step);
}

void infer_contents(InferenceContext& context, const Dim& start, const Dim& end, const Dim& step) {
  const auto contents = context.input_contents(0);
  if (!contents || !start.is_constant() || !end.is_constant() || !step.is_constant()) return;
  const SliceRange range = slice_range(static_cast<int64_t>(contents->size()), start.value(), end.value(), step.value());
  SymbolicShape y;
  for (int64_t i = 0; i < range.count; ++i) y.push_back((*contents)[range.start + i * step.value()]);
  context.set_output_contents(0, std::move(y));
}

}  // namespace

SliceRange slice_range(int64_t size, int64_t start, int64_t end, int64_t step) {
  const int64_t low = step > 0 ? 0 : -1, high = step > 0 ? size : size - 1;
  const auto place = [&](int64_t at) { return std::clamp(at < 0 ? at + size : at, low, high); };
  start = step > 0 ? place(start) : std::max<int64_t>(place(start), size == 0 ? -1 : 0);
  end = place(end);
  const int64_t span = step > 0 ? end - start : start - end;
  if (span <= 0) return {start, 0};
  const uint64_t stride = step > 0 ? static_cast<uint64_t>(step) : uint64_t{0} - static_cast<uint64_t>(step);
  return {start, static_cast<int64_t>((static_cast<uint64_t>(span) - 1) / stride) + 1};
}

Slice Slice::read(const NodeView& node) {
  if (node.opset() < 10 && node.op_type() != "DynamicSlice") {
    return {.starts = IntsOperand::from_attribute(node, "starts"),
            .ends = IntsOperand::from_attribute(node, "ends"),
            .axes = IntsOperand::from_attribute(node, "axes"),
            .steps = {}};
  }
  return {.starts = IntsOperand::from_input(node, 1),
          .ends = IntsOperand::from_input(node, 2),
          .axes = IntsOperand::from_input(node, 3),
          .steps = IntsOperand::from_input(node, 4)};
}

void infer(const Slice& op, InferenceContext& context) {
  const TensorType& x = context.input_tensor(0);
  if (!x.has_rank()) return context.set_output(0, x.dtype);
  auto starts = op.starts.contents(context), ends = op.ends.contents(context), steps = op.steps.contents(context);
  auto axes = op.axes.ints(context);
  if ((op.axes.is_given(context) && !axes) || (!axes && !starts && !ends)) {
    return context.set_output(0, x.dtype, unknown_dims(x.rank()));
  }
  const size_t count = axes ? axes->size() : starts ? starts->size() : ends->size();
  if (!starts) starts = SymbolicShape(count);
  if (!ends) ends = SymbolicShape(count);
  if (!steps) steps = SymbolicShape(count, op.steps.is_given(context) ? Dim() : Dim(1));
  if (starts->size() != count || ends->size() != count || steps->size() != count || static_cast<int>(count) > x.rank()) {
    constexpr auto kText = "starts, ends and steps have {}, {} and {} elements for {} axes of rank {}";
    const bool is_known = op.starts.values && op.ends.values;
    if (!is_known) fail_when_run(context.node(), kText, starts->size(), ends->size(), steps->size(), count, x.rank());
    context.node().fail(kText, starts->size(), ends->size(), steps->size(), count, x.rank());
  }
  SymbolicShape y = *x.dims;
  for (size_t i = 0; i < count; ++i) {
    const int axis = context.check_axis("axes", axes ? (*axes)[i] : static_cast<int64_t>(i), x.rank());
    if ((*steps)[i].is_constant(0)) context.node().fail("steps has 0 for axis {}", axis);
    y[axis] = sliced((*x.dims)[axis], (*starts)[i], (*ends)[i], (*steps)[i]);
  }
  context.set_output(0, x.dtype, std::move(y));
  if (x.rank() != 1) return;
  if (count == 1) {
    infer_contents(context, starts->front(), ends->front(), steps->front());
  } else if (count == 0) {
    keep_contents(context);
  }
}

}  // namespace rh::ops

RH_DEFINE_OP(Slice)
