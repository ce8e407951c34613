#include "ops/tensor/reverse_sequence.h"

#include "providers/cpu/elements.h"

namespace rh::cpu {

class ReverseSequenceKernel final : public Kernel {
 public:
  using Types = AnyType;

  explicit ReverseSequenceKernel(const KernelInfo& info) : op_(info.attributes<ops::ReverseSequence>()) {}

  Status run(RunContext& context) const override {
    const ElementInput x(context, 0);
    const Shape& shape = x.shape();
    if (shape.rank() < 2)
      return error_status(ErrorCode::invalid_argument, "ReverseSequence: the input has rank {}, expected at least 2", shape.rank());
    const int64_t batch = shape[op_.batch_first ? 0 : 1], time = shape[op_.batch_first ? 1 : 0], block = shape.product(2, shape.rank());
    const int64_t batch_stride = (op_.batch_first ? time : 1) * block, time_stride = (op_.batch_first ? 1 : batch) * block;
    const int64_t* lengths = indices_of(context, 1);
    if (context.input(1).elements() != batch) {
      return error_status(ErrorCode::invalid_argument, "ReverseSequence: sequence_lens has {} elements, expected {}",
                          context.input(1).elements(), batch);
    }
    for (int64_t b = 0; b < batch; ++b) {
      if (lengths[b] < 0 || lengths[b] > time) {
        return error_status(ErrorCode::invalid_argument, "ReverseSequence: sequence_lens has {}, expected a value in [0, {}]", lengths[b],
                            time);
      }
    }
    ElementOutput y(context, 0, x.dtype(), shape);
    const double bytes = static_cast<double>(block) * static_cast<double>(compute::element_bytes(x.kind()));
    context.parallel().for_range(batch * time, {2 * bytes, 1.0}, [&](Range part) {
      for (int64_t i = part.begin; i < part.end; ++i) {
        const int64_t b = i / time, t = i % time;
        const int64_t from = t < lengths[b] ? lengths[b] - 1 - t : t;
        compute::copy_elements(x.kind(), x.at(b * batch_stride + from * time_stride), y.at(b * batch_stride + t * time_stride), block);
      }
    });
    y.finish();
    return {};
  }

 private:
  ops::ReverseSequence op_;
};

}  // namespace rh::cpu

RH_DEFINE_KERNEL(ReverseSequenceKernel)
