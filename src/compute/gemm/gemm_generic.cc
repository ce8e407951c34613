#include "compute/gemm/gemm_amx.h"
#include "compute/gemm/gemm_micro_body.h"
#include "compute/simd/vector_generic.h"

namespace rh::compute {

// Two registers a row hold the sums: 64-bit Arm has 32 registers, SSE2 16.
#if defined(__aarch64__)
constexpr int kFloatRows = 8;
#else
constexpr int kFloatRows = 4;
#endif

extern const MicroKernels<float> kGenericFloat = kernel_table<Float, kFloatRows>();
extern const MicroKernels<double> kGenericDouble = kernel_table<Double, 4>();

#if !defined(__x86_64__)
extern const AmxKernels kAmxKernels = {};
#endif

}  // namespace rh::compute
