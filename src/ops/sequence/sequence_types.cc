#include "ops/sequence/sequence_types.h"

namespace rh::ops {

ValueType sequence_element(const InferenceContext& context, int i) {
  const ValueType& type = context.input_type(i);
  if (type.is_unknown()) return {};
  if (type.kind() != ValueType::Kind::sequence) context.node().fail("input {} is a {}, expected a sequence", i, type.to_string());
  return type.element();
}

}  // namespace rh::ops
