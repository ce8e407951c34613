#include "ops/text/bifurcation_detector.h"

#include "ops/registry.h"

namespace rh::ops {

BifurcationDetector BifurcationDetector::read(const NodeView& node) {
  BifurcationDetector op{node.int_or("min_ngram_size", 1), node.int_or("max_ngram_size", 3)};
  if (op.least < 1 || op.most < op.least) node.fail("has n-grams from {} to {}, expected 1 <= min <= max", op.least, op.most);
  return op;
}

void infer(const BifurcationDetector&, InferenceContext& context) {
  context.set_output(0, DType::int64, SymbolicShape{context.fresh_symbol()});
  context.set_output(1, DType::int64, SymbolicShape{});
}

}  // namespace rh::ops

RH_DEFINE_OP(BifurcationDetector)
