#include "ops/math/gathered_matmul.h"

#include <algorithm>

#include "compute/gemm/gemm.h"
#include "providers/cpu/elements.h"
#include "providers/cpu/member_lists.h"
#include "providers/cpu/packed_right.h"

namespace rh::cpu {

/// One product a matrix that is chosen, of all its vectors at once. No matrix is copied; constant ones are packed at load.
class GatheredMatMulKernel final : public Kernel {
 public:
  using Types = rh::Types<float>;

  explicit GatheredMatMulKernel(const KernelInfo& info)
      : op_(info.attributes<ops::GatheredMatMul>()),
        packed_(info, info.constant_input(1), {.transposed_b = op_.table_left, .batches = true, .any_rows = true}) {}

  bool owns_constant(int input) const override { return input == 1 && !packed_.empty(); }
  KernelVariant variant() const override { return packed_.variant(); }
  size_t packed_bytes() const override { return packed_.bytes(); }

  Status run(RunContext& context) const override {
    const TensorView x = context.input(0), indices = context.input(2);
    const Shape& table = packed_.empty() ? context.input(1).shape() : packed_.shape();
    if (x.rank() != 3 || table.rank() != 3) {
      return error_status(ErrorCode::invalid_argument, "the vectors have shape {} and the table {}, expected three dimensions each",
                          x.shape().to_string(), table.to_string());
    }
    const Sizes s{.vectors = x.shape()[0],
                  .chosen = indices.elements(),
                  .matrices = table[0],
                  .k = table[op_.table_left ? 2 : 1],
                  .n = table[op_.table_left ? 1 : 2]};
    const Shape expected = op_.table_left ? Shape{s.vectors, s.k, 1} : Shape{s.vectors, 1, s.k};
    if (!(x.shape() == expected) || (s.vectors != s.chosen && s.vectors != 1 && s.chosen != 1)) {
      return error_status(ErrorCode::invalid_argument, "the vectors have shape {}, expected {} for a table {} and {} indices",
                          x.shape().to_string(), expected.to_string(), table.to_string(), s.chosen);
    }
    const int64_t products = s.products();
    const MutableView y = context.output(0, op_.table_left ? Shape{products, s.n, 1} : Shape{products, 1, s.n});
    if (y.elements() == 0) return {};
    multiply(context, s, by_matrix(context, s), x.data<float>(), y.data<float>());
    return {};
  }

 private:
  struct Sizes {
    int64_t vectors, chosen, matrices, k, n;
    int64_t products() const { return vectors == 1 ? chosen : vectors; }
  };
  /// Products by the matrix that they take.
  static MemberLists by_matrix(RunContext& context, const Sizes& s) {
    const int64_t* given = indices_of(context, 2);
    const auto matrix_of = [&](int64_t i) { return checked_index(given[s.chosen == 1 ? 0 : i], s.matrices, "indices"); };
    return group_members(context, s.products(), s.matrices, matrix_of);
  }

  void multiply(RunContext& context, const Sizes& s, const MemberLists& groups, const float* x, float* y) const {
    int64_t most = 0;
    for (int64_t e = 0; e < s.matrices; ++e) most = std::max(most, groups.size(e));
    auto *left = context.scratch_array<float>(most * s.k), *sums = context.scratch_array<float>(most * s.n);
    for (int64_t e = 0; e < s.matrices; ++e) {
      const int64_t count = groups.size(e);
      if (count == 0) continue;
      const int64_t* const products = groups.member + groups.begin[e];
      const int64_t first = products[0];
      const bool follow = products[count - 1] - first == count - 1 && (s.vectors > 1 || count == 1);
      if (follow) {
        multiply_by(context, e, count, s, x + (s.vectors == 1 ? 0 : first) * s.k, y + first * s.n);
        continue;
      }
      for (int64_t i = 0; i < count; ++i) std::copy_n(x + (s.vectors == 1 ? 0 : products[i]) * s.k, s.k, left + i * s.k);
      multiply_by(context, e, count, s, left, sums);
      for (int64_t i = 0; i < count; ++i) std::copy_n(sums + i * s.n, s.n, y + products[i] * s.n);
    }
  }

  void multiply_by(RunContext& context, int64_t matrix, int64_t rows, const Sizes& s, const float* a, float* c) const {
    const compute::GemmArgs<float> args{.m = rows, .n = s.n, .k = s.k, .transpose_b = op_.table_left};
    if (!packed_.empty()) return compute::gemm(args, a, packed_.matrices<float>()[static_cast<size_t>(matrix)], c, context.parallel());
    compute::gemm(args, a, context.input(1).data<float>() + matrix * s.k * s.n, c, context.parallel());
  }

  ops::GatheredMatMul op_;
  PackedRight packed_;
};

}  // namespace rh::cpu

RH_DEFINE_KERNEL(GatheredMatMulKernel)
