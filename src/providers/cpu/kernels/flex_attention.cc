#include "ops/nn/flex_attention.h"

#include <cmath>
#include <limits>

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
    multiply(context.parallel(), sizes, in_type(0), in_type(1), scores.data<T>());
    // Graphs in the order of their names.
    if (op_.changes_scores) RH_RETURN_IF_ERROR(change(context, op_.changes_weights ? 1 : 0, precision, scores));
    weigh(context.parallel(), sizes, scores.data<T>());
    if (op_.changes_weights) RH_RETURN_IF_ERROR(change(context, 0, precision, scores));
    const ConvertedOutput y(context, 0, {sizes.batch, sizes.heads, sizes.queries, sizes.value_depth}, dtype_of<T>);
    add_values(context.parallel(), sizes, scores.data<T>(), in_type(2), y.template data<T>());
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

  template <typename F>
  static void for_rows(const Parallel& parallel, const Sizes& sizes, int64_t depth, F row) {
    const double work = static_cast<double>(sizes.keys) * static_cast<double>(depth);
    parallel.for_range(sizes.batch * sizes.heads * sizes.queries, {8 * work, work}, [&](Range part) {
      for (int64_t i = part.begin; i < part.end; ++i)
        row(i, i / sizes.queries / sizes.heads * (sizes.heads / sizes.group) + i / sizes.queries % sizes.heads / sizes.group);
    });
  }

  template <typename T>
  void multiply(const Parallel& parallel, const Sizes& sizes, const T* q, const T* k, T* scores) const {
    const T scale = static_cast<T>(op_.scale ? *op_.scale : 1 / std::sqrt(std::max<double>(1, static_cast<double>(sizes.depth))));
    for_rows(parallel, sizes, sizes.depth, [&](int64_t row, int64_t head) {
      for (int64_t key = 0; key < sizes.keys; ++key) {
        T sum = 0;
        for (int64_t i = 0; i < sizes.depth; ++i) sum += q[row * sizes.depth + i] * k[(head * sizes.keys + key) * sizes.depth + i];
        scores[row * sizes.keys + key] = sum * scale;
      }
    });
  }

  template <typename T>
  static void weigh(const Parallel& parallel, const Sizes& sizes, T* scores) {
    for_rows(parallel, sizes, 16, [&](int64_t row, int64_t) {
      T *x = scores + row * sizes.keys, largest = -std::numeric_limits<T>::infinity(), sum = 0;
      for (int64_t key = 0; key < sizes.keys; ++key) largest = std::max(largest, x[key]);
      for (int64_t key = 0; key < sizes.keys; ++key) sum += x[key] = std::exp(x[key] - largest);
      for (int64_t key = 0; key < sizes.keys; ++key) x[key] /= sum;
    });
  }

  template <typename T>
  static void add_values(const Parallel& parallel, const Sizes& sizes, const T* weights, const T* v, T* y) {
    for_rows(parallel, sizes, sizes.value_depth, [&](int64_t row, int64_t head) {
      T* to = y + row * sizes.value_depth;
      std::fill_n(to, sizes.value_depth, T(0));
      for (int64_t key = 0; key < sizes.keys; ++key) {
        for (int64_t i = 0; i < sizes.value_depth; ++i) {
          to[i] += weights[row * sizes.keys + key] * v[(head * sizes.keys + key) * sizes.value_depth + i];
        }
      }
    });
  }

  ops::FlexAttention op_;
};

}  // namespace rh::cpu

RH_DEFINE_KERNEL(FlexAttentionKernel)
