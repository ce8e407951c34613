#include "ops/sequence/concat_from_sequence.h"

#include "compute/move/strided_copy.h"
#include "providers/cpu/elements.h"
#include "providers/cpu/joined_shape.h"

namespace rh::cpu {

class ConcatFromSequenceKernel final : public Kernel {
 public:
  using Types = AnyType;

  explicit ConcatFromSequenceKernel(const KernelInfo& info) : op_(info.attributes<ops::ConcatFromSequence>()) {}

  Status run(RunContext& context) const override {
    const Sequence& sequence = context.input_value(0).sequence();
    if (sequence.elements.empty()) return give_nothing(context);
    Shape y_shape;
    int axis = 0;
    RH_RETURN_IF_ERROR(join(sequence, y_shape, axis));
    ElementOutput y(context, 0, sequence.elements[0].tensor().dtype(), y_shape);
    const int64_t rows = y_shape.product(0, axis), inner = y_shape.product(axis + 1, y_shape.rank()), row_length = y_shape[axis] * inner;
    int64_t column = 0;
    for (const Value& element : sequence.elements) {
      const ElementInput x(context, element.tensor().view());
      if (x.elements() == 0) continue;
      const int64_t length = (op_.new_axis ? 1 : x.shape()[axis]) * inner;
      compute::strided_copy(x.kind(), Shape{rows, length}, x.data(), Shape{length, 1}, y.at(column), Shape{row_length, 1},
                            context.parallel());
      column += length;
    }
    y.finish();
    return {};
  }

 private:
  // Of no tensors: one without elements.
  Status give_nothing(RunContext& context) const {
    const DType dtype = context.output_dtype(0);
    if (dtype == DType::undefined) return error_status(ErrorCode::invalid_argument, "the sequence is empty, and of no known type");
    Shape shape = context.told_shape(0);
    if (shape.empty()) shape = {0};
    shape[normalize_axis(op_.axis, shape.rank(), "ConcatFromSequence: axis")] = 0;
    context.output(0, dtype, shape);
    return {};
  }

  Status join(const Sequence& sequence, Shape& joined, int& axis) const {
    std::vector<const Shape*> shapes;
    for (const Value& element : sequence.elements) shapes.push_back(&element.tensor().shape());
    if (!op_.new_axis) return join_shapes(shapes, op_.axis, "ConcatFromSequence", joined, axis);
    joined = *shapes.front();
    axis = normalize_axis(op_.axis, joined.rank() + 1, "ConcatFromSequence: axis");
    for (size_t i = 0; i < shapes.size(); ++i) {
      if (*shapes[i] == joined) continue;
      return error_status(ErrorCode::invalid_argument, "ConcatFromSequence: element {} has shape {}, expected {} as the first", i,
                          shapes[i]->to_string(), joined.to_string());
    }
    joined.insert(static_cast<size_t>(axis), static_cast<int64_t>(shapes.size()));
    return {};
  }

  ops::ConcatFromSequence op_;
};

}  // namespace rh::cpu

RH_DEFINE_KERNEL(ConcatFromSequenceKernel)
