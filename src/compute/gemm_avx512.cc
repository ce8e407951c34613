#include "compute/gemm_beside_body.h"
#include "compute/gemm_fip_body.h"
#include "compute/gemm_micro_body.h"
#include "compute/vector_avx512.h"

namespace rh::compute {

namespace {

constexpr MicroKernels<float> float_kernels() {
  MicroKernels<float> kernels = kernel_table<Float, 14>();
  kernels.beside = kBesideKernels<Float>;
  return kernels;
}

}  // namespace

extern const MicroKernels<float> kAvx512Float = float_kernels();
extern const MicroKernels<double> kAvx512Double = kernel_table<Double, 8>();
extern const FipKernels kAvx512Fip = fip_kernels<Float>();

}  // namespace rh::compute
