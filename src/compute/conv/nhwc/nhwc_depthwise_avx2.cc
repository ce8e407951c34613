#include "compute/conv/nhwc/nhwc_depthwise_body.h"
#include "compute/simd/vector_avx2.h"

namespace rh::compute {

extern const NhwcDepthwiseKernels kAvx2NhwcDepthwise = nhwc_depthwise_kernels<Float>();

}  // namespace rh::compute
