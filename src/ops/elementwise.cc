#include "ops/elementwise.h"

#include <algorithm>
#include <limits>

namespace rh::ops {

LegacyBroadcast LegacyBroadcast::read(const NodeView& node) {
  if (node.opset() >= 7 || !node.flag("broadcast") || !node.has("axis")) return {};
  return {node.int_or("axis", 0)};
}

int LegacyBroadcast::trailing_ones(int rank_a, int rank_b) const {
  if (!axis) return 0;
  const int64_t first = *axis < 0 ? *axis + rank_a : *axis;
  return static_cast<int>(std::max<int64_t>(0, rank_a - first - rank_b));
}

void infer_binary(InferenceContext& context, const LegacyBroadcast& legacy, DType dtype) {
  const TensorType& a = context.input_tensor(0);
  const TensorType& b = context.input_tensor(1);
  if (dtype == DType::undefined) dtype = a.dtype != DType::undefined ? a.dtype : b.dtype;
  if (!a.has_rank() || !b.has_rank()) return context.set_output(0, dtype);
  SymbolicShape aligned = *b.dims;
  aligned.resize(aligned.size() + static_cast<size_t>(legacy.trailing_ones(a.rank(), b.rank())), Dim(1));
  context.set_output(0, dtype, context.broadcast(*a.dims, aligned));
}

void infer_same(InferenceContext& context) { context.set_output(0, context.input_tensor(0)); }

void infer_contents(InferenceContext& context, int inputs, FunctionRef<Dim(std::span<const Dim>)> f) {
  std::vector<SymbolicShape> contents;
  size_t count = 1;
  for (int i = 0; i < inputs; ++i) {
    auto known = context.input_contents(i);
    if (!known) return;
    if (known->size() != 1) count = known->size();
    contents.push_back(std::move(*known));
  }
  SymbolicShape result(count);
  SymbolicShape arguments(static_cast<size_t>(inputs));
  bool any = false;
  for (size_t k = 0; k < count; ++k) {
    for (int i = 0; i < inputs; ++i) {
      const SymbolicShape& from = contents[i];
      if (from.size() != 1 && from.size() != count) return;
      arguments[i] = from[from.size() == 1 ? 0 : k];
    }
    result[k] = f(arguments);
    // What wraps around in 32 bits is left unknown.
    const bool narrow = context.output_type(0).is_tensor() && context.output_type(0).tensor().dtype == DType::int32;
    if (narrow && result[k].is_constant() && result[k].value() != static_cast<int32_t>(result[k].value())) result[k] = {};
    any = any || !result[k].is_unknown();
  }
  if (any) context.set_output_contents(0, std::move(result));
}

bool is_non_negative(const Dim& dim) {
  if (dim.is_unknown()) return false;
  if (dim.is_constant()) return dim.value() >= 0;
  const auto non_negative_factor = [](const std::shared_ptr<const Dim::Atom>& atom) {
    if (!atom->name.empty()) return true;
    if (atom->function == Dim::Function::max) return is_non_negative(atom->a) || is_non_negative(atom->b);
    return is_non_negative(atom->a) && is_non_negative(atom->b);
  };
  return dim.constant_term() >= 0 && std::ranges::all_of(dim.terms(), [&](const Dim::Term& term) {
           return term.coefficient >= 0 && std::ranges::all_of(term.factors, non_negative_factor);
         });
}

Dim truncating_division(const Dim& a, const Dim& b) {
  if (a.is_unknown() || b.is_unknown() || b.is_constant(0)) return {};
  if (a.is_constant() && b.is_constant()) {
    if (a.value() == std::numeric_limits<int64_t>::min() && b.value() == -1) return {};
    return Dim(a.value() / b.value());
  }
  const Dim quotient = Dim::apply(Dim::Function::floor_div, a, b);
  if (is_non_negative(a) && is_non_negative(b)) return quotient;
  return quotient * b == a ? quotient : Dim();
}

Dim equal_contents(const Dim& a, const Dim& b) {
  const Dim difference = a - b;
  if (difference.is_constant()) return Dim(difference.is_constant(0));
  if (difference.is_unknown()) return {};
  const bool apart = is_non_negative(difference - Dim(1)) || is_non_negative(b - a - Dim(1));
  return apart ? Dim(0) : Dim();
}

Dim less_contents(const Dim& a, const Dim& b) {
  if (is_non_negative(b - a - Dim(1))) return Dim(1);
  return is_non_negative(a - b) ? Dim(0) : Dim();
}

}  // namespace rh::ops
