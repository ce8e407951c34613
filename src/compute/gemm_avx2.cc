#include "compute/gemm_micro_body.h"
#include "compute/vector_avx2.h"

namespace rh::compute {
namespace {

constexpr MicroKernels<Float::T>::Kernel kFloatTwo[] = {nullptr,
                                                        micro_kernel<Float, 1, 2>,
                                                        micro_kernel<Float, 2, 2>,
                                                        micro_kernel<Float, 3, 2>,
                                                        micro_kernel<Float, 4, 2>,
                                                        micro_kernel<Float, 5, 2>,
                                                        micro_kernel<Float, 6, 2>};
constexpr MicroKernels<Float::T>::Kernel kFloatOne[] = {nullptr,
                                                        micro_kernel<Float, 1, 1>,
                                                        micro_kernel<Float, 2, 1>,
                                                        micro_kernel<Float, 3, 1>,
                                                        micro_kernel<Float, 4, 1>,
                                                        micro_kernel<Float, 5, 1>,
                                                        micro_kernel<Float, 6, 1>};
constexpr MicroKernels<Double::T>::Kernel kDoubleTwo[] = {nullptr,
                                                          micro_kernel<Double, 1, 2>,
                                                          micro_kernel<Double, 2, 2>,
                                                          micro_kernel<Double, 3, 2>,
                                                          micro_kernel<Double, 4, 2>,
                                                          micro_kernel<Double, 5, 2>,
                                                          micro_kernel<Double, 6, 2>};
constexpr MicroKernels<Double::T>::Kernel kDoubleOne[] = {nullptr,
                                                          micro_kernel<Double, 1, 1>,
                                                          micro_kernel<Double, 2, 1>,
                                                          micro_kernel<Double, 3, 1>,
                                                          micro_kernel<Double, 4, 1>,
                                                          micro_kernel<Double, 5, 1>,
                                                          micro_kernel<Double, 6, 1>};

}  // namespace

extern const MicroKernels<float> kAvx2Float = {6, 16, 8, kFloatTwo, kFloatOne, dot_kernel<Float>};
extern const MicroKernels<double> kAvx2Double = {6, 8, 4, kDoubleTwo, kDoubleOne, dot_kernel<Double>};

}  // namespace rh::compute
