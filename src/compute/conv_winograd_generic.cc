#include "compute/conv_winograd_four_body.h"
#include "compute/vector_generic.h"

namespace rh::compute {

extern const WinogradKernels kGenericWinograd = winograd_kernels<Float>();

}  // namespace rh::compute
