#include "compute/conv/winograd/conv_winograd_four_body.h"
#include "compute/simd/vector_avx512.h"

namespace rh::compute {

extern const WinogradKernels kAvx512Winograd = winograd_kernels<Float>();

}  // namespace rh::compute
