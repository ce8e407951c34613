#include "compute/conv_micro_body.h"
#include "compute/vector_avx512.h"

namespace rh::compute {

extern const ConvKernels kAvx512Conv = conv_kernels<Float>();

}  // namespace rh::compute
