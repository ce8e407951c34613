#include "ops/text/word_conv_embedding.h"

#include "ops/registry.h"

namespace rh::ops {

WordConvEmbedding WordConvEmbedding::read(const NodeView& node) {
  return {node.int_or("embedding_size", 0), node.int_or("conv_window_size", 0), node.int_or("char_embedding_size", 0)};
}

void infer(const WordConvEmbedding&, InferenceContext& context) {
  const TensorType &words = context.input_tensor(0), &weights = context.input_tensor(1);
  if (words.has_rank() && words.rank() != 2)
    context.node().fail("words have shape {}, expected [count, characters]", to_string(*words.dims));
  context.set_output(0, weights.dtype,
                     SymbolicShape{words.has_rank() ? (*words.dims)[0] : Dim(), weights.has_rank() ? (*weights.dims)[0] : Dim()});
}

}  // namespace rh::ops

RH_DEFINE_OP(WordConvEmbedding)
