#include "providers/cpu/packed_right.h"

#include <fmt/format.h>

#include "compute/gemm/gemm_variants.h"

namespace rh::cpu {

namespace {

/// Rows of the left operand as it is declared; 0 where they are not known.
int64_t expected_rows(const ValueType& a, bool transposed) {
  if (!a.is_tensor() || !a.tensor().dims || a.tensor().dims->empty()) return 0;
  const SymbolicShape& dims = *a.tensor().dims;
  if (transposed && dims.size() > 2) return 0;  // one product each matrix of the batch
  const Dim rows = transposed ? dims.back() : product(dims, 0, dims.size() - 1);
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

}  // namespace

PackedRight::PackedRight(const KernelInfo& info, const Tensor* b, bool transposed_b, bool transposed_a) {
  if (!b || b->shape().rank() != 2 || b->elements() == 0 || !FloatingTypes::set.contains(b->dtype())) return;
  const int64_t k = b->shape()[transposed_b ? 1 : 0], n = b->shape()[transposed_b ? 0 : 1];
  compute::ProductSizes sizes{.m = expected_rows(info.node().input_type(0), transposed_a),
                              .n = n,
                              .k = k,
                              .is_float = b->dtype() == DType::float32,
                              .accuracy = accuracy_of(info.precision()),
                              .transposed_a = transposed_a,
                              .compact = info.compact_weights()};
  variant_.problem = fmt::format("{} {} {}>{}{}{}, {} rows", info.node().op_type(), to_string(b->dtype()), k, n, transposed_a ? " At" : "",
                                 transposed_b ? " Bt" : "", sizes.m == 0 ? "any" : std::to_string(sizes.m));
  for (const compute::GemmVariant& variant : compute::gemm_variants()) {
    if (variant.fits(sizes)) variant_.variants.push_back(variant.name);
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
    const auto& matrix = matrix_.emplace<compute::PackedMatrix<T>>(b->data<T>(), k, n, transposed_b, 0, use);
    // What was made is as the values allow.
    if (compact && matrix.compact_form() == compute::CompactForm::none) variant_.variant = otherwise;
    if (variant_.variant == "fip" && !matrix.is_fip()) variant_.variant = "gemm";
  });
}

}  // namespace rh::cpu
