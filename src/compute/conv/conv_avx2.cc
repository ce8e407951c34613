#include "compute/conv/conv_micro_body.h"
#include "compute/conv/conv_planes_body.h"
#include "compute/conv/conv_rows_body.h"
#include "compute/simd/vector_avx2.h"

namespace rh::compute {

extern const ConvTable kAvx2Conv = conv_table<Float, Double>({nullptr, direct<Float>, finish<Float>, channel_lines<Float>});

}  // namespace rh::compute
