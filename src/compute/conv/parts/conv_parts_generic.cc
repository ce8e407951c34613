#include "compute/conv/parts/conv_parts_body.h"
#include "compute/simd/vector_generic.h"

namespace rh::compute {

extern const PartsKernels kGenericParts = parts_kernels<Float>();

}  // namespace rh::compute
