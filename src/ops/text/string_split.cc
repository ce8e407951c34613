#include "ops/text/string_split.h"

#include <limits>

#include "ops/registry.h"

namespace rh::ops {

StringSplit StringSplit::read(const NodeView& node) {
  constexpr int64_t kUnlimited = std::numeric_limits<int64_t>::max();
  const int64_t splits = node.int_or("maxsplit", kUnlimited);
  return {node.string_or("delimiter", ""), splits < 0 ? kUnlimited : splits};
}

void infer(const StringSplit&, InferenceContext& context) {
  const TensorType& x = context.input_tensor(0);
  context.set_output(1, DType::int64, x.dims);
  if (!x.has_rank()) return context.set_output(0, DType::string);
  SymbolicShape parts = *x.dims;
  parts.push_back(context.fresh_symbol());
  context.set_output(0, DType::string, std::move(parts));
}

}  // namespace rh::ops

RH_DEFINE_OP(StringSplit)
