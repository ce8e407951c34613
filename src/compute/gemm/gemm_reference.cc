#include "compute/gemm/gemm_reference.h"

namespace rh::compute {
namespace {

/// Integers wrap around: their arithmetic is done unsigned.
template <typename T>
using Wrapping = typename std::conditional_t<std::is_integral_v<T>, std::make_unsigned<T>, std::type_identity<T>>::type;

template <typename T>
void one_row(const GemmArgs<T>& args, int64_t i, const T* a, const T* b, T* c) {
  using A = Wrapping<Accumulator<T>>;
  const int64_t lda = args.lda ? args.lda : args.transpose_a ? args.m : args.k;
  const int64_t ldb = args.ldb ? args.ldb : args.transpose_b ? args.k : args.n;
  const int64_t ldc = args.ldc ? args.ldc : args.n;
  const Epilogue<T>& e = args.epilogue;
  const int64_t residual_stride = e.residual_stride ? e.residual_stride : args.n;
  for (int64_t j = 0; j < args.n; ++j) {
    A sum = 0;
    for (int64_t k = 0; k < args.k; ++k) {
      const T left = args.transpose_a ? a[k * lda + i] : a[i * lda + k];
      const T right = args.transpose_b ? b[j * ldb + k] : b[k * ldb + j];
      sum += static_cast<A>(left) * static_cast<A>(right);
    }
    T& out = c[i * ldc + j];
    A value = static_cast<A>(args.alpha) * sum;
    if (static_cast<A>(args.beta) != A(0)) value += static_cast<A>(args.beta) * static_cast<A>(out);
    if (e.bias_kind != BiasKind::none) value += static_cast<A>(e.bias[e.bias_kind == BiasKind::per_row ? i : j]);
    if (e.residual) value += static_cast<A>(e.residual_scale) * static_cast<A>(e.residual[i * residual_stride + j]);
    out = static_cast<T>(value);
  }
}

}  // namespace

template <typename T>
void gemm_reference(const GemmArgs<T>& args, const T* a, const T* b, T* c, const Parallel& parallel) {
  const double work = static_cast<double>(args.n) * static_cast<double>(args.k + 1);
  parallel.for_range(args.m, {.operations = 10 * work}, [&](Range rows) {
    for (int64_t i = rows.begin; i < rows.end; ++i) one_row(args, i, a, b, c);
  });
}

#define RH_INSTANTIATE(T) template void gemm_reference(const GemmArgs<T>&, const T*, const T*, T*, const Parallel&);
RH_INSTANTIATE(float)
RH_INSTANTIATE(double)
RH_INSTANTIATE(Float16)
RH_INSTANTIATE(BFloat16)
RH_INSTANTIATE(int32_t)
RH_INSTANTIATE(int64_t)
RH_INSTANTIATE(uint32_t)
RH_INSTANTIATE(uint64_t)
#undef RH_INSTANTIATE

}  // namespace rh::compute
