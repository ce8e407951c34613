#include "compute/conv/parts/conv_parts_body.h"
#include "compute/simd/vector_avx512.h"

namespace rh::compute {

extern const PartsKernels kAvx512Parts = parts_kernels<Float>();

}  // namespace rh::compute
