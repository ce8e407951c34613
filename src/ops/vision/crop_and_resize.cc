#include "ops/vision/crop_and_resize.h"

#include "ops/registry.h"

namespace rh::ops {

CropAndResize CropAndResize::read(const NodeView& node) {
  const std::string mode = node.string_or("mode", "bilinear");
  if (mode != "bilinear" && mode != "nearest") node.fail("attribute 'mode' is '{}', expected bilinear or nearest", mode);
  return {mode == "nearest", node.float_or("extrapolation_value", 0)};
}

void infer(const CropAndResize&, InferenceContext& context) {
  const TensorType &x = context.input_tensor(0), &rois = context.input_tensor(1);
  const auto size = context.input_contents(3);
  SymbolicShape shape(4);
  if (rois.has_rank() && rois.rank() == 2) shape[0] = (*rois.dims)[0];
  if (x.has_rank()) {
    if (x.rank() != 4) context.node().fail("input has shape {}, expected [N, C, H, W]", to_string(*x.dims));
    shape[1] = (*x.dims)[1];
  }
  if (size && size->size() == 2) shape[2] = (*size)[0], shape[3] = (*size)[1];
  context.set_output(0, x.dtype, std::move(shape));
}

}  // namespace rh::ops

RH_DEFINE_OP(CropAndResize)
