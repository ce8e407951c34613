#include "compute/conv_micro_body.h"
#include "compute/vector_generic.h"

namespace rh::compute {

extern const ConvKernels kGenericConv = conv_kernels<Float>();

}  // namespace rh::compute
