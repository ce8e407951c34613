#include "ops/math/gemm.h"

#include <cmath>
#include <cstring>

#include "compute/gemm/gemm.h"
#include "compute/gemm/gemm_reference.h"
#include "providers/cpu/convert.h"
#include "providers/cpu/fused_activation.h"
#include "providers/cpu/kernel.h"
#include "providers/cpu/numbers.h"
#include "providers/cpu/packed_left.h"
#include "providers/cpu/packed_right.h"

namespace rh::cpu {

/// A constant operand is packed at load: a right one of a floating type, a left one of floats.
class GemmKernel final : public Kernel {
 public:
  using Types = Concat<FloatingTypes, rh::Types<int32_t, int64_t, uint32_t, uint64_t>>;

  explicit GemmKernel(const KernelInfo& info)
      : op_(info.attributes<ops::Gemm>()),
        packed_(info, info.constant_input(1), {op_.transpose_a, op_.transpose_b}),
        left_(info, takes_left(info) ? info.constant_input(0) : nullptr, op_.transpose_a,
              {info.constant_input(2), compute_activation(op_.activation)}) {}

  bool owns_constant(int input) const override { return input == 1 ? !packed_.empty() : input == 0 && !left_.empty(); }
  KernelVariant variant() const override { return left_.empty() ? packed_.variant() : left_.variant(); }
  size_t packed_bytes() const override { return packed_.bytes() + left_.bytes(); }

  Status run(RunContext& context) const override {
    if (!left_.empty()) return run_left(context);
    const TensorView a = context.input(0);
    const Shape& b_shape = packed_.empty() ? context.input(1).shape() : packed_.shape();
    if (a.rank() != 2 || b_shape.rank() != 2) return mismatch(a.shape(), b_shape);
    if (op_.activation.function != ops::FusedActivation::Function::none && !FloatingTypes::set.contains(a.dtype())) {
      return error_status(ErrorCode::not_implemented, "FusedGemm: element type {} with an activation, expected a floating type",
                          to_string(a.dtype()));
    }
    const int64_t m = a.shape()[op_.transpose_a ? 1 : 0], k = a.shape()[op_.transpose_a ? 0 : 1], n = b_shape[op_.transpose_b ? 0 : 1];
    if (b_shape[op_.transpose_b ? 1 : 0] != k) return mismatch(a.shape(), b_shape);
    if (context.has_input(2)) {
      const Shape target{m, n};
      if (!(broadcast(context.input(2).shape(), target) == target)) {
        return error_status(ErrorCode::invalid_argument, "Gemm: C has shape {}, expected one that broadcasts to {}",
                            context.input(2).shape().to_string(), target.to_string());
      }
    }
    const MutableView y = context.output(0, {m, n});
    if (y.elements() == 0) return {};
    return dispatch<Types>(a.dtype(), "Gemm", [&]<typename T>() { multiply<T>(context, a.data<T>(), m, n, k, y.data<T>()); });
  }

 private:
  /// Whether a convolution makes all that this asks for: C is not there, or constant and one value a row.
  bool takes_left(const KernelInfo& info) const {
    const Tensor* const a = info.constant_input(0);
    if (!a || a->shape().rank() != 2 || op_.alpha != 1 || op_.transpose_b) return false;
    if (!info.node().has_input(2)) return true;
    const Tensor* const c = info.constant_input(2);
    return c && op_.beta == 1 && c->shape() == Shape{a->shape()[op_.transpose_a ? 1 : 0], 1};
  }

  Status run_left(RunContext& context) const {
    const TensorView b = context.input(1);
    MatMulProblem p;
    if (b.rank() != 2) return mismatch(left_.shape(), b.shape());
    RH_RETURN_IF_ERROR(MatMulProblem::make("Gemm", left_.shape(), b.shape(), p));
    const MutableView y = context.output(0, p.result);
    if (y.elements() > 0) left_.multiply(context, p, b.data<float>(), nullptr, y.data<float>());
    return {};
  }

  static Status mismatch(const Shape& a, const Shape& b) {
    return error_status(ErrorCode::invalid_argument, "Gemm: shapes {} and {} cannot be multiplied", a.to_string(), b.to_string());
  }

  template <typename T>
  void multiply(RunContext& context, const T* a, int64_t m, int64_t n, int64_t k, T* y) const {
    using Scale = compute::GemmArgs<T>;
    Scale args{.m = m, .n = n, .k = k, .transpose_a = op_.transpose_a, .transpose_b = op_.transpose_b, .alpha = narrowed<T>(op_.alpha)};
    args.beta = T(0.0f);
    args.epilogue.activation = compute_activation(op_.activation);
    if constexpr (std::is_integral_v<T>) {
      if (has_fractions()) return multiply_by_fractions<T>(context, args, a, y);
    }
    if (context.has_input(2) && op_.beta != 0) add_c(context, args, y);
    if constexpr (std::is_integral_v<T>) {
      compute::gemm_reference(args, a, context.input(1).data<T>(), y, context.parallel());
    } else if (packed_.empty()) {
      compute::gemm(args, a, context.input(1).data<T>(), y, context.parallel());
    } else {
      compute::gemm(args, a, packed_.matrix<T>(), y, context.parallel());
    }
  }

  /// C as it is broadcast to the result.
  template <typename T>
  struct Addend {
    explicit Addend(const TensorView& c)
        : from(c.data<T>()), rows(c.rank() == 2 ? c.shape()[0] : 1), cols(c.rank() >= 1 ? c.shape()[c.rank() - 1] : 1) {}
    T at(int64_t i, int64_t j) const { return from[(rows == 1 ? 0 : i) * cols + (cols == 1 ? 0 : j)]; }

    const T* from;
    int64_t rows, cols;
  };

  // A row or a column as C is the epilogue's bias; other shapes are written to y first and accumulated on.
  template <typename T>
  void add_c(RunContext& context, compute::GemmArgs<T>& args, T* y) const {
    const Addend<T> c(context.input(2));
    if (op_.beta == 1 && c.rows == 1 && c.cols == args.n) {
      args.epilogue.bias_kind = compute::BiasKind::per_column;
      args.epilogue.bias = c.from;
      return;
    }
    if (op_.beta == 1 && c.rows == args.m && c.cols == 1) {
      args.epilogue.bias_kind = compute::BiasKind::per_row;
      args.epilogue.bias = c.from;
      return;
    }
    for (int64_t i = 0; i < args.m; ++i) {
      for (int64_t j = 0; j < args.n; ++j) y[i * args.n + j] = c.at(i, j);
    }
    args.beta = narrowed<T>(op_.beta);
  }

  bool has_fractions() const { return op_.alpha != std::floor(op_.alpha) || op_.beta != std::floor(op_.beta); }

  // Integers by factors that are none: the product is an integer, the rest is float64, cut to the type at the end.
  template <typename T>
  void multiply_by_fractions(RunContext& context, compute::GemmArgs<T> args, const T* a, T* y) const {
    args.alpha = T(1);
    compute::gemm_reference(args, a, context.input(1).data<T>(), y, context.parallel());
    const Shape shape{args.m, args.n};
    double* scaled = context.scratch_array<double>(shape.elements());
    for (int64_t i = 0; i < shape.elements(); ++i) scaled[i] = static_cast<double>(op_.alpha) * static_cast<double>(y[i]);
    if (context.has_input(2) && op_.beta != 0) {
      const Addend<T> c(context.input(2));
      for (int64_t i = 0; i < shape.elements(); ++i) {
        scaled[i] += static_cast<double>(op_.beta) * static_cast<double>(c.at(i / args.n, i % args.n));
      }
    }
    convert(context.parallel(), TensorView(DType::float64, shape, scaled), MutableView(dtype_of<T>, shape, y));
  }

  ops::Gemm op_;
  PackedRight packed_;
  PackedLeft left_;
};

}  // namespace rh::cpu

RH_DEFINE_KERNEL(GemmKernel)
