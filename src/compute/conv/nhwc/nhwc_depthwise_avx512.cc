#include "compute/conv/nhwc/nhwc_depthwise_body.h"
#include "compute/simd/vector_avx512.h"

namespace rh::compute {

extern const NhwcDepthwiseKernels kAvx512NhwcDepthwise = nhwc_depthwise_kernels<Float>();

}  // namespace rh::compute
