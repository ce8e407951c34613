#include "compute/gemm_micro_body.h"
#include "compute/vector_avx512.h"

namespace rh::compute {
namespace {

constexpr MicroKernels<Float::T>::Kernel kFloatTwo[] = {nullptr,
                                                        micro_kernel<Float, 1, 2>,
                                                        micro_kernel<Float, 2, 2>,
                                                        micro_kernel<Float, 3, 2>,
                                                        micro_kernel<Float, 4, 2>,
                                                        micro_kernel<Float, 5, 2>,
                                                        micro_kernel<Float, 6, 2>,
                                                        micro_kernel<Float, 7, 2>,
                                                        micro_kernel<Float, 8, 2>,
                                                        micro_kernel<Float, 9, 2>,
                                                        micro_kernel<Float, 10, 2>,
                                                        micro_kernel<Float, 11, 2>,
                                                        micro_kernel<Float, 12, 2>,
                                                        micro_kernel<Float, 13, 2>,
                                                        micro_kernel<Float, 14, 2>};
constexpr MicroKernels<Float::T>::Kernel kFloatOne[] = {nullptr,
                                                        micro_kernel<Float, 1, 1>,
                                                        micro_kernel<Float, 2, 1>,
                                                        micro_kernel<Float, 3, 1>,
                                                        micro_kernel<Float, 4, 1>,
                                                        micro_kernel<Float, 5, 1>,
                                                        micro_kernel<Float, 6, 1>,
                                                        micro_kernel<Float, 7, 1>,
                                                        micro_kernel<Float, 8, 1>,
                                                        micro_kernel<Float, 9, 1>,
                                                        micro_kernel<Float, 10, 1>,
                                                        micro_kernel<Float, 11, 1>,
                                                        micro_kernel<Float, 12, 1>,
                                                        micro_kernel<Float, 13, 1>,
                                                        micro_kernel<Float, 14, 1>};
constexpr MicroKernels<Double::T>::Kernel kDoubleTwo[] = {nullptr,
                                                          micro_kernel<Double, 1, 2>,
                                                          micro_kernel<Double, 2, 2>,
                                                          micro_kernel<Double, 3, 2>,
                                                          micro_kernel<Double, 4, 2>,
                                                          micro_kernel<Double, 5, 2>,
                                                          micro_kernel<Double, 6, 2>,
                                                          micro_kernel<Double, 7, 2>,
                                                          micro_kernel<Double, 8, 2>};
constexpr MicroKernels<Double::T>::Kernel kDoubleOne[] = {nullptr,
                                                          micro_kernel<Double, 1, 1>,
                                                          micro_kernel<Double, 2, 1>,
                                                          micro_kernel<Double, 3, 1>,
                                                          micro_kernel<Double, 4, 1>,
                                                          micro_kernel<Double, 5, 1>,
                                                          micro_kernel<Double, 6, 1>,
                                                          micro_kernel<Double, 7, 1>,
                                                          micro_kernel<Double, 8, 1>};

}  // namespace

extern const MicroKernels<float> kAvx512Float = {14, 32, 16, kFloatTwo, kFloatOne, dot_kernel<Float>};
extern const MicroKernels<double> kAvx512Double = {8, 16, 8, kDoubleTwo, kDoubleOne, dot_kernel<Double>};

}  // namespace rh::compute
