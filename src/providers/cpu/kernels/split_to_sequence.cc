#include "ops/sequence/split_to_sequence.h"

#include <algorithm>

#include "compute/move/strided_copy.h"
#include "providers/cpu/elements.h"

namespace rh::cpu {

class SplitToSequenceKernel final : public Kernel {
 public:
  using Types = AnyType;

  explicit SplitToSequenceKernel(const KernelInfo& info) : op_(info.attributes<ops::SplitToSequence>()) {}

  Status run(RunContext& context) const override {
    const ElementInput x(context, 0);
    const Shape& shape = x.shape();
    const int axis = normalize_axis(op_.axis, shape.rank(), "SplitToSequence: axis");
    InlineVector<int64_t, 8> sizes;
    RH_RETURN_IF_ERROR(part_sizes(context, shape[axis], sizes));
    const int64_t rows = shape.product(0, axis), inner = shape.product(axis + 1, shape.rank()), row_length = shape[axis] * inner;
    const int bits = bits_of(x.dtype());
    Sequence sequence{x.dtype(), {}};
    int64_t column = 0;
    for (int64_t size : sizes) {
      Shape part_shape = shape;
      part_shape[axis] = size;
      if (!context.has_input(1) && !op_.keep_dims) part_shape.erase(static_cast<size_t>(axis));
      Tensor part(x.dtype(), part_shape);
      const int64_t length = size * inner;
      const bool packed = bits > 0 && bits < 8;
      void* to = packed ? context.scratch(static_cast<size_t>(part.elements())) : part.raw();
      compute::strided_copy(x.kind(), Shape{rows, length}, x.at(column), Shape{row_length, 1}, to, Shape{length, 1}, context.parallel());
      if (packed) compute::pack_elements(bits, static_cast<const uint8_t*>(to), part.raw(), part.elements());
      sequence.elements.emplace_back(std::move(part));
      column += length;
    }
    context.set_output(0, std::move(sequence));
    return {};
  }

 private:
  Status part_sizes(const RunContext& context, int64_t size, InlineVector<int64_t, 8>& sizes) const {
    if (context.has_input(1) && context.input(1).rank() == 1) {
      sizes = context.input_ints(1);
      int64_t left = size;
      for (int64_t part : sizes) left = part >= 0 && part <= left && left >= 0 ? left - part : -1;
      if (left == 0) return {};
      return error_status(ErrorCode::invalid_argument, "SplitToSequence: split is {}, expected sizes of at least 0 that add up to {}",
                          to_string(std::span<const int64_t>(sizes)), size);
    }
    const int64_t each = context.has_input(1) ? scalar_int(context, 1, "SplitToSequence: split") : 1;
    if (each < 1) return error_status(ErrorCode::invalid_argument, "SplitToSequence: split is {}, expected at least 1", each);
    for (int64_t at = 0; at < size; at += std::min(each, size - at)) sizes.push_back(std::min(each, size - at));
    return {};
  }

  ops::SplitToSequence op_;
};

}  // namespace rh::cpu

RH_DEFINE_KERNEL(SplitToSequenceKernel)
