#include "ops/nn/conv.h"

#include <optional>

#include "compute/conv.h"
#include "providers/cpu/conv_window.h"
#include "providers/cpu/kernel.h"

namespace rh::cpu {

/// Constant float weights are packed at load; float weights that arrive at run time are packed each run, other types take the plain kernel.
class ConvKernel final : public Kernel {
 public:
  using Types = FloatingTypes;

  explicit ConvKernel(const KernelInfo& info) : op_(info.attributes<ops::Conv>()) {
    const Tensor* weights = info.constant_input(1);
    const bool bias_known = !info.node().has_input(2) || info.constant_input(2);
    if (!weights || weights->dtype() != DType::float32 || !bias_known || weights->shape().rank() < 3 || weights->shape().rank() > 5) return;
    const Tensor* bias = info.constant_input(2);
    if (bias && bias->elements() != weights->shape()[0]) return;  // run() says what is wrong
    weights_shape_ = weights->shape();
    packed_.emplace(pack(weights->view(), bias ? bias->data<float>() : nullptr));
  }

  bool owns_constant(int input) const override { return packed_ && (input == 1 || input == 2); }

  Status run(RunContext& context) const override {
    const TensorView x = context.input(0);
    const Shape& w = packed_ ? weights_shape_ : context.input(1).shape();
    if (x.rank() != w.rank() || x.rank() < 3 || x.shape()[1] != w[1] * op_.group || w[0] % op_.group != 0) {
      return error_status(ErrorCode::invalid_argument,
                          "input has shape {} and the weights {}, expected [N, C, ...] and [M, C/group, ...] with group {}",
                          x.shape().to_string(), w.to_string(), op_.group);
    }
    if (!packed_ && context.has_input(2) && context.input(2).elements() != w[0]) {
      return error_status(ErrorCode::invalid_argument, "bias has shape {}, expected [{}]", context.input(2).shape().to_string(), w[0]);
    }
    const size_t spatial = static_cast<size_t>(x.rank() - 2);
    const ops::Window window = with_kernel(op_.window, {w.begin() + 2, spatial});
    const std::span<const int64_t> sizes(x.shape().begin() + 2, spatial);
    Shape shape{x.shape()[0], w[0]};
    for (size_t i = 0; i < spatial; ++i) shape.push_back(std::max<int64_t>(0, window.output_size(i, sizes[i])));
    compute::Window geometry;
    RH_RETURN_IF_ERROR(conv_window(window, sizes, {shape.begin() + 2, spatial}, window.pads_for(sizes), geometry));
    const MutableView y = context.output(0, shape);
    if (y.elements() == 0) return {};
    if (packed_) return convolve(context, *packed_, geometry, x, y);
    if (x.dtype() == DType::float32) {
      const float* bias = context.has_input(2) ? context.input(2).data<float>() : nullptr;
      return convolve(context, pack(context.input(1), bias), geometry, x, y);
    }
    const compute::ConvChannels channels{x.shape()[1], w[0], op_.group};
    return dispatch<Types>(x.dtype(), "Conv", [&]<typename T>() {
      const T* bias = context.has_input(2) ? context.input(2).data<T>() : nullptr;
      compute::conv_reference(channels, geometry, x.shape()[0], x.data<T>(), context.input(1).data<T>(), bias, y.data<T>(),
                              context.parallel());
    });
  }

 private:
  compute::Convolution pack(const TensorView& weights, const float* bias) const {
    const Shape& w = weights.shape();
    const size_t spatial = w.size() - 2;
    const ops::Window window = with_kernel(op_.window, {w.begin() + 2, spatial});
    const std::vector<int64_t> ones(spatial, 1);
    compute::Window geometry;
    // Sizes do not matter for packing.
    if (Status status = conv_window(window, ones, ones, std::vector<int64_t>(spatial, 0), geometry); !status.ok()) {
      throw Error(status.code(), std::string(status.message()));
    }
    return compute::Convolution({w[1] * op_.group, w[0], op_.group}, geometry, weights.data<float>(), bias, {});
  }

  static Status convolve(RunContext& context, const compute::Convolution& convolution, const compute::Window& geometry, const TensorView& x,
                         const MutableView& y) {
    const int64_t batch = x.shape()[0];
    const size_t bytes = convolution.scratch_bytes(geometry, batch, context.parallel().threads());
    void* scratch = bytes ? context.scratch(bytes) : nullptr;
    convolution.run(geometry, batch, x.data<float>(), nullptr, y.data<float>(), scratch, context.parallel());
    return {};
  }

  ops::Conv op_;
  Shape weights_shape_;
  std::optional<compute::Convolution> packed_;
};

}  // namespace rh::cpu

RH_DEFINE_KERNEL(ConvKernel)
