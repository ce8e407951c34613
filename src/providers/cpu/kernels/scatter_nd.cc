#include "ops/tensor/scatter_nd.h"

#include <utility>
#include <vector>

#include "base/interruptible.h"
#include "providers/cpu/index_tuples.h"
#include "providers/cpu/scatter_update.h"

namespace rh::cpu {

/// Updates are applied in order, so that with equal indices the last one stands.
class ScatterNDKernel final : public Kernel {
 public:
  using Types = AnyType;

  explicit ScatterNDKernel(const KernelInfo& info) : op_(info.attributes<ops::ScatterND>()), in_place_(may_overwrite_data(info.node())) {
    const Tensor* indices = info.constant_input(1);
    const ValueType& data = info.node().input_type(0);
    if (!indices || indices->dtype() != DType::int64 || !data.is_tensor() || !data.tensor().dims) return;
    for (const Dim& dim : *data.tensor().dims) {
      if (!dim.is_constant() || dim.value() < 1) return;
      data_shape_.push_back(dim.value());
    }
    find_runs(*indices);
  }

  std::span<const Alias> aliases() const override {
    return in_place_ ? std::span<const Alias>(kInPlaceOfFirstInput) : std::span<const Alias>();
  }

  Status run(RunContext& context) const override {
    const ElementInput x(context, 0), updates(context, 2);
    const Shape &shape = x.shape(), &index_shape = context.input(1).shape();
    const int64_t tuple = index_shape.empty() ? 0 : index_shape.back();
    if (index_shape.empty() || tuple > shape.rank()) {
      return error_status(ErrorCode::invalid_argument, "ScatterND: indices of shape {} do not fit data of shape {}",
                          index_shape.to_string(), shape.to_string());
    }
    Shape expected(index_shape.begin(), index_shape.end() - 1);
    for (int k = static_cast<int>(tuple); k < shape.rank(); ++k) expected.push_back(shape[k]);
    if (!(updates.shape() == expected)) {
      return error_status(ErrorCode::invalid_argument, "ScatterND: updates have shape {}, expected {}", updates.shape().to_string(),
                          expected.to_string());
    }
    if (!runs_.empty() && shape == data_shape_) {
      ElementOutput y(context, 0, x.dtype(), shape);
      start_from_data(x, y);
      const double size = static_cast<double>(updates.elements()) / static_cast<double>(runs_.size());
      const Cost cost{3 * static_cast<double>(compute::element_bytes(x.kind())) * size, size};
      RH_RETURN_IF_ERROR(with_scatter_write(op_.reduction, x.dtype(), updates, y, [&](auto write) {
        context.parallel().for_range(static_cast<int64_t>(runs_.size()), cost, [&](Range part) {
          throw_if_cancelled();
          for (int64_t i = part.begin; i < part.end; ++i) {
            const Run& run = runs_[static_cast<size_t>(i)];
            write(run.to, run.from, run.count);
          }
        });
      }));
      y.finish();
      return {};
    }
    const int64_t* indices = indices_of(context, 1);
    const int64_t block = shape.product(static_cast<int>(tuple), shape.rank()), tuples = index_shape.product(0, index_shape.rank() - 1);
    const Shape strides = strides_of(shape);
    int64_t* places = context.scratch_array<int64_t>(tuples);
    const IndexTuples all{indices, tuple, shape.data(), strides.data(), "ScatterND: indices"};
    context.parallel().for_range(tuples, {8.0 * (tuple + 1), 3.0 * tuple},
                                 [&](Range part) { all.places(part.begin, part.end, places + part.begin); });
    ElementOutput y(context, 0, x.dtype(), shape);
    start_from_data(x, y);
    RH_RETURN_IF_ERROR(with_scatter_write(op_.reduction, x.dtype(), updates, y, [&](auto write) {
      // Threads take columns of the blocks, each in the order of the tuples.
      constexpr int64_t kColumns = 64;
      const double bytes = static_cast<double>(compute::element_bytes(x.kind())),
                   elements = static_cast<double>(tuples * std::min(block, kColumns));
      const auto write_columns = [&](Range part) {
        const int64_t first = part.begin * kColumns, width = std::min(block, part.end * kColumns) - first;
        in_order(
            tuples,
            [&](int64_t begin, int64_t end) {
              for (int64_t i = begin; i < end; ++i) write(places[i] + first, i * block + first, width);
            },
            width);
      };
      context.parallel().for_range((block + kColumns - 1) / kColumns, {3 * bytes * elements, elements}, write_columns);
    }));
    y.finish();
    return {};
  }

 private:
  struct Run {
    int64_t to, from, count;
  };

  /// Constant indices that go upwards, as those of an assignment to a slice do, are runs of elements side by side, none of which meets
  /// another. Indices that are wrong are left to run().
  void find_runs(const Tensor& indices) {
    constexpr int64_t kMost = 1 << 14, kLeastElements = 16;  // of a run; on average
    const Shape& index_shape = indices.shape();
    const int64_t tuple = index_shape.empty() ? 0 : index_shape.back();
    if (tuple < 1 || tuple > data_shape_.rank()) return;
    const Shape strides = strides_of(data_shape_);
    const int64_t block = data_shape_.product(static_cast<int>(tuple), data_shape_.rank()), tuples = indices.elements() / tuple;
    const int64_t most_runs = tuples * block / kLeastElements;
    const IndexTuples all{indices.data<int64_t>(), tuple, data_shape_.data(), strides.data(), "ScatterND: indices"};
    std::vector<Run> runs;
    try {
      for (int64_t i = 0, place = 0; i < tuples; ++i) {
        all.places(i, i + 1, &place);
        const bool follows = !runs.empty() && place == runs.back().to + runs.back().count;
        if (!runs.empty() && place < runs.back().to + runs.back().count) return;
        if (follows && runs.back().count + block <= kMost) {
          runs.back().count += block;
          continue;
        }
        if (static_cast<int64_t>(runs.size()) == most_runs) return;
        runs.push_back({place, i * block, block});
      }
    } catch (const Error&) {
      return;
    }
    runs_ = std::move(runs);
  }

  ops::ScatterND op_;
  bool in_place_;
  Shape data_shape_;
  std::vector<Run> runs_;
};

}  // namespace rh::cpu

RH_DEFINE_KERNEL(ScatterNDKernel)
