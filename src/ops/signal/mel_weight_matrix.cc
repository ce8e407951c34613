#include "ops/signal/mel_weight_matrix.h"

#include "ops/dtype_attribute.h"
#include "ops/registry.h"

namespace rh::ops {

MelWeightMatrix MelWeightMatrix::read(const NodeView& node) {
  const DType dtype = read_dtype(node, "output_datatype", DType::float32);
  if (dtype == DType::undefined) node.fail("attribute 'output_datatype' is 0, expected the number of an element type");
  return {dtype};
}

void infer(const MelWeightMatrix& op, InferenceContext& context) {
  const auto bins = context.input_contents(0);
  const auto length = context.input_ints(1);
  context.set_output(
      0, op.dtype,
      SymbolicShape{length && length->size() == 1 ? Dim((*length)[0] / 2 + 1) : Dim(), bins && bins->size() == 1 ? (*bins)[0] : Dim()});
}

}  // namespace rh::ops

RH_DEFINE_OP(MelWeightMatrix)
