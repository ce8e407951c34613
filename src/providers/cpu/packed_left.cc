#include "providers/cpu/packed_left.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/cpu_features.h"
#include "compute/gemm/gemm_kernels.h"
#include "providers/cpu/conv_window.h"

namespace rh::cpu {
namespace {

/// Columns of the right operand as it is declared; 0 where they are not known.
int64_t expected_columns(const ValueType& b) {
  if (!b.is_tensor() || !b.tensor().dims || b.tensor().dims->empty()) return 0;
  const SymbolicShape& dims = *b.tensor().dims;
  if (dims.size() == 1) return 1;
  return dims.back().is_constant() && is_plausible({dims.back().value()}) ? std::max<int64_t>(0, dims.back().value()) : 0;
}

/// Whether it is packed: not for few rows or columns, whose products read each operand once, or for columns that only a run tells, which
/// may be few, nor for so few products that a convolution has hardly begun. Measured with AVX-512, and with less on the same processor,
/// where only products of some rows gain from it.
bool packs(int64_t m, int64_t n, int64_t k) {
  constexpr int64_t kLeastRows = 4, kSomeRows = 14, kLeastColumns = 13, kLeastSum = 32, kLeastProducts = 2048;
  if (m > kSomeRows && !cpu_features().avx512) return false;
  return m >= kLeastRows && k >= kLeastSum && n >= kLeastColumns && n * k >= kLeastProducts;
}

compute::Window pixels(int64_t count) {
  compute::Window window;
  window.input[2] = window.output[2] = count;
  return window;
}

}  // namespace

PackedLeft::PackedLeft(const KernelInfo& info, const Tensor* a, bool transposed, const End& end) {
  if (!a || a->shape().rank() < 2 || a->elements() == 0 || a->dtype() != DType::float32 || info.constant_input(1)) return;
  Shape shape = a->shape();
  const int rank = shape.rank();
  if (transposed) std::swap(shape[rank - 1], shape[rank - 2]);
  const int64_t m = shape[rank - 2], k = shape[rank - 1], n = expected_columns(info.node().input_type(1)), count = a->elements() / (m * k);
  if (!packs(m, n, k)) return;
  if (end.row_bias && (end.row_bias->dtype() != DType::float32 || end.row_bias->elements() != m)) return;
  const compute::ConvChannels channels{k, m, 1};
  const compute::Window window = pixels(n);
  const compute::ConvAccuracy accuracy = conv_accuracy(info.precision());
  variant_.problem = fmt::format("{} float left {}{}>{}{}, {} columns", info.node().op_type(),
                                 count > 1 ? fmt::format("{} of ", count) : "", k, m, transposed ? " At" : "", n);
  variant_.variants = compute::Convolution<float>::variants(channels, window, accuracy, info.lean_memory());
  std::vector<float> turned(transposed ? static_cast<size_t>(m * k) : 0);
  products_.reserve(static_cast<size_t>(count));
  for (int64_t i = 0; i < count; ++i) {
    const float* matrix = a->data<float>() + i * m * k;
    if (transposed) {
      for (int64_t row = 0; row < m; ++row) {
        for (int64_t at = 0; at < k; ++at) turned[static_cast<size_t>(row * k + at)] = matrix[at * m + row];
      }
      matrix = turned.data();
    }
    products_.emplace_back(channels, window, matrix, end.row_bias ? end.row_bias->data<float>() : nullptr, end.activation,
                           info.tuned(variant_.problem), accuracy, info.lean_memory());
  }
  variant_.variant = products_[0].variant();
  shape_ = shape;
}

size_t PackedLeft::bytes() const {
  size_t bytes = 0;
  for (const auto& product : products_) bytes += product.weight_bytes();
  return bytes;
}

void PackedLeft::multiply(RunContext& context, const MatMulProblem& p, const float* b, const float* residual, float* c) const {
  const compute::Window window = pixels(p.n);
  const int64_t count = p.batch.elements();
  if (products_.size() == 1) return products_[0].run(window, count, b, residual, c, context.parallel());
  int64_t* const lefts = context.scratch_array<int64_t>(2 * count);
  int64_t* const rights = lefts + count;
  fill_batch_offsets(p.a_batch, p.batch, 1, lefts);
  fill_batch_offsets(p.b_batch, p.batch, p.k * p.n, rights);
  const auto product = [&](int64_t i, const Parallel& threads) {
    const int64_t at = i * p.m * p.n;
    products_[static_cast<size_t>(lefts[i])].run(window, 1, b + rights[i], residual ? residual + at : nullptr, c + at, threads);
  };
  const double m = static_cast<double>(p.m), n = static_cast<double>(p.n), k = static_cast<double>(p.k);
  if (compute::shares_each(count, m * n * k, context.parallel().threads())) {
    for (int64_t i = 0; i < count; ++i) product(i, context.parallel());
    return;
  }
  const Cost cost{.bytes = sizeof(float) * k * (m + n), .operations = 0.25 * m * n * k};
  context.parallel().for_range(count, cost, [&](Range range) {
    for (int64_t i = range.begin; i < range.end; ++i) product(i, Parallel());
  });
}

}  // namespace rh::cpu
