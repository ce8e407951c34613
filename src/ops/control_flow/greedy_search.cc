#include "ops/control_flow/greedy_search.h"

#include "ops/registry.h"

namespace rh::ops {

GreedySearch GreedySearch::read(const NodeView& node) {
  GreedySearch op{.generation = Generation::read(node, Generation::Model::gpt), .samples = node.op_type() == "Sampling"};
  if (op.generation.model == Generation::Model::whisper) node.fail("model_type is 2, expected 0 or 1: WhisperBeamSearch runs Whisper");
  op.temperature = node.float_or("temperature", 1);
  op.top_p = node.float_or("top_p", 0);
  op.keeps_crossing = node.flag("custom");
  op.min_tokens = node.int_or("min_tokens_to_keep", 0);
  op.filter_value = node.float_or("filter_value", op.filter_value);
  op.presence_penalty = node.float_or("presence_penalty", 0);
  return op;
}

void infer(const GreedySearch& op, InferenceContext& context) {
  infer(op.generation, context, {});
  if (context.has_output(1)) context.set_output(1, DType::float32, SymbolicShape(2));
}

}  // namespace rh::ops

RH_DEFINE_OP(GreedySearch)
