#include "providers/gpu/lower/tensor/move.h"

#include <array>

#include "providers/gpu/plan/strides.h"

namespace rh::gpu {

void lower_move(Lowering& lowering, const Move& move) {
  if (move.shape.elements() == 0) return;
  const std::array strides = {move.from_strides, move.to_strides};
  const StridedDims dims = collapse(move.shape, strides);
  MoveArguments arguments{};
  arguments.n = move.shape.elements();
  arguments.rank = dims.rank();
  fill(arguments.sizes, dims.sizes);
  fill(arguments.from_strides, dims.strides[0]);
  fill(arguments.to_strides, dims.strides[1]);
  arguments.from_offset = move.from_offset;
  arguments.to_offset = move.to_offset;
  lowering.launch({"move", fmt::format("move<{}>", mover_name(lowering.dtype(move.to)))}, over_elements(arguments.n), arguments,
                  {{offsetof(MoveArguments, from), move.from}, {offsetof(MoveArguments, to), move.to, true}});
}

}  // namespace rh::gpu
