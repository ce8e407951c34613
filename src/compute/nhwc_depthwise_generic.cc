#include "compute/nhwc_depthwise_body.h"
#include "compute/vector_generic.h"

namespace rh::compute {

extern const NhwcDepthwiseKernels kGenericNhwcDepthwise = nhwc_depthwise_kernels<Float>();

}  // namespace rh::compute
