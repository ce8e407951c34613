#include "ops/text/ngram_repeat_block.h"

#include "ops/registry.h"

namespace rh::ops {

NGramRepeatBlock NGramRepeatBlock::read(const NodeView& node) {
  const int64_t size = node.required_int("ngram_size");
  if (size < 1) node.fail("attribute 'ngram_size' is {}, expected at least 1", size);
  return {size};
}

void infer(const NGramRepeatBlock&, InferenceContext& context) { context.set_output(0, context.input_tensor(1)); }

}  // namespace rh::ops

RH_DEFINE_OP(NGramRepeatBlock)
