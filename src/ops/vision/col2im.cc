#include "ops/vision/col2im.h"

#include "ops/registry.h"

namespace rh::ops {

Col2Im Col2Im::read(const NodeView& node) {
  constexpr int64_t kMost = (int64_t{1} << 31) - 1;
  const auto numbers = [&](const char* name, int64_t least) {
    std::vector<int64_t> list = node.ints_or(name);
    for (int64_t value : list) {
      if (value < least || value > kMost) node.fail("{} has the value {}, expected one in [{}, {}]", name, value, least, kMost);
    }
    return list;
  };
  return {.strides = numbers("strides", 1), .dilations = numbers("dilations", 1), .pads = numbers("pads", 0)};
}

void infer(const Col2Im&, InferenceContext& context) {
  const TensorType& x = context.input_tensor(0);
  if (x.has_rank() && x.rank() != 3)
    context.node().fail("input has shape {}, expected [N, C elements of a block, blocks]", to_string(*x.dims));
  context.set_output(0, x.dtype);
  const auto image = context.input_contents(1);
  if (!image) return;
  SymbolicShape dims{x.has_rank() ? (*x.dims)[0] : Dim(), Dim()};
  if (const auto block = context.input_ints(2); block && x.has_rank()) {
    Dim elements = 1;
    for (int64_t size : *block) {
      if (size < 1) context.node().fail("block_shape has {}, expected positive sizes", size);
      elements = elements * Dim(size);
    }
    dims[1] = Dim::apply(Dim::Function::floor_div, (*x.dims)[1], elements);
  }
  dims.insert(dims.end(), image->begin(), image->end());
  context.set_output(0, x.dtype, std::move(dims));
}

}  // namespace rh::ops

RH_DEFINE_OP(Col2Im)
