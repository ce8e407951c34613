#include "compute/conv/blocked/conv_blocked_body.h"
#include "compute/simd/vector_avx512.h"

namespace rh::compute {

extern const BlockedKernels kAvx512Blocked = blocked_kernels_of<Float, 14, 2, 14>();

}  // namespace rh::compute
