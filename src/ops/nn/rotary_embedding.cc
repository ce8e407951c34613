#include "ops/nn/rotary_embedding.h"

#include <algorithm>

#include "ops/nn/heads.h"
#include "ops/registry.h"

namespace rh::ops {

RotaryEmbedding RotaryEmbedding::read(const NodeView& node) {
  RotaryEmbedding op{.heads = node.int_or("num_heads", 0),
                     .rotary_depth = node.int_or("rotary_embedding_dim", 0),
                     .interleaved = node.flag("interleaved"),
                     .is_contrib = node.domain() == "com.microsoft"};
  if (op.heads < 0 || op.heads > kMostHeads) node.fail("num_heads is {}, expected a positive number, at most {}", op.heads, kMostHeads);
  if (op.rotary_depth < 0 || op.rotary_depth % 2 != 0) node.fail("rotary_embedding_dim is {}, expected an even number", op.rotary_depth);
  if (node.op_type() == "MRotaryEmbedding") {
    op.sections = node.required_ints("mrope_section");
    const bool fits =
        op.sections.size() == 3 && std::all_of(op.sections.begin(), op.sections.end(), [](int64_t size) { return size >= 0; });
    if (!fits) node.fail("mrope_section is {}, expected three numbers of angles: time, height and width", to_string(op.sections));
    const int64_t layout = node.int_or("mrope_layout", 0);
    if (layout != 0 && layout != 1) node.fail("mrope_layout is {}, expected 0 (sections) or 1 (interleaved)", layout);
    op.sections_are_interleaved = layout == 1;
    op.scale = node.float_or("scale", 1);
  }
  return op;
}

int RotaryEmbedding::stream_of(int64_t i) const {
  for (int stream : {1, 2}) {
    const size_t at = static_cast<size_t>(stream);
    const int64_t before = sections[0] + (stream == 2 ? sections[1] : 0);
    if (sections_are_interleaved ? i % 3 == stream && i / 3 < sections[at] : i >= before && i - before < sections[at]) return stream;
  }
  return 0;
}

void infer(const RotaryEmbedding& op, InferenceContext& context) {
  const TensorType& x = context.input_tensor(0);
  if (x.has_rank() && x.rank() != 3 && x.rank() != 4) context.node().fail("X has shape {}, expected 3 or 4 dimensions", to_string(*x.dims));
  if (x.has_rank() && x.rank() == 3 && op.heads == 0 && (!op.is_contrib || op.rotary_depth > 0 || !op.sections.empty()))
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
