#include "compute/gemm/gemm_micro_body.h"
#include "compute/simd/vector_avx2.h"

namespace rh::compute {

extern const MicroKernels<float> kAvx2Float = kernel_table<Float, 6>();
extern const MicroKernels<double> kAvx2Double = kernel_table<Double, 6>();

}  // namespace rh::compute
