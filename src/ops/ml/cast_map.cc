#include "ops/ml/cast_map.h"

#include <string>

#include "ops/registry.h"

namespace rh::ops {

CastMap CastMap::read(const NodeView& node) {
  const std::string to = node.string_or("cast_to", "TO_FLOAT"), form = node.string_or("map_form", "DENSE");
  CastMap op{DType::undefined, form == "SPARSE", node.int_or("max_map", 1)};
  if (to == "TO_FLOAT") op.to = DType::float32;
  if (to == "TO_INT64") op.to = DType::int64;
  if (to == "TO_STRING") op.to = DType::string;
  if (op.to == DType::undefined) node.fail("attribute 'cast_to' is '{}', expected TO_FLOAT, TO_INT64 or TO_STRING", to);
  if (form != "DENSE" && form != "SPARSE") node.fail("attribute 'map_form' is '{}', expected DENSE or SPARSE", form);
  if (op.sparse && op.size < 1) node.fail("attribute 'max_map' is {}, expected at least 1", op.size);
  return op;
}

void infer(const CastMap& op, InferenceContext& context) {
  const ValueType& x = context.input_type(0);
  if (!x.is_unknown() && x.kind() != ValueType::Kind::map) context.node().fail("the input is {}, expected a map", x.to_string());
  context.set_output(0, op.to, SymbolicShape{Dim(1), op.sparse ? Dim(op.size) : context.fresh_symbol()});
}

}  // namespace rh::ops

RH_DEFINE_OP(CastMap)
