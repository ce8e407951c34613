#pragma once

#include <memory>
#include <vector>

#include "compute/conv.h"
#include "compute/conv_micro.h"
#include "compute/gemm_kernels.h"

namespace rh::compute {

const ConvKernels& conv_kernels();
/// Those that fit panels of `columns` columns.
const ConvKernels& conv_kernels_for_width(int64_t columns);

/// What relu and clip become inside the kernels; other activations are left to a pass of their own.
struct Clamp {
  explicit Clamp(const Activation& activation);
  float low;
  float high;
  bool activates = false;  ///< a pass of its own is needed
};

/// One call of Convolution::run.
struct ConvCall {
  const Window& window;
  int64_t batch;
  const float* x;
  const float* residual;
  float* y;
};

struct Convolution::Impl {
  virtual ~Impl() = default;
  virtual void run(const ConvCall& call, const Parallel& parallel) const = 0;
  virtual size_t weight_bytes() const = 0;
  virtual const char* variant() const = 0;
};

/// Every channel by itself: groups = in = out.
std::unique_ptr<Convolution::Impl> make_depthwise(const ConvChannels& channels, const Window& window, const float* weights,
                                                  const float* bias, const Activation& activation);
/// Everything else: the matrix product of the weights and of columns that are gathered a block at a time.
std::unique_ptr<Convolution::Impl> make_conv_gemm(const ConvChannels& channels, const Window& window, const float* weights,
                                                  const float* bias, const Activation& activation);

}  // namespace rh::compute
