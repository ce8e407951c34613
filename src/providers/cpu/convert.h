#pragma once

#include "providers/cpu/kernel.h"
#include "tensor/convert.h"

namespace rh::cpu {

/// convert_elements over whole tensors of one shape, in parallel.
void convert(const Parallel& parallel, const TensorView& from, const MutableView& to, const Conversion& conversion = {});

/// The tensor in another element type, in scratch memory; the tensor itself where it has that type.
TensorView converted(RunContext& context, const TensorView& view, DType dtype);

/// The type in which plain kernels compute: double for double, float for the other floating types.
inline DType compute_type(DType dtype) { return dtype == DType::float64 ? DType::float64 : DType::float32; }

/// An output that is written in another element type: in place where that is its own, else in scratch memory until store().
class ConvertedOutput {
 public:
  ConvertedOutput(RunContext& context, int output, const Shape& shape, DType dtype)
      : ConvertedOutput(context, context.output(output, shape), dtype) {}
  ConvertedOutput(RunContext& context, const MutableView& output, DType dtype);

  const MutableView& view() const { return view_; }
  template <typename T>
  T* data() const {
    return view_.data<T>();
  }
  void store(const Parallel& parallel) const;

 private:
  MutableView output_, view_;
};

/// body(x, y) for kernels without half types of their own: in scratch memory, x is widened to float before and y narrowed after it.
template <typename Body>
Status in_float(RunContext& context, const TensorView& x, const MutableView& y, Body body) {
  if (x.dtype() != DType::float16 && x.dtype() != DType::bfloat16) return body(x, y);
  const MutableView wide(DType::float32, y.shape(), context.scratch_array<float>(y.elements()));
  RH_RETURN_IF_ERROR(body(converted(context, x, DType::float32), wide));
  convert(context.parallel(), wide, y);
  return {};
}

/// For kernels that compare elements: the types they are written for, and which of these holds all numbers of `dtype`.
using OrderedTypes = Types<float, double, int32_t, int64_t, uint64_t>;
DType ordered_type(DType dtype);

}  // namespace rh::cpu
