#pragma once

#include <cstddef>
#include <optional>

#include "compute/move/elements.h"
#include "ops/ints_operand.h"
#include "providers/cpu/kernel.h"

namespace rh::cpu {

/// The type list of kernels that move elements without looking at them.
struct AnyType {
  static constexpr DTypeSet set = DTypeSet::all();
};

/// Whether elements are whole bytes that can be told apart by their address alone.
inline bool is_byte_sized(DType dtype) { return bits_of(dtype) >= 8; }

/// Elements to be read by position and byte size: those of a packed type unpacked to a byte each, in scratch memory.
class ElementInput {
 public:
  ElementInput(RunContext& context, int input) : ElementInput(context, context.input(input)) {}
  ElementInput(RunContext& context, const TensorView& view);

  const Shape& shape() const { return view_.shape(); }
  DType dtype() const { return view_.dtype(); }
  int64_t elements() const { return view_.elements(); }
  compute::ElementKind kind() const { return kind_; }
  const std::byte* data() const { return data_; }
  const std::byte* at(int64_t i) const { return data_ + i * static_cast<int64_t>(compute::element_bytes(kind_)); }

 private:
  TensorView view_;
  compute::ElementKind kind_;
  const std::byte* data_;
};

/// An output to be written the same way. finish() packs a packed type: call it when all elements stand.
class ElementOutput {
 public:
  ElementOutput(RunContext& context, int output, DType dtype, const Shape& shape);

  const Shape& shape() const { return view_.shape(); }
  int64_t elements() const { return view_.elements(); }
  compute::ElementKind kind() const { return kind_; }
  std::byte* data() const { return data_; }
  std::byte* at(int64_t i) const { return data_ + i * static_cast<int64_t>(compute::element_bytes(kind_)); }
  void finish();

 private:
  MutableView view_;
  compute::ElementKind kind_;
  std::byte* data_;
};

/// The integers of an operand: its attribute's or its input's; nothing where it is left out.
std::optional<InlineVector<int64_t, 8>> ints_of(const ops::IntsOperand& operand, const RunContext& context);

/// `index`, which lies outside [0, size), as a position counted from the end. Throws as checked_index().
int64_t index_from_end(int64_t index, int64_t size, const char* what);

/// `index` as a position in [0, size). Throws Error{invalid_argument} naming `what`, the index and the range where it lies outside
/// [-size, size). Signs that nothing foretells cost no branch.
inline int64_t checked_index(int64_t index, int64_t size, const char* what) {
  const int64_t place = index + (size & (index >> 63));
  return static_cast<uint64_t>(place) < static_cast<uint64_t>(size) ? place : index_from_end(index, size, what);
}

/// All elements of an integer input as int64: the input's own memory where it has that type, else scratch memory.
const int64_t* indices_of(RunContext& context, int input);

/// The only element of an input. Throws Error{invalid_argument} naming `what` where it has another number of elements.
int64_t scalar_int(const RunContext& context, int input, const char* what);

/// `a * b` and the elements of a shape, or Error{invalid_argument} naming `what` where the number does not fit into int64.
int64_t checked_product(int64_t a, int64_t b, const char* what);
void check_elements(const Shape& shape, const char* what);

inline constexpr Alias kViewOfFirstInput[] = {{0, 0, Alias::Kind::view}};

}  // namespace rh::cpu
