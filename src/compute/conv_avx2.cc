#include "compute/conv_micro_body.h"
#include "compute/vector_avx2.h"

namespace rh::compute {

extern const ConvKernels kAvx2Conv = conv_kernels<Float>();

}  // namespace rh::compute
