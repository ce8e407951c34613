#include "ops/tensor/gather_nd.h"

#include <algorithm>

#include "providers/cpu/elements.h"
#include "providers/cpu/index_tuples.h"

namespace rh::cpu {

/// Each tuple of indices names a block that is contiguous in the data.
class GatherNDKernel final : public Kernel {
 public:
  using Types = AnyType;

  explicit GatherNDKernel(const KernelInfo& info) : op_(info.attributes<ops::GatherND>()) {}

  Status run(RunContext& context) const override {
    const ElementInput x(context, 0);
    const Shape &shape = x.shape(), &index_shape = context.input(1).shape();
    const int batch = static_cast<int>(op_.batch_dims);
    const int64_t tuple = index_shape.empty() ? -1 : index_shape.back();
    bool fits = batch >= 0 && batch < shape.rank() && batch < index_shape.rank() && tuple >= 0 && tuple <= shape.rank() - batch;
    for (int k = 0; fits && k < batch; ++k) fits = shape[k] == index_shape[k];
    if (!fits) {
      return error_status(ErrorCode::invalid_argument, "GatherND: indices of shape {} do not fit data of shape {} with batch_dims {}",
                          index_shape.to_string(), shape.to_string(), batch);
    }
    const int last = batch + static_cast<int>(tuple);
    Shape y_shape(index_shape.begin(), index_shape.end() - 1);
    for (int k = last; k < shape.rank(); ++k) y_shape.push_back(shape[k]);
    const int64_t* indices = indices_of(context, 1);
    ElementOutput y(context, 0, x.dtype(), y_shape);
    const Shape strides = strides_of(shape);
    const int64_t block = shape.product(last, shape.rank()), tuples = index_shape.product(0, index_shape.rank() - 1);
    const int64_t batch_block = shape.product(batch, shape.rank());
    const int64_t tuples_a_batch = std::max<int64_t>(1, index_shape.product(batch, index_shape.rank() - 1));
    const double bytes = static_cast<double>(block) * static_cast<double>(compute::element_bytes(x.kind()));
    const IndexTuples all{indices, tuple, shape.data() + batch, strides.data() + batch, "GatherND: indices"};
    compute::dispatch_kind(x.kind(), [&]<typename T>() {
      const T* from = reinterpret_cast<const T*>(x.data());
      T* to = reinterpret_cast<T*>(y.data());
      context.parallel().for_range(tuples, {2 * bytes + 8.0 * tuple, 4.0 * tuple}, [&](Range part) {
        constexpr int64_t kAtOnce = 256;
        int64_t places[kAtOnce];
        for (int64_t begin = part.begin, end; begin < part.end; begin = end) {
          end = std::min(part.end, begin + kAtOnce);
          all.places(begin, end, places);
          if (block == 1 && tuples_a_batch == tuples) {
            for (int64_t i = begin; i < end; ++i) to[i] = from[places[i - begin]];
            continue;
          }
          for (int64_t i = begin; i < end; ++i) {
            const T* block_of = from + places[i - begin] + (tuples_a_batch == tuples ? 0 : i / tuples_a_batch * batch_block);
            compute::copy_block(x.kind(), block_of, to + i * block, block);
          }
        }
      });
    });
    y.finish();
    return {};
  }

 private:
  ops::GatherND op_;
};

}  // namespace rh::cpu

RH_DEFINE_KERNEL(GatherNDKernel)
