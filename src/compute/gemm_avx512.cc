#include "compute/gemm_micro_body.h"
#include "compute/vector_avx512.h"

namespace rh::compute {

extern const MicroKernels<float> kAvx512Float = kernel_table<Float, 14>();
extern const MicroKernels<double> kAvx512Double = kernel_table<Double, 8>();

}  // namespace rh::compute
