#include "ops/nn/embed_layer_normalization.h"

#include "ops/dim_rules.h"
#include "ops/registry.h"

namespace rh::ops {

EmbedLayerNormalization EmbedLayerNormalization::read(const NodeView& node) {
  if (node.has_input(1) != node.has_input(4)) node.fail("of segment_ids and segment_embedding one is left out, expected both or none");
  const EmbedLayerNormalization op{.epsilon = node.float_or("epsilon", 1e-12f), .quantized = node.op_type() == "QEmbedLayerNormalization"};
  if (op.quantized && node.has_input(4) && !(node.has_input(op.scale(4)) && node.has_input(op.zero_point(4)))) {
    node.fail("segment_embedding is given without its scale or zero point, expected all three");
  }
  return op;
}

void infer(const EmbedLayerNormalization& op, InferenceContext& context) {
  const TensorType &ids = context.input_tensor(0), &words = context.input_tensor(2);
  if (ids.has_rank() && ids.rank() != 2) context.node().fail("input_ids has shape {}, expected [batch, length]", to_string(*ids.dims));
  if (words.has_rank() && words.rank() != 2) {
    context.node().fail("word_embedding has shape {}, expected two dimensions", to_string(*words.dims));
  }
  std::optional<SymbolicShape> shape, lengths;
  if (ids.has_rank()) {
    shape = SymbolicShape{(*ids.dims)[0], (*ids.dims)[1], words.has_rank() ? (*words.dims)[1] : Dim()};
    lengths = SymbolicShape{(*ids.dims)[0]};
  }
  const DType dtype = op.quantized ? DType::float32 : words.dtype;
  context.set_output(0, dtype, shape);
  context.set_output(1, DType::int32, lengths);
  context.set_output(2, dtype, shape);
}

}  // namespace rh::ops

RH_DEFINE_OP(EmbedLayerNormalization)
