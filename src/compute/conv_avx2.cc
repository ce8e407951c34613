#include "compute/conv_micro_body.h"
#include "compute/vector_avx2.h"

namespace rh::compute {

extern const ConvTable kAvx2Conv = conv_table<Float, Double>({});

}  // namespace rh::compute
