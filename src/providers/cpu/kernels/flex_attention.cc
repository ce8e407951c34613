#include "ops/nn/flex_attention.h"

#include <cmath>
#include <limits>

#include "compute/gemm/gemm.h"
#include "compute/reduce/row_math.h"
#include "providers/cpu/convert.h"
#include "providers/cpu/elements.h"

namespace rh::cpu {

class FlexAttentionKernel final : public Kernel {
 public:
  using Types = FloatingTypes;

  explicit FlexAttentionKernel(const KernelInfo& info) : op_(info.attributes<ops::FlexAttention>()) {}

  Status run(RunContext& context) const override {
    const Shape &q = context.input(0).shape(), &k = context.input(1).shape(), &v = context.input(2).shape();
    const bool have_rank = q.rank() == 4 && k.rank() == 4 && v.rank() == 4;
    if (!have_rank || k[0] != q[0] || v[0] != q[0] || v[1] != k[1] || v[2] != k[2] || k[3] != q[3] ||
        (k[1] == 0 ? q[1] != 0 : q[1] % k[1] != 0)) {
      return error_status(ErrorCode::invalid_argument, "FlexAttention: Q has shape {}, K {} and V {}, which do not fit each other",
                          q.to_string(), k.to_string(), v.to_string());
    }
    const DType precision = op_.precision_for(context.input(0).dtype());
    if (context.input(0).dtype() == DType::float64 || precision == DType::float64) return run_as<double>(context, precision);
    return run_as<float>(context, precision);
  }

 private:
  struct Sizes {
    int64_t batch, heads, group, queries, keys, depth, value_depth;
  };

  template <typename T>
  Status run_as(RunContext& context, DType precision) const {
    const Shape &q = context.input(0).shape(), &v = context.input(2).shape();
    const Sizes sizes{q[0], q[1], v[1] == 0 ? 1 : q[1] / v[1], q[2], v[2], q[3], v[3]};
    const auto in_type = [&](int i) { return converted(context, context.input(i), dtype_of<T>).template data<T>(); };
    const Shape shape{sizes.batch, sizes.heads, sizes.queries, sizes.keys};
    check_elements(shape, "FlexAttention: scores");
    Tensor scores(dtype_of<T>, shape);
    compute::GemmArgs<T> args{.m = sizes.queries, .n = sizes.keys, .k = sizes.depth, .transpose_b = true};
    args.alpha = static_cast<T>(op_.scale ? *op_.scale : 1 / std::sqrt(std::max<double>(1, static_cast<double>(sizes.depth))));
    multiply(context, sizes, args, in_type(0), in_type(1), scores.data<T>());
    // Graphs in the order of their names.
    if (op_.changes_scores) RH_RETURN_IF_ERROR(change(context, op_.changes_weights ? 1 : 0, precision, scores));
    weigh(context.parallel(), sizes, scores.data<T>());
    if (op_.changes_weights) RH_RETURN_IF_ERROR(change(context, 0, precision, scores));
    const ConvertedOutput y(context, 0, {sizes.batch, sizes.heads, sizes.queries, sizes.value_depth}, dtype_of<T>);
    args = {.m = sizes.queries, .n = sizes.value_depth, .k = sizes.keys};
    multiply(context, sizes, args, scores.template data<T>(), in_type(2), y.template data<T>());
    y.store(context.parallel());
    return {};
  }

  static Tensor in_type(const Parallel& parallel, const Tensor& x, DType dtype) {
    if (x.dtype() == dtype) return x;
    Tensor y(dtype, x.shape());
    convert(parallel, x.view(), y.mutable_view());
    return y;
  }

  static Status change(RunContext& context, int graph, DType precision, Tensor& scores) {
    const Value inputs[] = {Value(in_type(context.parallel(), scores, precision))};
    Value outputs[1];
    RH_RETURN_IF_ERROR(context.subgraph(graph).run(inputs, outputs));
    if (!outputs[0].is_tensor() || outputs[0].tensor().dtype() != precision || !(outputs[0].tensor().shape() == scores.shape())) {
      return error_status(ErrorCode::invalid_argument, "FlexAttention: a graph gives {}, expected {}{} as it got",
                          outputs[0].is_tensor()
                              ? fmt::format("{}{}", to_string(outputs[0].tensor().dtype()), outputs[0].tensor().shape().to_string())
                              : "no tensor",
                          to_string(precision), scores.shape().to_string());
    }
    const DType dtype = scores.dtype();
    Tensor changed(dtype, scores.shape());  // what the graph gave may be memory of its own or an outer value
    convert(context.parallel(), outputs[0].tensor().view(), changed.mutable_view());
    scores = std::move(changed);
    return {};
  }

  /// C[head] = A[head] op(B[head of the group]), each as `args` says.
  template <typename T>
  static void multiply(RunContext& context, const Sizes& sizes, const compute::GemmArgs<T>& args, const T* a, const T* b, T* c) {
    const int64_t heads = sizes.batch * sizes.heads;
    int64_t* const offsets = context.scratch_array<int64_t>(3 * heads);
    for (int64_t i = 0; i < heads; ++i) {
      offsets[i] = i * args.m * args.k;
      offsets[heads + i] = i / sizes.group * args.k * args.n;  // a batch has a whole number of groups
      offsets[2 * heads + i] = i * args.m * args.n;
    }
    const compute::GemmBatch<T> batch{heads, offsets, offsets + heads, offsets + 2 * heads};
    compute::gemm_batched(args, batch, a, b, c, context.parallel());
  }

  template <typename T>
  static void weigh(const Parallel& parallel, const Sizes& sizes, T* scores) {
    const double work = 16 * static_cast<double>(sizes.keys);
    parallel.for_range(sizes.batch * sizes.heads * sizes.queries, {work, work}, [&](Range part) {
      T* x = scores + part.begin * sizes.keys;
      if constexpr (std::is_same_v<T, float>) {
        compute::softmax_rows(x, x, part.size(), sizes.keys, false);
      } else {
        for (int64_t row = part.begin; row < part.end; ++row, x += sizes.keys) weigh_row(x, sizes.keys);
      }
    });
  }

  template <typename T>
  static void weigh_row(T* x, int64_t keys) {
    T largest = -std::numeric_limits<T>::infinity(), sum = 0;
    for (int64_t key = 0; key < keys; ++key) largest = std::max(largest, x[key]);
    for (int64_t key = 0; key < keys; ++key) sum += x[key] = std::exp(x[key] - largest);
    for (int64_t key = 0; key < keys; ++key) x[key] /= sum;
  }

  ops::FlexAttention op_;
};

}  // namespace rh::cpu

RH_DEFINE_KERNEL(FlexAttentionKernel)
