#include "ops/vision/crop.h"

#include <algorithm>

#include "ops/registry.h"

namespace rh::ops {

Crop Crop::read(const NodeView& node) {
  constexpr int64_t kMost = int64_t{1} << 31;
  Crop op;
  const std::vector<int64_t> border = node.ints_or("border"), scale = node.ints_or("scale");
  const auto check = [&](const char* name, const std::vector<int64_t>& list, size_t count) {
    const bool fits = std::ranges::all_of(list, [](int64_t value) { return value >= 0 && value <= kMost; });
    if (list.size() != count || !fits) node.fail("{} is {}, expected {} sizes", name, rh::to_string(std::span<const int64_t>(list)), count);
  };
  check("border", border, op.border.size());
  std::ranges::copy(border, op.border.begin());
  if (scale.empty()) return op;
  check("scale", scale, 2);
  op.size = {scale[0], scale[1]};
  return op;
}

int64_t Crop::length(int axis, int64_t image) const {
  const int64_t left = image - begin(axis);
  if (!size) return left - border[axis == 0 ? 3 : 2];
  return (*size)[static_cast<size_t>(axis)] <= left ? (*size)[static_cast<size_t>(axis)] : -1;
}

void infer(const Crop& op, InferenceContext& context) {
  const TensorType& x = context.input_tensor(0);
  if (!x.has_rank()) return context.set_output(0, x.dtype);
  if (x.rank() != 4) context.node().fail("input has rank {}, expected 4: [N, C, H, W]", x.rank());
  SymbolicShape dims = *x.dims;
  for (int axis = 0; axis < 2; ++axis) {
    Dim& dim = dims[static_cast<size_t>(axis) + 2];
    if (op.size) {
      dim = Dim((*op.size)[static_cast<size_t>(axis)]);
    } else {
      dim = dim - Dim(op.begin(axis)) - Dim(op.border[axis == 0 ? 3 : 2]);
    }
    if (dim.is_constant() && dim.value() < 0) context.node().fail("the border leaves nothing of input {}", to_string(*x.dims));
  }
  context.set_output(0, x.dtype, std::move(dims));
}

}  // namespace rh::ops

RH_DEFINE_OP(Crop)
