#include "ops/text/tokenizer.h"

#include "ops/registry.h"

namespace rh::ops {

Tokenizer Tokenizer::read(const NodeView& node) {
  Tokenizer op;
  op.mark = node.required_int("mark") != 0;
  op.least_characters = node.required_int("mincharnum");
  op.pad_value = node.required_string("pad_value");
  op.patterns = node.strings_or("separators");
  if (op.patterns.empty()) {
    op.patterns = {node.string_or("tokenexp", "")};
    if (op.patterns[0] != ".") op.mode = Mode::tokens;  // every character, those that end lines as well
    if (op.patterns[0].empty()) node.fail("has neither 'separators' nor 'tokenexp', expected one of them");
  } else if (op.patterns.size() > 1 || !op.patterns[0].empty()) {
    op.mode = Mode::separators;
  }
  if (op.least_characters < 1 || (op.mode == Mode::characters && op.least_characters > 1)) {
    node.fail("attribute 'mincharnum' is {}, expected {}", op.least_characters,
              op.mode == Mode::characters ? "1 where tokens are characters" : "at least 1");
  }
  return op;
}

void infer(const Tokenizer&, InferenceContext& context) {
  const TensorType& x = context.input_tensor(0);
  if (!x.has_rank()) return context.set_output(0, DType::string);
  if (x.rank() != 1 && x.rank() != 2) context.node().fail("input has shape {}, expected [C] or [N, C]", to_string(*x.dims));
  SymbolicShape shape = *x.dims;
  shape.push_back(context.fresh_symbol());
  context.set_output(0, DType::string, std::move(shape));
}

}  // namespace rh::ops

RH_DEFINE_OP(Tokenizer)
