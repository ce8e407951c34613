#include "ops/tensor/shape.h"

#include <algorithm>

#include "ops/dim_rules.h"
#include "ops/registry.h"

namespace rh::ops {

Shape Shape::read(const NodeView& node) {
  return {.start = node.int_or("start", 0), .end = node.has("end") ? std::optional(node.required_int("end")) : std::nullopt};
}

std::pair<int, int> Shape::range(int rank) const {
  const auto place = [rank](int64_t at) { return static_cast<int>(std::clamp<int64_t>(at < 0 ? at + rank : at, 0, rank)); };
  const int first = place(start), last = end ? place(*end) : rank;
  return {first, std::max(first, last)};
}

void infer(const Shape& op, InferenceContext& context) {
  const TensorType& x = context.input_tensor(0);
  if (!x.has_rank()) return context.set_output(0, DType::int64, unknown_dims(1));
  const auto [first, last] = op.range(x.rank());
  context.set_output(0, DType::int64, SymbolicShape{Dim(last - first)});
  context.set_output_contents(0, SymbolicShape(x.dims->begin() + first, x.dims->begin() + last));
}

}  // namespace rh::ops

RH_DEFINE_OP(Shape)
