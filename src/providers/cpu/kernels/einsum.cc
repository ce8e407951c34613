#include "ops/math/einsum.h"

#include <algorithm>
#include <map>

#include "base/cancellation.h"
#include "compute/gemm.h"
#include "compute/strided_copy.h"
#include "providers/cpu/convert.h"
#include "providers/cpu/elements.h"

namespace rh::cpu {

namespace {

using Label = ops::Einsum::Label;
using LabelList = std::vector<Label>;

bool has(const LabelList& labels, Label label) { return std::find(labels.begin(), labels.end(), label) != labels.end(); }

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

  explicit EinsumKernel(const KernelInfo& info) : op_(info.attributes<ops::Einsum>()) {}

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
  using Sizes = std::map<Label, int64_t>;

  template <typename T>
  Status run_as(RunContext& context) const {
    std::vector<int> ranks;
    for (int i = 0; i < context.input_count(); ++i) ranks.push_back(context.input(i).rank());
    const ops::Einsum::Labels labels = op_.labels(ranks);
    const Sizes sizes = sizes_of(context, labels);
    Shape shape;
    for (Label label : labels.output) shape.push_back(sizes.at(label));
    check_elements(shape, "Einsum: output");
    const auto needed = [&](size_t after, Label label) {
      return has(labels.output, label) || std::any_of(labels.inputs.begin() + static_cast<int64_t>(after), labels.inputs.end(),
                                                      [&](const LabelList& input) { return has(input, label); });
    };
    const auto operand = [&](size_t i) {
      const TensorView view = context.input(static_cast<int>(i));
      const TensorView wide = is_floating(view.dtype()) ? converted(context, view, dtype_of<T>) : view;
      return Operand<T>{labels.inputs[i], view.shape(), static_cast<const T*>(wide.raw())};
    };
    Operand<T> all = operand(0);
    for (size_t i = 1; i < labels.inputs.size(); ++i) {
      all = contracted(context, sizes, all, operand(i), [&](Label label) { return needed(i + 1, label); });
    }
    const MutableView y = context.output(0, shape);
    if (!is_floating(y.dtype())) {
      arrange(context, sizes, all, labels.output, static_cast<T*>(y.raw()));
      return {};
    }
    const ConvertedOutput wide(context, y, dtype_of<T>);
    arrange(context, sizes, all, labels.output, wide.template data<T>());
    wide.store(context.parallel());
    return {};
  }

  static Sizes sizes_of(const RunContext& context, const ops::Einsum::Labels& labels) {
    Sizes sizes;
    for (size_t i = 0; i < labels.inputs.size(); ++i) {
      const Shape& shape = context.input(static_cast<int>(i)).shape();
      for (size_t k = 0; k < shape.size(); ++k) {
        int64_t& size = sizes.emplace(labels.inputs[i][k], 1).first->second;
        if (shape[k] != size && shape[k] != 1 && size != 1) {
          fail(ErrorCode::invalid_argument, "Einsum: dimension {} of input {} is {}, expected {} as the others of its name in the equation",
               k, i, shape[k], size);
        }
        if (size == 1) size = shape[k];
      }
    }
    return sizes;
  }

  template <typename T, typename Needed>
  static Operand<T> contracted(RunContext& context, const Sizes& sizes, const Operand<T>& a, const Operand<T>& b, Needed needed) {
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
      for (const LabelList* list : lists) all.insert(all.end(), list->begin(), list->end());
      return all;
    };
    const auto count = [&](const LabelList& list) {
      int64_t product = 1;
      for (Label label : list) product = checked_product(product, sizes.at(label), "Einsum: sizes");
      return product;
    };
    const Operand<T> left = arranged(context, sizes, a, joined({&batch, &rows, &summed}));
    const Operand<T> right = arranged(context, sizes, b, joined({&batch, &summed, &columns}));
    Operand<T> y{joined({&batch, &rows, &columns}), {}, nullptr};
    for (Label label : y.labels) y.dims.push_back(sizes.at(label));
    check_elements(y.dims, "Einsum: product");
    T* to = context.scratch_array<T>(y.dims.elements());
    multiply(context.parallel(), count(batch), count(rows), count(summed), count(columns), left.data, right.data, to);
    y.data = to;
    return y;
  }

  /// Products [m, k] x [k, n] of a batch.
  template <typename T>
  static void multiply(const Parallel& parallel, int64_t batch, int64_t m, int64_t k, int64_t n, const T* a, const T* b, T* y) {
    if (batch == 0 || m == 0 || n == 0) return;
    if constexpr (std::is_floating_point_v<T>) {
      std::vector<int64_t> a_offsets, b_offsets, y_offsets;
      for (int64_t i = 0; i < batch; ++i) {
        a_offsets.push_back(i * m * k);
        b_offsets.push_back(i * k * n);
        y_offsets.push_back(i * m * n);
      }
      compute::gemm_batched<T>({.m = m, .n = n, .k = k}, {batch, a_offsets.data(), b_offsets.data(), y_offsets.data()}, a, b, y, parallel);
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
    if (summed_dims.empty()) {
      const Shape out = strides_of(dims);
      compute::strided_copy(compute::element_kind(dtype_of<T>), dims, x.data, strides, y, out, context.parallel());
      return;
    }
    const int64_t terms = summed_dims.elements();
    Odometer place(dims, strides);
    for (int64_t i = 0; i < dims.elements(); ++i, place.next()) {
      throw_if_cancelled();
      T sum = 0;
      Odometer term(summed_dims, summed_strides);
      for (int64_t k = 0; k < terms; ++k, term.next()) sum = static_cast<T>(sum + x.data[place.place() + term.place()]);
      y[i] = sum;
    }
  }

  ops::Einsum op_;
};

}  // namespace rh::cpu

RH_DEFINE_KERNEL(EinsumKernel)
