#include "ops/ml/zip_map.h"

#include "ops/registry.h"

namespace rh::ops {

ZipMap ZipMap::read(const NodeView& node) {
  ZipMap op{node.ints_or("classlabels_int64s"), node.strings_or("classlabels_strings")};
  if (op.int_labels.empty() == op.string_labels.empty()) {
    node.fail("needs one of the attributes 'classlabels_int64s' and 'classlabels_strings'");
  }
  return op;
}

void infer(const ZipMap& op, InferenceContext& context) {
  const TensorType& x = context.input_tensor(0);
  if (x.has_rank()) {
    if (x.rank() != 1 && x.rank() != 2) context.node().fail("input has rank {}, expected [rows, labels]", x.rank());
    const Dim& columns = x.dims->back();
    if (columns.is_constant() && columns.value() != op.count()) {
      context.node().fail("input has {} columns, expected {}, one for each label", columns.value(), op.count());
    }
  }
  const DType key = op.string_labels.empty() ? DType::int64 : DType::string;
  context.set_output(0, ValueType::sequence_of(ValueType::map_of(key, ValueType::tensor(DType::float32, SymbolicShape{}))));
}

}  // namespace rh::ops

RH_DEFINE_OP(ZipMap)
