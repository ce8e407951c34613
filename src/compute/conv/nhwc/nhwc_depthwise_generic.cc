#include "compute/conv/nhwc/nhwc_depthwise_body.h"
#include "compute/simd/vector_generic.h"

namespace rh::compute {

extern const NhwcDepthwiseKernels kGenericNhwcDepthwise = nhwc_depthwise_kernels<Float>();

}  // namespace rh::compute
