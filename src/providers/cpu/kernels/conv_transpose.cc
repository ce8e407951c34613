#include "ops/nn/conv_transpose.h"

#include "compute/conv.h"
#include "providers/cpu/conv_window.h"
#include "providers/cpu/kernel.h"

namespace rh::cpu {

class ConvTransposeKernel final : public Kernel {
 public:
  using Types = FloatingTypes;

  explicit ConvTransposeKernel(const KernelInfo& info) : op_(info.attributes<ops::ConvTranspose>()) {}

  Status run(RunContext& context) const override {
    const TensorView x = context.input(0), w = context.input(1);
    if (x.rank() != w.rank() || x.rank() < 3 || x.shape()[1] != w.shape()[0] || x.shape()[1] % op_.group != 0) {
      return error_status(ErrorCode::invalid_argument,
                          "input has shape {} and the weights {}, expected [N, C, ...] and [C, M/group, ...] with group {}",
                          x.shape().to_string(), w.shape().to_string(), op_.group);
    }
    const int64_t filters = w.shape()[1] * op_.group;
    if (context.has_input(2) && context.input(2).elements() != filters) {
      return error_status(ErrorCode::invalid_argument, "bias has shape {}, expected [{}]", context.input(2).shape().to_string(), filters);
    }
    const size_t spatial = static_cast<size_t>(x.rank() - 2);
    ops::ConvTranspose op = op_;
    op.window = with_kernel(op_.window, {w.shape().begin() + 2, spatial});
    if (op.output_padding.empty()) op.output_padding.assign(spatial, 0);
    const std::span<const int64_t> sizes(x.shape().begin() + 2, spatial);
    Shape shape{x.shape()[0], filters};
    for (size_t i = 0; i < spatial; ++i) shape.push_back(std::max<int64_t>(0, op.output_size(i, sizes[i])));
    compute::Window geometry;
    RH_RETURN_IF_ERROR(conv_window(op.window, sizes, {shape.begin() + 2, spatial}, op.pads_for(sizes), geometry));
    const MutableView y = context.output(0, shape);
    if (y.elements() == 0) return {};
    const compute::ConvChannels channels{x.shape()[1], filters, op_.group};
    return dispatch<Types>(x.dtype(), "ConvTranspose", [&]<typename T>() {
      const T* bias = context.has_input(2) ? context.input(2).data<T>() : nullptr;
      compute::conv_transpose_reference(channels, geometry, x.shape()[0], x.data<T>(), w.data<T>(), bias, y.data<T>(), context.parallel());
    });
  }

 private:
  ops::ConvTranspose op_;
};

}  // namespace rh::cpu

RH_DEFINE_KERNEL(ConvTransposeKernel)
