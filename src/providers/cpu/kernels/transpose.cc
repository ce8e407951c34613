#include "ops/tensor/transpose.h"

#include <algorithm>
#include <span>

#include "compute/move/strided_copy.h"
#include "compute/move/transpose.h"
#include "providers/cpu/elements.h"

namespace rh::cpu {

namespace {

// y[k, i] = x[i, k] of three columns, as colours that become planes: all three in one pass.
template <typename T>
void part_three(const T* x, int64_t length, T* y, int64_t y_stride) {
  T *first = y, *second = y + y_stride, *third = y + 2 * y_stride;
  for (int64_t i = 0; i < length; ++i, x += 3) {
    first[i] = x[0];
    second[i] = x[1];
    third[i] = x[2];
  }
}

// Whether the last axis, of three words, goes before the `moved` axes that stand before it; false where the transpose is another.
bool parts_three(std::span<const int64_t> shape, std::span<const int64_t> permutation, int64_t* length) {
  constexpr int64_t kColours = 3;
  const auto rank = static_cast<int64_t>(shape.size());
  if (rank < 2 || shape.back() != kColours) return false;
  const int64_t at = std::ranges::find(permutation, rank - 1) - permutation.begin();
  *length = 1;
  for (int64_t k = 0; k < rank; ++k) {
    if (permutation[static_cast<size_t>(k)] != (k < at ? k : k == at ? rank - 1 : k - 1)) return false;
    if (k > at) *length *= shape[static_cast<size_t>(k - 1)];
  }
  return at < rank - 1;
}

void part_three_words(const Parallel& parallel, const void* x, int64_t blocks, int64_t length, void* y) {
  constexpr int64_t kPiece = 4096;
  const int64_t pieces = (length + kPiece - 1) / kPiece;
  parallel.for_range(blocks * pieces, {.bytes = 24.0 * static_cast<double>(std::min(kPiece, length))}, [&](Range part) {
    for (int64_t i = part.begin; i < part.end; ++i) {
      const int64_t block = i / pieces * 3 * length, first = i % pieces * kPiece;
      part_three(static_cast<const uint32_t*>(x) + block + 3 * first, std::min(kPiece, length - first),
                 static_cast<uint32_t*>(y) + block + first, length);
    }
  });
}

}  // namespace

class TransposeKernel final : public Kernel {
 public:
  using Types = AnyType;

  explicit TransposeKernel(const KernelInfo& info) : op_(info.attributes<ops::Transpose>()) {}

  Status run(RunContext& context) const override {
    const ElementInput x(context, 0);
    const int rank = x.shape().rank();
    if (op_.perm && static_cast<int>(op_.perm->size()) != rank) {
      return error_status(ErrorCode::invalid_argument, "Transpose: perm has {} entries, but the input has rank {}", op_.perm->size(), rank);
    }
    Shape y_shape, permutation;
    for (int k = 0; k < rank; ++k) {
      permutation.push_back(op_.perm ? checked_index((*op_.perm)[k], rank, "Transpose: perm") : rank - 1 - k);
      y_shape.push_back(x.shape()[permutation.back()]);
    }
    ElementOutput y(context, 0, x.dtype(), y_shape);
    if (x.kind() == compute::ElementKind::string) {
      Shape x_strides;
      for (int64_t from : permutation) x_strides.push_back(strides_of(x.shape())[from]);
      compute::strided_copy(x.kind(), y_shape, x.data(), x_strides, y.data(), strides_of(y_shape), context.parallel());
    } else if (int64_t length = 0; compute::element_bytes(x.kind()) == sizeof(uint32_t) && parts_three(x.shape(), permutation, &length)) {
      if (length > 0) part_three_words(context.parallel(), x.data(), x.shape().elements() / (3 * length), length, y.data());
    } else {
      compute::transpose(x.data(), x.shape(), permutation, compute::element_bytes(x.kind()), y.data(), context.parallel());
    }
    y.finish();
    return {};
  }

 private:
  ops::Transpose op_;
};

}  // namespace rh::cpu

RH_DEFINE_KERNEL(TransposeKernel)
