#include "compute/conv/blocked/conv_blocked_body.h"
#include "compute/simd/vector_generic.h"

namespace rh::compute {

extern const BlockedKernels kGenericBlocked = blocked_kernels_of<Float, 3, 1, 7>();

}  // namespace rh::compute
