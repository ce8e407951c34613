#include "compute/conv_parts_body.h"
#include "compute/vector_generic.h"

namespace rh::compute {

extern const PartsKernels kGenericParts = parts_kernels<Float>();

}  // namespace rh::compute
