#include "ops/tensor/concat.h"

#include <cstring>

#include "compute/move/copy.h"
#include "compute/move/strided_copy.h"
#include "providers/cpu/elements.h"
#include "providers/cpu/joined_shape.h"

namespace rh::cpu {

/// Each input is copied into its columns of the output, seen as a matrix with one row for each index before the axis, unless its producer
/// has put it there.
class ConcatKernel final : public Kernel {
 public:
  using Types = AnyType;

  explicit ConcatKernel(const KernelInfo& info) : op_(info.attributes<ops::Concat>()) {}

  std::optional<int64_t> joins_along() const override { return op_.axis; }

  Status run(RunContext& context) const override {
    InlineVector<const Shape*, 8> shapes;
    for (int i = 0; i < context.input_count(); ++i) shapes.push_back(&context.input_tensor(i).shape());
    Shape y_shape;
    int axis = 0;
    RH_RETURN_IF_ERROR(join_shapes(shapes, op_.axis, "Concat", y_shape, axis));
    ElementOutput y(context, 0, context.input(0).dtype(), y_shape);
    const int64_t rows = y_shape.product(0, axis), inner = y_shape.product(axis + 1, y_shape.rank());
    const int64_t row_length = y_shape[axis] * inner;
    int64_t column = 0;
    InlineVector<Piece, 8> pieces;
    for (int i = 0; i < context.input_count(); ++i) {
      const ElementInput x(context, i);
      if (x.elements() == 0) continue;
      const int64_t length = x.shape()[axis] * inner;
      if (rows != 1 || x.data() != y.at(column)) {
        pieces.push_back({apart(context, x, y), column, length});
      }
      column += length;
    }
    for (const Piece& piece : pieces) {
      compute::strided_copy(y.kind(), Shape{rows, piece.length}, piece.data, Shape{piece.length, 1}, y.at(piece.column),
                            Shape{row_length, 1}, context.parallel());
    }
    y.finish();
    return {};
  }

 private:
  struct Piece {
    const std::byte* data;
    int64_t column, length;
  };

  /// The elements of x in memory that writing y does not change: an input that was put into the output's memory, but to another place than
  /// the one that it has there, is copied.
  static const std::byte* apart(RunContext& context, const ElementInput& x, const ElementOutput& y) {
    const auto address = [](const std::byte* at) { return reinterpret_cast<uintptr_t>(at); };
    const std::byte *end = x.at(x.elements()), *y_end = y.at(y.elements());
    if (address(end) <= address(y.data()) || address(y_end) <= address(x.data())) return x.data();
    const size_t bytes = static_cast<size_t>(end - x.data());
    void* const copy = context.scratch(bytes);
    compute::copy_bytes(x.data(), copy, bytes);
    return static_cast<const std::byte*>(copy);
  }

  ops::Concat op_;
};

}  // namespace rh::cpu

RH_DEFINE_KERNEL(ConcatKernel)
