#include "ops/ml/one_hot_encoder.h"

#include <utility>

#include "ops/registry.h"

namespace rh::ops {

OneHotEncoder OneHotEncoder::read(const NodeView& node) {
  OneHotEncoder op{node.ints_or("cats_int64s"), node.strings_or("cats_strings"), node.flag("zeros", true)};
  if (op.integers.empty() == op.strings.empty()) node.fail("needs one of the attributes 'cats_int64s' and 'cats_strings'");
  return op;
}

void infer(const OneHotEncoder& op, InferenceContext& context) {
  const TensorType& x = context.input_tensor(0);
  if (x.dtype != DType::undefined && (x.dtype == DType::string) != op.integers.empty()) {
    context.node().fail("the input is of type {}, but the categories are {}", to_string(x.dtype),
                        op.integers.empty() ? "strings" : "integers");
  }
  std::optional<SymbolicShape> dims = x.dims;
  if (dims) dims->push_back(op.count());
  context.set_output(0, DType::float32, std::move(dims));
}

}  // namespace rh::ops

RH_DEFINE_OP(OneHotEncoder)
