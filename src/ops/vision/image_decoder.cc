#include "ops/vision/image_decoder.h"

#include "ops/registry.h"

namespace rh::ops {

ImageDecoder ImageDecoder::read(const NodeView& node) {
  const std::string format = node.string_or("pixel_format", "RGB");
  if (format == "RGB") return {Pixels::rgb};
  if (format == "BGR") return {Pixels::bgr};
  if (format == "Grayscale") return {Pixels::grayscale};
  node.fail("attribute 'pixel_format' is '{}', expected RGB, BGR or Grayscale", format);
}

void infer(const ImageDecoder& op, InferenceContext& context) {
  const TensorType& x = context.input_tensor(0);
  if (x.has_rank() && x.rank() != 1) context.node().fail("input has shape {}, expected [bytes]", to_string(*x.dims));
  context.set_output(0, DType::uint8, SymbolicShape{context.fresh_symbol(), context.fresh_symbol(), op.channels()});
}

}  // namespace rh::ops

RH_DEFINE_OP(ImageDecoder)
