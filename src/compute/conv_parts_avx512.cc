#include "compute/conv_parts_body.h"
#include "compute/vector_avx512.h"

namespace rh::compute {

extern const PartsKernels kAvx512Parts = parts_kernels<Float>();

}  // namespace rh::compute
