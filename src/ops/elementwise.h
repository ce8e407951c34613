#pragma once

#include <optional>
#include <span>

#include "base/function_ref.h"
#include "ops/inference.h"

namespace rh::ops {

/// An operator name and the enumerator that a family's struct keeps for it.
template <typename E>
struct OpName {
  std::string_view name;
  E value;
};

/// The enumerator of the node's operator; the list holds every name of the struct's row in op_list.inc.
template <typename E, size_t N>
E enumerator_of(const NodeView& node, const OpName<E> (&names)[N]) {
  for (const OpName<E>& entry : names) {
    if (entry.name == node.op_type()) return entry.value;
  }
  node.fail("operator {} does not belong to this family", node.op_type());
}

/// Broadcasting of the second input before opset 7: attributes `broadcast` and `axis`.
struct LegacyBroadcast {
  /// Where the second input's dimensions begin in the first one's; nothing: aligned at the end, as numpy does.
  std::optional<int64_t> axis;

  static LegacyBroadcast read(const NodeView& node);
  /// How many dimensions of size 1 follow the second input's own ones.
  int trailing_ones(int rank_a, int rank_b) const;
};

/// Output 0 of a two-input operator: `dtype`, or the first input's where it is undefined, and the broadcast shape.
void infer_binary(InferenceContext& context, const LegacyBroadcast& legacy, DType dtype = DType::undefined);

/// Output 0 has the type and shape of input 0.
void infer_same(InferenceContext& context);

/// Known contents of output 0, element by element from those of the inputs; a lone element is used for all.
void infer_contents(InferenceContext& context, int inputs, FunctionRef<Dim(std::span<const Dim>)> f);

/// True where `dim` is at least 0 whatever its symbols (which are sizes) stand for.
bool is_non_negative(const Dim& dim);
/// Division that truncates, as integer Div does; unknown where its sign of rounding cannot be told.
Dim truncating_division(const Dim& a, const Dim& b);
/// 1, 0 or unknown.
Dim equal_contents(const Dim& a, const Dim& b);
Dim less_contents(const Dim& a, const Dim& b);

}  // namespace rh::ops
