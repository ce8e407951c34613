#include "providers/cpu/convert.h"

#include <algorithm>

namespace rh::cpu {

void convert(const Parallel& parallel, const TensorView& from, const MutableView& to, const Conversion& conversion) {
  const int64_t count = from.elements(), blocks = (count + kConversionBlock - 1) / kConversionBlock;
  const double bytes = bits_of(from.dtype()) / 8.0 + bits_of(to.dtype()) / 8.0;
  const bool text = is_string(from.dtype()) || is_string(to.dtype());
  const bool direct = bits_of(from.dtype()) >= 32 && bits_of(to.dtype()) >= 32;
  const double operations = text ? 200 : direct ? 1 : 8;
  parallel.for_range(blocks, {bytes * kConversionBlock, operations * kConversionBlock}, [&](Range part) {
    convert_elements(from, to, part.begin * kConversionBlock, std::min(part.end * kConversionBlock, count), conversion);
  });
}

TensorView converted(RunContext& context, const TensorView& view, DType dtype) {
  if (view.dtype() == dtype) return view;
  const MutableView result(dtype, view.shape(), context.scratch(bytes_of(dtype, view.elements())));
  convert(context.parallel(), view, result);
  return result;
}

DType ordered_type(DType dtype) {
  if (bits_of(dtype) >= 64) return dtype;
  if (is_floating(dtype)) return DType::float32;
  return dtype == DType::uint32 ? DType::int64 : DType::int32;
}

}  // namespace rh::cpu
