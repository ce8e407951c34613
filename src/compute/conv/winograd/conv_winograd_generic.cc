#include "compute/conv/winograd/conv_winograd_four_body.h"
#include "compute/simd/vector_generic.h"

namespace rh::compute {

extern const WinogradKernels kGenericWinograd = winograd_kernels<Float>();

}  // namespace rh::compute
