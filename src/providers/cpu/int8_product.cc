#include "providers/cpu/int8_product.h"

#include <algorithm>

#include "providers/cpu/few_terms.h"

namespace rh::cpu {

namespace {

// One zero point, one an index of the last or of all products. Other counts are refused.
Status zero_points(std::span<const int32_t> values, int64_t size, int64_t products, const char* what, int64_t product,
                   compute::ZeroPoints& result) {
  const int64_t count = static_cast<int64_t>(values.size());
  result = {};
  if (count == 0) return {};
  if (count != 1 && count != size && count != size * products) {
    return error_status(ErrorCode::invalid_argument, "the zero point of {} has {} elements, expected 1 or {}", what, count, size);
  }
  result = {values.data() + (count == size * products && count > size ? product * size : 0), count > 1};
  return {};
}

int32_t byte_at(const compute::Int8Matrix& matrix, int64_t i) {
  const uint8_t byte = static_cast<const uint8_t*>(matrix.data)[i];
  return matrix.is_signed ? static_cast<int8_t>(byte) : byte;
}

// Small products of sums of a few terms: packing would cost more than they do.
bool is_of_few_terms(const MatMulProblem& p) {
  constexpr int64_t kTerms = 4, kElements = 1 << 14;
  return p.k <= kTerms && p.m * p.n <= kElements;
}

// A product of a few terms. `words`: of the right operand; `sums`: of some rows.
void multiply_few(const compute::Int8GemmArgs& args, const compute::Int8Matrix& b, int64_t k, int64_t n, int16_t* words,
                  std::span<int32_t> sums, compute::Int8Epilogue epilogue) {
  for (int64_t i = 0; i < k * n; ++i) words[i] = static_cast<int16_t>(byte_at(b, i) - args.b_zero.at(i % n));
  const int64_t most = std::max<int64_t>(1, static_cast<int64_t>(sums.size()) / n);
  for (int64_t first = 0; first < args.m; first += most) {
    const int64_t rows = std::min(most, args.m - first);
    std::fill_n(sums.data(), rows * n, 0);
    for (int64_t i = 0; i < rows; ++i) {
      const int32_t zero = args.a_zero.at(first + i);
      for (int64_t term = 0; term < k; ++term) {
        const auto value = static_cast<int16_t>(byte_at(args.a, (first + i) * k + term) - zero);
        add_scaled(value, words + term * n, n, sums.data() + i * n);
      }
    }
    epilogue({.row = first, .column = 0, .rows = rows, .columns = n, .sums = sums.data(), .stride = n});
  }
}

}  // namespace

std::span<const int32_t> int32_values(RunContext& context, int input) {
  if (!context.has_input(input)) return {};
  const TensorView view = context.input(input);
  auto* const values = context.scratch_array<int32_t>(view.elements());
  for (int64_t i = 0; i < view.elements(); ++i) values[i] = static_cast<int32_t>(element_as_int(view, i));
  return {values, static_cast<size_t>(view.elements())};
}

compute::PackedInt8Matrix packed_for_run(RunContext& context, const compute::Int8Matrix& b, int64_t k, int64_t n, bool transposed) {
  return {b, k, n, transposed, context.scratch(compute::PackedInt8Matrix::memory_bytes(k, n)), context.parallel()};
}

Int8Product::Int8Product(const KernelInfo& info, const Inputs& inputs) : inputs_(inputs) {
  const Tensor* b = info.constant_input(inputs.b);
  if (!b || b->shape().rank() != 2 || b->elements() == 0 || bits_of(b->dtype()) != 8 || !is_integer(b->dtype())) return;
  packed_ = compute::PackedInt8Matrix(int8_matrix(b->view()), b->shape()[0], b->shape()[1], false);
  packed_shape_ = b->shape();
}

Status Int8Product::run(RunContext& context, const MatMulProblem& p, const compute::Int8Matrix& a, std::span<const int32_t> a_zero,
                        compute::Int8Epilogue epilogue) const {
  const std::span<const int32_t> b_zero = int32_values(context, inputs_.b_zero);
  const int64_t products = p.batch.elements();
  if (products == 0 || p.m == 0 || p.n == 0) return {};
  compute::Int8GemmArgs args{.m = p.m, .a = a};
  if (p.is_one_product()) {
    args.m = p.m * products;
    if (a_zero.size() > 1 && static_cast<int64_t>(a_zero.size()) == p.m && products > 1) {
      auto* const rows = context.scratch_array<int32_t>(args.m);
      for (int64_t i = 0; i < args.m; ++i) rows[i] = a_zero[static_cast<size_t>(i % p.m)];
      a_zero = {rows, static_cast<size_t>(args.m)};
    }
    RH_RETURN_IF_ERROR(zero_points(a_zero, args.m, 1, "the left operand", 0, args.a_zero));
    RH_RETURN_IF_ERROR(zero_points(b_zero, p.n, 1, "the right operand", 0, args.b_zero));
    if (owns_right()) {
      compute::int8_gemm(args, packed_, epilogue, context.parallel());
    } else if (const auto right = int8_matrix(context.input(inputs_.b));
               !compute::int8_gemm_unpacked(args, right, p.k, p.n, epilogue, context.parallel())) {
      const compute::PackedInt8Matrix b = packed_for_run(context, right, p.k, p.n, false);
      compute::int8_gemm(args, b, epilogue, context.parallel());
    }
    return {};
  }
  auto *const a_offsets = context.scratch_array<int64_t>(2 * products), *const b_offsets = a_offsets + products;
  fill_batch_offsets(p.a_batch, p.batch, p.m * p.k, a_offsets);
  fill_batch_offsets(p.b_batch, p.batch, p.k * p.n, b_offsets);
  void* memory = nullptr;  // one product's after the other
  const compute::Int8Matrix right = int8_matrix(context.input(inputs_.b));
  constexpr int64_t kSums = 4096;
  const bool few = is_of_few_terms(p);
  auto* const words = few ? context.scratch_array<int16_t>(p.k * p.n) : nullptr;
  const std::span<int32_t> sums(few ? context.scratch_array<int32_t>(std::max(p.n, kSums)) : nullptr,
                                few ? static_cast<size_t>(std::max(p.n, kSums)) : 0);
  for (int64_t i = 0; i < products; ++i) {
    RH_RETURN_IF_ERROR(zero_points(a_zero, p.m, products, "the left operand", i, args.a_zero));
    RH_RETURN_IF_ERROR(zero_points(b_zero, p.n, products, "the right operand", i, args.b_zero));
    args.a.data = static_cast<const uint8_t*>(a.data) + a_offsets[i];
    const compute::Int8Matrix matrix{static_cast<const uint8_t*>(right.data) + b_offsets[i], right.is_signed};
    const auto shifted = [&](const compute::Int8Tile& tile) {
      compute::Int8Tile moved = tile;
      moved.row += i * p.m;
      epilogue(moved);
    };
    if (few) {
      multiply_few(args, matrix, p.k, p.n, words, sums, shifted);
      continue;
    }
    if (compute::int8_gemm_unpacked(args, matrix, p.k, p.n, shifted, context.parallel())) continue;
    if (!memory) memory = context.scratch(compute::PackedInt8Matrix::memory_bytes(p.k, p.n));
    const compute::PackedInt8Matrix b(matrix, p.k, p.n, false, memory, context.parallel());
    compute::int8_gemm(args, b, shifted, context.parallel());
  }
  return {};
}

}  // namespace rh::cpu
