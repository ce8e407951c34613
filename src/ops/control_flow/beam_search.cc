#include "ops/control_flow/beam_search.h"

#include "ops/registry.h"

namespace rh::ops {

BeamSearch BeamSearch::read(const NodeView& node) {
  const bool is_whisper = node.op_type() == "WhisperBeamSearch";
  BeamSearch op{.generation = Generation::read(node, is_whisper ? Generation::Model::whisper : Generation::Model::gpt),
                .early_stopping = node.flag("early_stopping"),
                .is_whisper = is_whisper};
  op.no_speech = node.int_or("no_speech_token_id", -1);
  op.timestamps = {.first = node.int_or("beginning_timestamp_token_id", 0),
                   .no_timestamps = node.int_or("no_timestamps_token_id", 0),
                   .start_of_lm = node.int_or("start_of_lm_token_id", 0),
                   .start = op.generation.start,
                   .transcribe = node.int_or("transcribe_token_id", 0),
                   .translate = node.int_or("translate_token_id", 0)};
  return op;
}

void infer(const BeamSearch& op, InferenceContext& context) {
  const Dim returned = size_input(context, 4);
  infer(op.generation, context, std::span(&returned, 1));
  const Dim batch = (*context.output_type(0).tensor().dims)[0];
  if (context.has_output(1)) context.set_output(1, DType::float32, SymbolicShape{batch, returned});
  if (context.has_output(2)) context.set_output(2, DType::float32, SymbolicShape{Dim(), batch, size_input(context, 3), Dim()});
  if (context.has_output(3)) context.node().fail("output cross_qk is not computed on the CPU: leave it out");
  if (context.has_output(4)) context.set_output(4, DType::float32, SymbolicShape{batch});
}

}  // namespace rh::ops

RH_DEFINE_OP(BeamSearch)
