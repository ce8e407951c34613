#include "ops/tensor/reverse_sequence.h"

#include <algorithm>

#include "compute/move/copy.h"
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
    const int64_t bytes = static_cast<int64_t>(compute::element_bytes(x.kind()));
    if (block * bytes <= kShortBlock && op_.batch_first) {
      reverse_short_blocks(context.parallel(), x, y, lengths, {batch, time, block});
    } else if (block * bytes > kShortBlock) {
      context.parallel().for_range(batch * time, {2.0 * static_cast<double>(block * bytes), 1.0}, [&](Range part) {
        for (int64_t i = part.begin; i < part.end; ++i) {
          const int64_t b = i / time, t = i % time;
          const int64_t from = source_of(t, lengths[b]);
          compute::copy_elements(x.kind(), x.at(b * batch_stride + from * time_stride), y.at(b * batch_stride + t * time_stride), block);
        }
      });
    } else {
      copy_short_blocks(context.parallel(), x, y, lengths, batch, time, block);
    }
    y.finish();
    return {};
  }

 private:
  static constexpr int64_t kShortBlock = 64;  // bytes; what is shorter is not copied by a call of its own

  static int64_t source_of(int64_t t, int64_t length) { return t < length ? length - 1 - t : t; }

  /// Time first: the blocks of neighbouring sequences of one length lie beside each other at every time.
  static void copy_short_blocks(const Parallel& parallel, const ElementInput& x, const ElementOutput& y, const int64_t* lengths,
                                int64_t batch, int64_t time, int64_t block) {
    compute::dispatch_kind(x.kind(), [&]<typename T>() {
      const double row = 2.0 * static_cast<double>(batch * block) * sizeof(T);
      parallel.for_range(time, {row, static_cast<double>(batch)}, [&](Range part) {
        for (int64_t t = part.begin; t < part.end; ++t) {
          T* to = reinterpret_cast<T*>(y.at(t * batch * block));
          for (int64_t b = 0; b < batch;) {
            const int64_t first = b, length = lengths[b];
            while (b < batch && lengths[b] == length) ++b;
            const T* from = reinterpret_cast<const T*>(x.at((source_of(t, length) * batch + first) * block));
            compute::copy_items(from, (b - first) * block, to);
            to += (b - first) * block;
          }
        }
      });
    });
  }

  struct Sizes {
    int64_t batch, time, block;
  };

  /// Batch first: a sequence lies together; its blocks change places, and what is behind its length stays.
  static void reverse_short_blocks(const Parallel& parallel, const ElementInput& x, const ElementOutput& y, const int64_t* lengths,
                                   const Sizes& size) {
    compute::dispatch_kind(x.kind(), [&]<typename T>() {
      const int64_t row = size.time * size.block, block = size.block;
      parallel.for_range(size.batch, {2.0 * static_cast<double>(row) * sizeof(T), static_cast<double>(row)}, [&](Range part) {
        for (int64_t b = part.begin; b < part.end; ++b) {
          const T* from = reinterpret_cast<const T*>(x.at(b * row));
          T* to = reinterpret_cast<T*>(y.at(b * row));
          const int64_t reversed = lengths[b] * block;
          for (int64_t i = 0; i < reversed; i += block)
            for (int64_t k = 0; k < block; ++k) to[i + k] = from[reversed - block - i + k];
          compute::copy_items(from + reversed, row - reversed, to + reversed);
        }
      });
    });
  }

  ops::ReverseSequence op_;
};

}  // namespace rh::cpu

RH_DEFINE_KERNEL(ReverseSequenceKernel)
