#include "compute/conv/parts/conv_parts_body.h"
#include "compute/simd/vector_avx2.h"

namespace rh::compute {

extern const PartsKernels kAvx2Parts = parts_kernels<Float>();

}  // namespace rh::compute
