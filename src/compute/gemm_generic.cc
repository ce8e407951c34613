#include "compute/gemm_micro_body.h"
#include "compute/vector_generic.h"

namespace rh::compute {
namespace {

template <typename V>
struct Table {
  static constexpr typename MicroKernels<typename V::T>::Kernel two[] = {nullptr, micro_kernel<V, 1, 2>, micro_kernel<V, 2, 2>,
                                                                         micro_kernel<V, 3, 2>, micro_kernel<V, 4, 2>};
  static constexpr typename MicroKernels<typename V::T>::Kernel one[] = {nullptr, micro_kernel<V, 1, 1>, micro_kernel<V, 2, 1>,
                                                                         micro_kernel<V, 3, 1>, micro_kernel<V, 4, 1>};
};

}  // namespace

extern const MicroKernels<float> kGenericFloat = {4, 8, 4, Table<Float>::two, Table<Float>::one, dot_kernel<Float>};
extern const MicroKernels<double> kGenericDouble = {4, 4, 2, Table<Double>::two, Table<Double>::one, dot_kernel<Double>};

}  // namespace rh::compute
