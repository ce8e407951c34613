#include "compute/conv_micro_body.h"
#include "compute/vector_avx512.h"

namespace rh::compute {

extern const ConvTable kAvx512Conv = conv_table<Float, Double>();

}  // namespace rh::compute
