#include "ops/sequence/concat_from_sequence.h"

#include "compute/move/strided_copy.h"
#include "providers/cpu/elements.h"

namespace rh::cpu {

class ConcatFromSequenceKernel final : public Kernel {
 public:
  using Types = AnyType;

  explicit ConcatFromSequenceKernel(const KernelInfo& info) : op_(info.attributes<ops::ConcatFromSequence>()) {}

  Status run(RunContext& context) const override {
    const Sequence& sequence = context.input_value(0).sequence();
    if (sequence.elements.empty()) return error_status(ErrorCode::invalid_argument, "ConcatFromSequence: the sequence is empty");
    const Shape first = sequence.elements[0].tensor().shape();
    const int axis = normalize_axis(op_.axis, first.rank() + (op_.new_axis ? 1 : 0), "ConcatFromSequence: axis");
    int64_t total = 0;
    for (size_t i = 0; i < sequence.elements.size(); ++i) {
      const Shape& x = sequence.elements[i].tensor().shape();
      bool fits = x.rank() == first.rank();
      for (int k = 0; fits && k < x.rank(); ++k) fits = x[k] == first[k] || (k == axis && !op_.new_axis);
      if (!fits) {
        return error_status(ErrorCode::invalid_argument, "ConcatFromSequence: element {} has shape {}, which does not fit the first, {}", i,
                            x.to_string(), first.to_string());
      }
      total += op_.new_axis ? 1 : x[axis];
    }
    Shape y_shape = first;
    if (op_.new_axis) y_shape.insert(static_cast<size_t>(axis), 0);
    y_shape[axis] = total;
    ElementOutput y(context, 0, sequence.elements[0].tensor().dtype(), y_shape);
    const int64_t rows = y_shape.product(0, axis), inner = y_shape.product(axis + 1, y_shape.rank()), row_length = total * inner;
    int64_t column = 0;
    for (const Value& element : sequence.elements) {
      const ElementInput x(context, element.tensor().view());
      const int64_t length = (op_.new_axis ? 1 : x.shape()[axis]) * inner;
      compute::strided_copy(x.kind(), Shape{rows, length}, x.data(), Shape{length, 1}, y.at(column), Shape{row_length, 1},
                            context.parallel());
      column += length;
    }
    y.finish();
    return {};
  }

 private:
  ops::ConcatFromSequence op_;
};

}  // namespace rh::cpu

RH_DEFINE_KERNEL(ConcatFromSequenceKernel)
