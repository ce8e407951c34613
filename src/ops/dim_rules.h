#pragma once

#include "graph/dim.h"
#include "ops/inference.h"

namespace rh::ops {

/// True where the expression cannot be negative, given that symbols are sizes and so never are.
bool is_nonnegative(const Dim& dim);
/// max(dim, 0), or dim itself where it cannot be negative.
Dim clamp_to_zero(const Dim& dim);
/// What two dimensions that must be equal say together: a number beats an expression. Throws Error{fail} naming `what` where two
/// numbers differ.
Dim agree(const InferenceContext& context, const Dim& a, const Dim& b, const char* what);
/// What holds of both dimensions where either may come: unknown where they differ.
Dim either(const Dim& a, const Dim& b);
/// The same of types; an element type or kind in which they differ throws Error{fail} naming `what`.
ValueType either(const InferenceContext& context, const ValueType& a, const ValueType& b, const char* what);
/// As many unknown dimensions.
inline SymbolicShape unknown_dims(int rank) { return SymbolicShape(static_cast<size_t>(rank)); }
/// Passes known contents of input 0 on to output 0, for operators that keep the elements in order.
void keep_contents(InferenceContext& context);

}  // namespace rh::ops
