#include "ops/tensor/scatter_nd.h"

#include "base/interruptible.h"
#include "providers/cpu/index_tuples.h"
#include "providers/cpu/scatter_update.h"

namespace rh::cpu {

/// Updates are applied in order, so that with equal indices the last one stands.
class ScatterNDKernel final : public Kernel {
 public:
  using Types = AnyType;

  explicit ScatterNDKernel(const KernelInfo& info) : op_(info.attributes<ops::ScatterND>()), in_place_(may_overwrite_data(info.node())) {}

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
      const auto write_some = [&](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i) write(places[i], i * block, block);
      };
      in_order(tuples, write_some, block);
    }));
    y.finish();
    return {};
  }

 private:
  ops::ScatterND op_;
  bool in_place_;
};

}  // namespace rh::cpu

RH_DEFINE_KERNEL(ScatterNDKernel)
