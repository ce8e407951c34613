#include "ops/tensor/tensor_scatter.h"

#include "providers/cpu/scatter_update.h"

namespace rh::cpu {

class TensorScatterKernel final : public Kernel {
 public:
  using Types = AnyType;

  explicit TensorScatterKernel(const KernelInfo& info) : op_(info.attributes<ops::TensorScatter>()) {
    const auto& inputs = info.node().node().inputs;
    in_place_ = inputs[0] != inputs[1] && (inputs.size() < 3 || inputs[0] != inputs[2]);
  }

  std::span<const Alias> aliases() const override {
    return in_place_ ? std::span<const Alias>(kInPlaceOfFirstInput) : std::span<const Alias>();
  }

  Status run(RunContext& context) const override {
    const ElementInput cache(context, 0), update(context, 1);
    const Shape &shape = cache.shape(), &written = update.shape();
    const int rank = shape.rank(), axis = normalize_axis(op_.axis, rank, "TensorScatter: axis");
    bool fits = axis > 0 && written.rank() == rank;
    for (int k = 0; fits && k < rank; ++k) fits = k == axis ? written[k] <= shape[k] : written[k] == shape[k];
    if (!fits || update.dtype() != cache.dtype()) {
      return error_status(ErrorCode::invalid_argument,
                          "TensorScatter: past_cache is {}{} and update {}{}, expected one type and shape, at most as long along axis {}",
                          to_string(cache.dtype()), shape.to_string(), to_string(update.dtype()), written.to_string(), op_.axis);
    }
    const int64_t* indices = write_indices(context, shape[0], shape[axis] - written[axis]);
    ElementOutput y(context, 0, cache.dtype(), shape);
    start_from_data(cache, y);
    const int64_t inner = shape.product(axis + 1, rank), outer = shape.product(0, axis), per_batch = shape.product(1, axis);
    const int64_t length = shape[axis], count = written[axis];
    if (update.elements() > 0) {
      const double moved = static_cast<double>(count * inner) * static_cast<double>(compute::element_bytes(y.kind()));
      context.parallel().for_range(outer, {2 * moved, moved / 16}, [&](Range part) {
        for (int64_t i = part.begin; i < part.end; ++i) {
          const int64_t index = indices ? indices[i / per_batch] : 0;
          const int64_t first = op_.circular ? (index % length + length) % length : index, before_end = std::min(count, length - first);
          compute::copy_elements(y.kind(), update.at(i * count * inner), y.at((i * length + first) * inner), before_end * inner);
          compute::copy_elements(y.kind(), update.at((i * count + before_end) * inner), y.at(i * length * inner),
                                 (count - before_end) * inner);
        }
      });
    }
    y.finish();
    return {};
  }

 private:
  /// Null where they are left out. Those of a linear cache are in [0, last].
  const int64_t* write_indices(RunContext& context, int64_t batch, int64_t last) const {
    if (!context.has_input(2)) return nullptr;
    if (!(context.input(2).shape() == Shape{batch})) {
      fail(ErrorCode::invalid_argument, "TensorScatter: write_indices has shape {}, expected [{}]", context.input(2).shape().to_string(),
           batch);
    }
    const int64_t* indices = indices_of(context, 2);
    for (int64_t i = 0; i < batch && !op_.circular; ++i) {
      if (indices[i] < 0 || indices[i] > last) {
        fail(ErrorCode::invalid_argument, "TensorScatter: write_indices has {}, expected values in [0, {}]", indices[i], last);
      }
    }
    return indices;
  }

  ops::TensorScatter op_;
  bool in_place_;
};

}  // namespace rh::cpu

RH_DEFINE_KERNEL(TensorScatterKernel)
