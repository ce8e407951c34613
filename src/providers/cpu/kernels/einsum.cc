#include "ops/math/einsum.h"

#include <algorithm>
#include <optional>
#include <span>
#include <vector>

#include "base/cancellation.h"
#include "compute/elementwise/vector_math.h"
#include "compute/gemm/gemm.h"
#include "compute/gemm/integer_gemm.h"
#include "compute/gemm/matrix_vector.h"
#include "compute/move/strided_copy.h"
#include "compute/move/transpose.h"
#include "providers/cpu/convert.h"
#include "providers/cpu/elements.h"

namespace rh::cpu {

namespace {

using Label = ops::Einsum::Label;
using LabelList = InlineVector<Label, 8>;

/// Whether both have the same labels, each once.
bool is_permutation(const LabelList& a, const LabelList& b) {
  return a.size() == b.size() && std::is_permutation(a.begin(), a.end(), b.begin());
}

bool has(std::span<const Label> labels, Label label) { return std::find(labels.begin(), labels.end(), label) != labels.end(); }

/// How large the dimensions of a label are.
class Sizes {
 public:
  /// 1 where the label is new.
  int64_t& operator[](Label label) {
    const size_t k = static_cast<size_t>(std::find(labels_.begin(), labels_.end(), label) - labels_.begin());
    if (k == labels_.size()) {
      labels_.push_back(label);
      sizes_.push_back(1);
    }
    return sizes_[k];
  }
  int64_t at(Label label) const { return sizes_[static_cast<size_t>(std::find(labels_.begin(), labels_.end(), label) - labels_.begin())]; }

 private:
  InlineVector<Label, 16> labels_;
  InlineVector<int64_t, 16> sizes_;
};

/// Contiguous elements of which each dimension has a label of its own; inputs may have one several times.
template <typename T>
struct Operand {
  LabelList labels;
  Shape dims;
  const T* data;
};

/// Steps through all indices of a shape and keeps the place in several tensors.
class Odometer {
 public:
  Odometer(const Shape& dims, const Shape& strides) : dims_(dims), strides_(strides), index_(dims.size(), 0) {}
  int64_t place() const { return place_; }
  void next() {
    for (int k = dims_.rank() - 1; k >= 0; --k) {
      const size_t at = static_cast<size_t>(k);
      place_ += strides_[at];
      if (++index_[at] < dims_[at]) return;
      place_ -= strides_[at] * dims_[at];
      index_[at] = 0;
    }
  }

 private:
  const Shape &dims_, &strides_;
  Shape index_;
  int64_t place_ = 0;
};

}  // namespace

/// Operands are taken one after the other: what the rest does not need is summed away, then two become one by matrix products. Half types
/// go through float.
class EinsumKernel final : public Kernel {
 public:
  using Types = NumericTypes;

  explicit EinsumKernel(const KernelInfo& info) : op_(info.attributes<ops::Einsum>()) {
    for (int i = 0; i < info.node().input_count(); ++i) {
      const ValueType& type = info.node().input_type(i);
      if (!type.is_tensor() || !type.tensor().has_rank()) return;
      ranks_.push_back(type.tensor().rank());
    }
    try {
      labels_ = op_.labels(ranks_);
    } catch (const Error&) {  // run() says what is wrong
      labels_.reset();
    }
  }

  Status run(RunContext& context) const override {
    const DType dtype = context.input(0).dtype();
    for (int i = 1; i < context.input_count(); ++i) {
      if (context.input(i).dtype() != dtype)
        return error_status(ErrorCode::invalid_argument, "Einsum: input {} is {}, expected {} as input 0", i,
                            to_string(context.input(i).dtype()), to_string(dtype));
    }
    if (is_floating(dtype)) return compute_type(dtype) == DType::float64 ? run_as<double>(context) : run_as<float>(context);
    // Integers wrap around, which only unsigned ones do by definition.
    switch (bits_of(dtype)) {
      case 8: return run_as<uint8_t>(context);
      case 16: return run_as<uint16_t>(context);
      case 32: return run_as<uint32_t>(context);
      default: return run_as<uint64_t>(context);
    }
  }

 private:
  template <typename T>
  Status run_as(RunContext& context) const {
    InlineVector<int, 8> ranks;
    for (int i = 0; i < context.input_count(); ++i) ranks.push_back(context.input(i).rank());
    const bool is_known = labels_ && std::ranges::equal(ranks, ranks_);
    const ops::Einsum::Labels own = is_known ? ops::Einsum::Labels() : op_.labels(ranks);
    const ops::Einsum::Labels& labels = is_known ? *labels_ : own;
    const Sizes sizes = sizes_of(context, labels);
    Shape shape;
    for (Label label : labels.output) shape.push_back(sizes.at(label));
    check_elements(shape, "Einsum: output");
    const auto needed = [&](size_t after, Label label) {
      return has(labels.output, label) || std::any_of(labels.inputs.begin() + static_cast<int64_t>(after), labels.inputs.end(),
                                                      [&](const std::vector<Label>& input) { return has(input, label); });
    };
    const auto operand = [&](size_t i) {
      const TensorView view = context.input(static_cast<int>(i));
      const TensorView wide = is_floating(view.dtype()) ? converted(context, view, dtype_of<T>) : view;
      return Operand<T>{LabelList(std::span<const Label>(labels.inputs[i])), view.shape(), static_cast<const T*>(wide.raw())};
    };
    const MutableView y = context.output(0, shape);
    std::optional<ConvertedOutput> wide;
    if (is_floating(y.dtype())) wide.emplace(context, y, dtype_of<T>);
    const LabelList output{std::span<const Label>(labels.output)};
    const Target<T> target{output, wide ? wide->template data<T>() : static_cast<T*>(y.raw())};
    Operand<T> all = operand(0);
    for (size_t i = 1; i < labels.inputs.size(); ++i) {
      const bool is_last = i + 1 == labels.inputs.size();
      all = contracted(context, sizes, all, operand(i), [&](Label label) { return needed(i + 1, label); }, is_last ? &target : nullptr);
    }
    if (all.data != target.data) arrange(context, sizes, all, output, target.data);
    if (wide) wide->store(context.parallel());
    return {};
  }

  static Sizes sizes_of(const RunContext& context, const ops::Einsum::Labels& labels) {
    Sizes sizes;
    for (size_t i = 0; i < labels.inputs.size(); ++i) {
      const Shape& shape = context.input(static_cast<int>(i)).shape();
      for (size_t k = 0; k < shape.size(); ++k) {
        int64_t& size = sizes[labels.inputs[i][k]];
        if (shape[k] != size && shape[k] != 1 && size != 1) {
          fail(ErrorCode::invalid_argument, "Einsum: dimension {} of input {} is {}, expected {} as the others of its name in the equation",
               k, i, shape[k], size);
        }
        if (size == 1) size = shape[k];
      }
    }
    return sizes;
  }

  /// Where the result is to be, and in which order.
  template <typename T>
  struct Target {
    const LabelList& labels;
    T* data;
  };

  /// Of floats, a matrix may be read transposed rather than be copied: `labels` or, with the last two lists changed over, what it is.
  template <typename T>
  static bool is_transposed(const Sizes& sizes, const Operand<T>& x, const LabelList& changed) {
    if (!std::is_floating_point_v<T> || !(x.labels == changed)) return false;
    for (size_t k = 0; k < changed.size(); ++k)
      if (x.dims[k] != sizes.at(changed[k])) return false;
    return true;
  }

  /// Written where `target` says if the order is that one's.
  template <typename T, typename Needed>
  static Operand<T> contracted(RunContext& context, const Sizes& sizes, const Operand<T>& a, const Operand<T>& b, Needed needed,
                               const Target<T>* target) {
    LabelList batch, rows, columns, summed;
    for (Label label : a.labels) {
      LabelList& list = !has(b.labels, label) ? rows : needed(label) ? batch : summed;
      if (!has(list, label) && (&list != &rows || needed(label))) list.push_back(label);
    }
    for (Label label : b.labels) {
      if (!has(a.labels, label) && needed(label) && !has(columns, label)) columns.push_back(label);
    }
    const auto joined = [](std::initializer_list<const LabelList*> lists) {
      LabelList all;
      for (const LabelList* list : lists)
        for (Label label : *list) all.push_back(label);
      return all;
    };
    const auto count = [&](const LabelList& list) {
      int64_t product = 1;
      for (Label label : list) product = checked_product(product, sizes.at(label), "Einsum: sizes");
      return product;
    };
    const bool left_transposed = is_transposed(sizes, a, joined({&batch, &summed, &rows})) && !rows.empty() && !summed.empty();
    const bool right_transposed = is_transposed(sizes, b, joined({&batch, &columns, &summed})) && !columns.empty() && !summed.empty();
    const Operand<T> left = left_transposed ? a : arranged(context, sizes, a, joined({&batch, &rows, &summed}));
    const Operand<T> right = right_transposed ? b : arranged(context, sizes, b, joined({&batch, &summed, &columns}));
    Operand<T> y{joined({&batch, &rows, &columns}), {}, nullptr};
    for (Label label : y.labels) y.dims.push_back(sizes.at(label));
    check_elements(y.dims, "Einsum: product");
    T* to = target && target->labels == y.labels ? target->data : context.scratch_array<T>(y.dims.elements());
    const compute::GemmArgs<float> matrices{
        .m = count(rows), .n = count(columns), .k = count(summed), .transpose_a = left_transposed, .transpose_b = right_transposed};
    multiply(context, count(batch), matrices, left.data, right.data, to);
    y.data = to;
    return y;
  }

  /// Products of a batch, of which `matrices` tells the sizes and order.
  template <typename T>
  static void multiply(RunContext& context, int64_t batch, const compute::GemmArgs<float>& matrices, const T* a, const T* b, T* y) {
    const Parallel& parallel = context.parallel();
    const int64_t m = matrices.m, n = matrices.n, k = matrices.k;
    if (batch == 0 || m == 0 || n == 0) return;
    if constexpr (std::is_same_v<T, float>) {
      if (n == 1 && m > 1 && !matrices.transpose_a) return matrices_by_vectors(parallel, batch, m, k, a, b, y);
      if (k == 1 && n >= kOuterColumns) return outer_products(parallel, batch * m, m, n, a, b, y);
      const bool few_rows = m <= kFewRows && k >= kLeastFewRowsDepth && batch >= parallel.threads();
      if (few_rows && matrices.transpose_b && !matrices.transpose_a) return rows_by_matrices(parallel, batch, matrices, a, b, y);
    }
    if constexpr (std::is_floating_point_v<T>) {
      // A matrix by a vector is a vector by the matrix transposed, which is read where it lies.
      const bool by_vector = n == 1 && m > 1 && !matrices.transpose_a;
      compute::GemmArgs<T> args{.m = m, .n = n, .k = k, .transpose_a = matrices.transpose_a, .transpose_b = matrices.transpose_b};
      if (by_vector) args = {.m = 1, .n = m, .k = k, .transpose_b = true};
      int64_t *a_offsets = context.scratch_array<int64_t>(batch),
              *b_offsets = context.scratch_array<int64_t>(batch), *const y_offsets = context.scratch_array<int64_t>(batch);
      for (int64_t i = 0; i < batch; ++i) {
        a_offsets[i] = i * m * k;
        b_offsets[i] = i * k * n;
        y_offsets[i] = i * m * n;
      }
      if (by_vector) {
        std::swap(a_offsets, b_offsets);
        std::swap(a, b);
      }
      compute::gemm_batched<T>(args, {batch, a_offsets, b_offsets, y_offsets}, a, b, y, parallel);
    } else if constexpr (sizeof(T) >= sizeof(int32_t)) {
      multiply_integers(parallel, batch, matrices, a, b, y);
    } else {
      const double work = static_cast<double>(n) * static_cast<double>(k);
      parallel.for_range(batch * m, {sizeof(T) * work, work}, [&](Range part) {
        for (int64_t row = part.begin; row < part.end; ++row) {
          std::fill_n(y + row * n, n, T(0));
          for (int64_t i = 0; i < k; ++i) {
            const uint64_t factor = a[row * k + i];
            const T* from = b + (row / m * k + i) * n;
            for (int64_t column = 0; column < n; ++column)
              y[row * n + column] = static_cast<T>(y[row * n + column] + factor * from[column]);
          }
        }
      });
    }
  }

  /// Unsigned ones have the same bits as signed ones that wrap around.
  template <typename T>
  static void multiply_integers(const Parallel& parallel, int64_t batch, const compute::GemmArgs<float>& matrices, const T* a, const T* b,
                                T* y) {
    const int64_t m = matrices.m, n = matrices.n, k = matrices.k;
    if (n == 1) {
      parallel.for_range(batch * m, {static_cast<double>(sizeof(T)) * static_cast<double>(k), static_cast<double>(k)}, [&](Range part) {
        for (int64_t row = part.begin; row < part.end; ++row) {
          const T *const left = a + row * k, *const right = b + row / m * k;
          T sum = 0;
          for (int64_t i = 0; i < k; ++i) sum += left[i] * right[i];
          y[row] = sum;
        }
      });
      return;
    }
    const auto product = [=](int64_t i, const Parallel& threads) {
      using I = std::make_signed_t<T>;
      compute::integer_gemm(reinterpret_cast<const I*>(a) + i * m * k, reinterpret_cast<const I*>(b) + i * k * n,
                            reinterpret_cast<I*>(y) + i * m * n, m, n, k, threads);
    };
    if (batch < parallel.threads()) {
      for (int64_t i = 0; i < batch; ++i) product(i, parallel);
      return;
    }
    const double elements = static_cast<double>(m * k + k * n + m * n), products = static_cast<double>(m * n) * static_cast<double>(k + 1);
    parallel.for_range(batch, {sizeof(T) * elements, products}, [&](Range part) {
      for (int64_t i = part.begin; i < part.end; ++i) product(i, Parallel());
    });
  }

  static void matrices_by_vectors(const Parallel& parallel, int64_t batch, int64_t m, int64_t k, const float* a, const float* b, float* y) {
    const double length = static_cast<double>(k);
    parallel.for_range(batch * m, {4 * length, length}, [&](Range part) {
      for (int64_t row = part.begin; row < part.end;) {
        const int64_t matrix = row / m, rows = std::min(part.end, (matrix + 1) * m) - row;
        compute::matrix_vector(a + row * k, b + matrix * k, y + row, rows, k);
        row += rows;
      }
    });
  }

  // Rows that take less time one by one than a matrix to be turned for them, with products of at least so many numbers.
  static constexpr int64_t kFewRows = 8, kLeastFewRowsDepth = 16;

  /// Few rows times matrices that lie transposed.
  static void rows_by_matrices(const Parallel& parallel, int64_t batch, const compute::GemmArgs<float>& matrices, const float* a,
                               const float* b, float* y) {
    const int64_t m = matrices.m, n = matrices.n, k = matrices.k;
    const double size = static_cast<double>(n * k);
    parallel.for_range(batch, {4 * size, size * static_cast<double>(m)}, [&](Range part) {
      for (int64_t row = part.begin * m; row < part.end * m; ++row)
        compute::matrix_vector(b + row / m * n * k, a + row * k, y + row * n, n, k);
    });
  }

  static constexpr int64_t kOuterColumns = 16;  ///< from which on rows of outer products are rows of vectors

  /// Row i of y is row i / rows of b times element i of a.
  static void outer_products(const Parallel& parallel, int64_t count, int64_t rows, int64_t n, const float* a, const float* b, float* y) {
    const double length = static_cast<double>(n);
    parallel.for_range(count, {8 * length, length}, [&](Range part) {
      for (int64_t i = part.begin; i < part.end; ++i) compute::binary_scalar(compute::Binary::mul, b + i / rows * n, a[i], y + i * n, n);
    });
  }

  template <typename T>
  static Operand<T> arranged(RunContext& context, const Sizes& sizes, const Operand<T>& x, const LabelList& labels) {
    Operand<T> y{labels, {}, nullptr};
    for (Label label : labels) y.dims.push_back(sizes.at(label));
    if (x.labels == labels && x.dims == y.dims) return x;
    check_elements(y.dims, "Einsum: operand");
    T* to = context.scratch_array<T>(y.dims.elements());
    arrange(context, sizes, x, labels, to);
    y.data = to;
    return y;
  }

  /// x in the order of `labels`, repeated where it has one element for many; diagonals are taken, and what is not in `labels` is summed.
  template <typename T>
  static void arrange(RunContext& context, const Sizes& sizes, const Operand<T>& x, const LabelList& labels, T* y) {
    Shape dims, strides, summed_dims, summed_strides;
    const Shape steps = strides_of(x.dims);
    const auto stride_of = [&](Label label) {
      int64_t stride = 0;
      for (size_t k = 0; k < x.labels.size(); ++k) stride += x.labels[k] == label && x.dims[k] != 1 ? steps[k] : 0;
      return stride;
    };
    for (Label label : labels) {
      dims.push_back(sizes.at(label));
      strides.push_back(stride_of(label));
    }
    for (size_t k = 0; k < x.labels.size(); ++k) {
      const Label label = x.labels[k];
      if (has(labels, label) ||
          std::find(x.labels.begin(), x.labels.begin() + static_cast<int64_t>(k), label) != x.labels.begin() + static_cast<int64_t>(k))
        continue;
      summed_dims.push_back(sizes.at(label));
      summed_strides.push_back(stride_of(label));
    }
    if (dims.elements() == 0) return;
    if (summed_dims.empty() && is_permutation(x.labels, labels) && dims.elements() == x.dims.elements()) {
      Shape axes;
      for (Label label : labels) axes.push_back(std::find(x.labels.begin(), x.labels.end(), label) - x.labels.begin());
      return compute::transpose(x.data, x.dims, axes, sizeof(T), y, context.parallel());
    }
    if (summed_dims.empty()) {
      const Shape out = strides_of(dims);
      compute::strided_copy(compute::element_kind(dtype_of<T>), dims, x.data, strides, y, out, context.parallel());
      return;
    }
    const int64_t length = summed_dims.back(), step = summed_strides.back();
    summed_dims.pop_back();
    summed_strides.pop_back();
    const int64_t lines = summed_dims.elements();
    Odometer place(dims, strides);
    for (int64_t i = 0; i < dims.elements(); ++i, place.next()) {
      throw_if_cancelled();
      T sum = 0;
      Odometer line(summed_dims, summed_strides);
      for (int64_t k = 0; k < lines; ++k, line.next())
        sum = static_cast<T>(sum + sum_of_line(x.data + place.place() + line.place(), step, length));
      y[i] = sum;
    }
  }

  /// Of several sums side by side, which wait for each other less.
  template <typename T>
  static T sum_of_line(const T* x, int64_t step, int64_t length) {
    constexpr int64_t kSums = 4;
    T sums[kSums] = {};
    int64_t i = 0;
    for (; i + kSums <= length; i += kSums)
      for (int64_t k = 0; k < kSums; ++k) sums[k] = static_cast<T>(sums[k] + x[(i + k) * step]);
    for (; i < length; ++i) sums[0] = static_cast<T>(sums[0] + x[i * step]);
    return static_cast<T>(static_cast<T>(sums[0] + sums[1]) + static_cast<T>(sums[2] + sums[3]));
  }

  ops::Einsum op_;
  std::vector<int> ranks_;                     ///< that inputs are declared to have
  std::optional<ops::Einsum::Labels> labels_;  ///< for these
};

}  // namespace rh::cpu

RH_DEFINE_KERNEL(EinsumKernel)
