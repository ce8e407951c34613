#include "ops/ml/category_mapper.h"

#include "ops/registry.h"

namespace rh::ops {

CategoryMapper CategoryMapper::read(const NodeView& node) {
  CategoryMapper op{node.ints_or("cats_int64s"), node.strings_or("cats_strings"), node.int_or("default_int64", -1),
                    node.string_or("default_string", "_Unused")};
  if (op.integers.size() != op.strings.size() || op.strings.empty()) {
    node.fail("has {} cats_int64s and {} cats_strings, expected equally many, at least 1", op.integers.size(), op.strings.size());
  }
  return op;
}

void infer(const CategoryMapper&, InferenceContext& context) {
  const TensorType& x = context.input_tensor(0);
  if (x.dtype == DType::undefined) return;
  context.set_output(0, x.dtype == DType::string ? DType::int64 : DType::string, x.dims);
}

}  // namespace rh::ops

RH_DEFINE_OP(CategoryMapper)
