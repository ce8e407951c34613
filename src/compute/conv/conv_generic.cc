#include "compute/conv/conv_micro_body.h"
#include "compute/simd/vector_generic.h"

namespace rh::compute {

extern const ConvTable kGenericConv = conv_table<Float, Double>({});

}  // namespace rh::compute
