#include "ops/dim_rules.h"

#include <algorithm>

namespace rh::ops {

namespace {

bool is_nonnegative_atom(const Dim::Atom& atom) {
  if (!atom.name.empty()) return true;
  switch (atom.function) {
    case Dim::Function::max: return is_nonnegative(atom.a) || is_nonnegative(atom.b);
    case Dim::Function::mod: return is_nonnegative(atom.b);
    default: return is_nonnegative(atom.a) && is_nonnegative(atom.b);
  }
}

}  // namespace

bool is_nonnegative(const Dim& dim) {
  if (dim.is_unknown()) return false;
  if (dim.is_constant()) return dim.value() >= 0;
  return dim.constant_term() >= 0 && std::all_of(dim.terms().begin(), dim.terms().end(), [](const Dim::Term& term) {
           return term.coefficient >= 0 &&
                  std::all_of(term.factors.begin(), term.factors.end(), [](const auto& atom) { return is_nonnegative_atom(*atom); });
         });
}

Dim clamp_to_zero(const Dim& dim) { return is_nonnegative(dim) ? dim : Dim::apply(Dim::Function::max, dim, Dim(0)); }

Dim agree(const InferenceContext& context, const Dim& a, const Dim& b, const char* what) {
  if (a.is_constant() && b.is_constant() && a.value() != b.value()) {
    context.node().fail("{} of the inputs differ: {} and {}", what, a.value(), b.value());
  }
  return a.is_constant() || b.is_unknown() ? a : b.is_constant() || a.is_unknown() ? b : a;
}

Dim either(const Dim& a, const Dim& b) { return a == b ? a : Dim(); }

ValueType either(const InferenceContext& context, const ValueType& a, const ValueType& b, const char* what) {
  if (a.is_unknown() || b.is_unknown()) return {};
  if (a.kind() != b.kind()) context.node().fail("{}: {} and {} are of different kinds", what, a.to_string(), b.to_string());
  if (a.kind() == ValueType::Kind::sequence) return ValueType::sequence_of(either(context, a.element(), b.element(), what));
  if (a.kind() == ValueType::Kind::optional) return ValueType::optional_of(either(context, a.element(), b.element(), what));
  if (!a.is_tensor()) return a;
  const TensorType &x = a.tensor(), &y = b.tensor();
  if (x.dtype != y.dtype && x.dtype != DType::undefined && y.dtype != DType::undefined) {
    context.node().fail("{}: {} and {} have different element types", what, a.to_string(), b.to_string());
  }
  TensorType result{x.dtype == DType::undefined ? y.dtype : x.dtype, std::nullopt};
  if (x.has_rank() && y.has_rank() && x.rank() == y.rank()) {
    result.dims.emplace();
    for (int i = 0; i < x.rank(); ++i) result.dims->push_back(either((*x.dims)[i], (*y.dims)[i]));
  }
  return result;
}

void keep_contents(InferenceContext& context) {
  if (auto contents = context.input_contents(0)) context.set_output_contents(0, std::move(*contents));
}

}  // namespace rh::ops
