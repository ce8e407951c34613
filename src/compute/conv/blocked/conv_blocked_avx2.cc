#include "compute/conv/blocked/conv_blocked_body.h"
#include "compute/simd/vector_avx2.h"

namespace rh::compute {

extern const BlockedKernels kAvx2Blocked = blocked_kernels_of<Float, 6, 1, 7>();

}  // namespace rh::compute
