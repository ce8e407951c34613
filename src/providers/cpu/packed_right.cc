#include "providers/cpu/packed_right.h"

#include <fmt/format.h>

#include <algorithm>
#include <type_traits>

#include "base/pages.h"
#include "compute/elementwise/narrow_floats.h"
#include "compute/gemm/gemm_kernels.h"
#include "compute/gemm/gemm_variants.h"
#include "providers/cpu/float_rows.h"

namespace rh::cpu {

namespace {

/// Rows of the left operand as it is declared, by each matrix or by the only one; 0 where they are not known.
int64_t expected_rows(const ValueType& a, bool transposed, bool by_each) {
  if (!a.is_tensor() || !a.tensor().dims || a.tensor().dims->empty()) return 0;
  const SymbolicShape& dims = *a.tensor().dims;
  if (transposed && dims.size() > 2) return 0;  // one product each matrix of the batch
  const size_t before = by_each && dims.size() > 2 ? dims.size() - 2 : 0;
  const Dim rows = transposed ? dims.back() : product(dims, before, dims.size() - 1);
  return rows.is_constant() ? std::max<int64_t>(0, rows.value()) : 0;
}

compute::ProductAccuracy accuracy_of(Precision precision) {
  switch (precision) {
    case Precision::strict: return compute::ProductAccuracy::strict;
    case Precision::fast: return compute::ProductAccuracy::fast;
    case Precision::bf16: return compute::ProductAccuracy::bf16;
    default: return compute::ProductAccuracy::full;
  }
}

/// Whether matrices of a batch are packed: those that fill their panels, and are large enough to be worth memory of their own.
bool packs_each(int64_t k, int64_t n) {
  constexpr int64_t kLeastElements = 1024;
  const int64_t width = compute::micro_kernels<float>().columns, columns = compute::pieces_of(n, width) * width;
  return k * n >= kLeastElements && 4 * columns <= 5 * n;
}

}  // namespace

size_t PackedRight::bytes() const {
  return std::visit(
      [](const auto& matrices) {
        size_t bytes = 0;
        if constexpr (!std::is_same_v<std::decay_t<decltype(matrices)>, std::monostate>) {
          for (const auto& matrix : matrices) bytes += matrix.bytes();
        }
        return bytes;
      },
      matrices_);
}

bool PackedRight::pack_widened(const Tensor& b, const Matrices& sizes, bool transposed, compute::ProductAccuracy accuracy) {
  const int64_t elements = sizes.k * sizes.n;
  const PageMemory wide(static_cast<size_t>(elements) * sizeof(float));
  float* const floats = static_cast<float*>(wide.data());
  std::vector<compute::PackedMatrix<float>> matrices;
  matrices.reserve(static_cast<size_t>(sizes.count));
  for (int64_t i = 0; i < sizes.count; ++i) {
    dispatch_or_throw<Types<Float16, BFloat16>>(b.dtype(), "right operand",
                                                [&]<typename T>() { compute::widen(b.data<T>() + i * elements, floats, elements); });
    matrices.emplace_back(floats, sizes.k, sizes.n, transposed, 0, compute::PackedUse{.compact = true, .accuracy = accuracy});
    if (matrices.back().compact_form() != compute::CompactForm::bits16) return false;
  }
  matrices_ = std::move(matrices);
  variant_.variant = "compact";
  shape_ = b.shape();
  dtype_ = DType::float32;
  return true;
}

PackedRight::PackedRight(const KernelInfo& info, const Tensor* b, const ProductLayout& layout) {
  const bool transposed_a = layout.transposed_a, transposed_b = layout.transposed_b;
  const int rank = b ? b->shape().rank() : 0;
  if (rank < 2 || (rank > 2 && !layout.batches) || b->elements() == 0 || !FloatingTypes::set.contains(b->dtype())) return;
  const int64_t k = b->shape()[rank - (transposed_b ? 1 : 2)], n = b->shape()[rank - (transposed_b ? 2 : 1)],
                count = b->elements() / (k * n);
  if (count > 1 && !packs_each(k, n)) return;
  compute::ProductSizes sizes{.m = layout.any_rows ? 0 : expected_rows(info.node().input_type(0), transposed_a, count > 1),
                              .n = n,
                              .k = k,
                              .is_float = b->dtype() == DType::float32,
                              .accuracy = accuracy_of(info.precision()),
                              .transposed_a = transposed_a,
                              .compact = info.compact_weights()};
  variant_.problem =
      fmt::format("{} {} {}{}>{}{}{}, {} rows", info.node().op_type(), to_string(b->dtype()), count > 1 ? fmt::format("{} of ", count) : "",
                  k, n, transposed_a ? " At" : "", transposed_b ? " Bt" : "", sizes.m == 0 ? "any" : std::to_string(sizes.m));
  for (const compute::GemmVariant& variant : compute::gemm_variants()) {
    if (variant.fits(sizes)) variant_.variants.push_back(variant.name);
  }
  if (is_half(b->dtype()) && info.node().input_type(0).is_tensor() && info.node().input_type(0).tensor().dtype == DType::float32) {
    compute::ProductSizes widened = sizes;
    widened.is_float = widened.compact = true;
    if (compute::choose_gemm_variant(widened, info.tuned(variant_.problem)).name == "compact") {
      variant_.variants.push_back("compact");
      if (pack_widened(*b, {k, n, count}, transposed_b, sizes.accuracy)) return;
    }
  }
  variant_.variant = compute::choose_gemm_variant(sizes, info.tuned(variant_.problem)).name;
  if (variant_.variant == "gemv") return;
  shape_ = b->shape();
  dtype_ = b->dtype();
  const bool compact = variant_.variant == "compact";
  sizes.compact = false;
  const std::string_view otherwise = compact ? compute::choose_gemm_variant(sizes, {}).name : variant_.variant;
  const compute::PackedUse use{.dots = variant_.variant == "dots",
                               .fip = otherwise == "fip",
                               .compact = compact,
                               .amx = otherwise == "amx",
                               .rows = info.lean_memory() ? 0 : sizes.m,
                               .accuracy = sizes.accuracy};
  dispatch_or_throw<FloatingTypes>(b->dtype(), "right operand", [&]<typename T>() {
    auto& matrices = matrices_.emplace<std::vector<compute::PackedMatrix<T>>>();
    matrices.reserve(static_cast<size_t>(count));
    for (int64_t i = 0; i < count; ++i) matrices.emplace_back(b->data<T>() + i * k * n, k, n, transposed_b, 0, use);
    // What was made is as the values allow.
    const auto none_is = [&](auto is) { return std::ranges::none_of(matrices, is); };
    if (compact && none_is([](const auto& matrix) { return matrix.compact_form() != compute::CompactForm::none; }))
      variant_.variant = otherwise;
    if (variant_.variant == "fip" && none_is([](const auto& matrix) { return matrix.is_fip(); })) variant_.variant = "gemm";
  });
}

}  // namespace rh::cpu
