#include "ops/nn/rotary_embedding.h"

#include "ops/registry.h"

namespace rh::ops {

RotaryEmbedding RotaryEmbedding::read(const NodeView& node) {
  const RotaryEmbedding op{.heads = node.int_or("num_heads", 0),
                           .rotary_depth = node.int_or("rotary_embedding_dim", 0),
                           .interleaved = node.flag("interleaved"),
                           .is_contrib = node.domain() == "com.microsoft"};
  if (op.heads < 0) node.fail("num_heads is {}, expected a positive number", op.heads);
  if (op.rotary_depth < 0 || op.rotary_depth % 2 != 0) node.fail("rotary_embedding_dim is {}, expected an even number", op.rotary_depth);
  return op;
}

void infer(const RotaryEmbedding& op, InferenceContext& context) {
  const TensorType& x = context.input_tensor(0);
  if (x.has_rank() && x.rank() != 3 && x.rank() != 4) context.node().fail("X has shape {}, expected 3 or 4 dimensions", to_string(*x.dims));
  if (x.has_rank() && x.rank() == 3 && op.heads == 0 && (!op.is_contrib || op.rotary_depth > 0))
    context.node().fail("X has three dimensions, expected the attribute num_heads");
  const int rank = context.has_input(op.positions()) ? 2 : 3;
  for (int i : {op.cosines(), op.sines()}) {
    const TensorType& cache = context.input_tensor(i);
    if (cache.has_rank() && cache.rank() != rank) {
      context.node().fail("input {} has shape {}, expected {} dimensions {} position_ids", i, to_string(*cache.dims), rank,
                          rank == 2 ? "with" : "without");
    }
  }
  context.set_output(0, x);
}

}  // namespace rh::ops

RH_DEFINE_OP(RotaryEmbedding)
