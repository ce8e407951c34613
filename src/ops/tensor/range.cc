#include "ops/tensor/range.h"

#include <cmath>

#include "ops/dim_rules.h"
#include "ops/registry.h"

namespace rh::ops {

namespace {

// The number of elements where start, limit and delta are all constants of a floating type.
Dim floating_count(const InferenceContext& context) {
  double v[3] = {0, 0, 1};
  for (int i = 0; i < 3; ++i) {
    if (i == 2 && !context.has_input(i)) continue;
    const Tensor* constant = context.input_constant(i);
    if (!constant || constant->elements() != 1) return {};
    v[i] = element_as_double(constant->view(), 0);
  }
  if (v[2] == 0) return {};  // the run refuses it
  const double count = std::ceil((v[1] - v[0]) / v[2]);
  return count >= 0 && count < 1e15 ? Dim(static_cast<int64_t>(count)) : count < 0 ? Dim(0) : Dim();
}

}  // namespace

void infer(const Range&, InferenceContext& context) {
  DType dtype = DType::undefined;
  for (int i = 0; i < context.input_count(); ++i) {
    if (context.input_dtype(i) != DType::undefined) dtype = context.input_dtype(i);
  }
  if (is_floating(dtype)) return context.set_output(0, dtype, SymbolicShape{floating_count(context)});
  const auto start = context.input_contents(0), limit = context.input_contents(1),
             delta = context.has_input(2) ? context.input_contents(2) : SymbolicShape{1};
  const auto single = [](const auto& contents) { return contents && contents->size() == 1; };
  if (!single(start) || !single(limit) || !single(delta)) return context.set_output(0, dtype, unknown_dims(1));
  const Dim &from = start->front(), &step = delta->front();
  if (!step.is_constant() || step.is_constant(0)) return context.set_output(0, dtype, unknown_dims(1));
  const Dim distance = step.value() > 0 ? limit->front() - from : from - limit->front();
  const Dim count = Dim::apply(Dim::Function::ceil_div, clamp_to_zero(distance), Dim(step.value() > 0 ? step : Dim(0) - step));
  context.set_output(0, dtype, SymbolicShape{count});
  if (!count.is_constant() || count.value() > 64) return;
  SymbolicShape contents;
  for (int64_t i = 0; i < count.value(); ++i) contents.push_back(from + Dim(i) * step);
  context.set_output_contents(0, std::move(contents));
}

}  // namespace rh::ops

RH_DEFINE_OP(Range)
