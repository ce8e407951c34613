#include "compute/conv.h"

#include <limits>

#include "base/cpu_features.h"
#include "compute/conv_impl.h"

namespace rh::compute {

#if defined(__x86_64__) || defined(_M_X64)
const ConvKernels& conv_kernels() {
  const CpuFeatures& cpu = cpu_features();
  return cpu.avx512 ? kAvx512Conv : cpu.avx2 ? kAvx2Conv : kGenericConv;
}
const ConvKernels& conv_kernels_for_width(int64_t columns) {
  return columns == 2 * kAvx512Conv.lanes ? kAvx512Conv : columns == 2 * kAvx2Conv.lanes ? kAvx2Conv : kGenericConv;
}
#else
const ConvKernels& conv_kernels() { return kGenericConv; }
const ConvKernels& conv_kernels_for_width(int64_t) { return kGenericConv; }
#endif

Clamp::Clamp(const Activation& activation) : low(-std::numeric_limits<float>::infinity()), high(std::numeric_limits<float>::infinity()) {
  switch (activation.kind) {
    case ActivationKind::none: break;
    case ActivationKind::relu: low = 0; break;
    case ActivationKind::clip:
      low = activation.alpha;
      high = activation.beta;
      break;
    default: activates = true;
  }
}

Convolution::Convolution(const ConvChannels& channels, const Window& window, const float* weights, const float* bias,
                         const Activation& activation) {
  const bool depthwise = channels.groups == channels.in && channels.in == channels.out && channels.groups > 1;
  impl_ = (depthwise ? make_depthwise : make_conv_gemm)(channels, window, weights, bias, activation);
}

Convolution::~Convolution() = default;
Convolution::Convolution(Convolution&&) noexcept = default;
Convolution& Convolution::operator=(Convolution&&) noexcept = default;

size_t Convolution::scratch_bytes(const Window&, int64_t, int) const { return 0; }

void Convolution::run(const Window& window, int64_t batch, const float* x, const float* residual, float* y, void*,
                      const Parallel& parallel) const {
  if (batch <= 0 || window.output_size() <= 0) return;
  impl_->run({window, batch, x, residual, y}, parallel);
}

size_t Convolution::weight_bytes() const { return impl_->weight_bytes(); }
const char* Convolution::variant() const { return impl_->variant(); }

}  // namespace rh::compute
