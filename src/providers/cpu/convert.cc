#include "providers/cpu/convert.h"

#include <algorithm>
#include <cstring>

#include "compute/elementwise/conversions.h"
#include "compute/elementwise/int64_math.h"
#include "compute/elementwise/narrow_floats.h"

namespace rh::cpu {

namespace {

// Between a half type and one that is not float, by way of floats.
template <typename Half>
void convert_half(const Half* x, DType to, void* y, int64_t count) {
  float wide[kConversionBlock];
  for (int64_t i = 0; i < count; i += kConversionBlock) {
    const int64_t n = std::min(kConversionBlock, count - i);
    compute::widen(x + i, wide, n);
    compute::convert_numbers(DType::float32, to, wide, static_cast<char*>(y) + i * (bits_of(to) / 8), n);
  }
}

void convert_to_half(DType from, const void* x, Float16* y, int64_t count) {
  float wide[kConversionBlock];
  for (int64_t i = 0; i < count; i += kConversionBlock) {
    const int64_t n = std::min(kConversionBlock, count - i);
    const char* source = static_cast<const char*>(x) + i * (bits_of(from) / 8);
    if (from == DType::float64) {
      compute::narrow_to_odd(reinterpret_cast<const double*>(source), wide, n);
    } else {
      compute::convert_numbers(from, DType::float32, source, wide, n);
    }
    compute::narrow(wide, y + i, n);
  }
}

// Integers of one width wrap around; booleans are bytes.
bool have_same_bits(DType from, DType to) {
  return bits_of(from) >= 8 && bits_of(from) == bits_of(to) && (is_integer(from) || from == DType::boolean) && is_integer(to);
}

// Integers as those of another width: by a fixed number at a time, for vectors.
template <typename From, typename To>
void resize_integers(const void* x, void* y, int64_t count) {
  constexpr int kAtOnce = 16;
  const auto* from = static_cast<const From*>(x);
  auto* to = static_cast<To*>(y);
  int64_t i = 0;
  for (; i + kAtOnce <= count; i += kAtOnce) {
    To block[kAtOnce];
    for (int k = 0; k < kAtOnce; ++k) block[k] = static_cast<To>(from[i + k]);
    std::copy_n(block, kAtOnce, to + i);
  }
  for (; i < count; ++i) to[i] = static_cast<To>(from[i]);
}

using Resize = void (*)(const void*, void*, int64_t);

template <typename From>
Resize resize_to(int64_t bytes) {
  switch (bytes) {
    case 1: return resize_integers<From, uint8_t>;
    case 2: return resize_integers<From, uint16_t>;
    case 4: return resize_integers<From, uint32_t>;
    default: return resize_integers<From, uint64_t>;
  }
}

// Null where one is no integer of whole bytes. What is narrower has the low bits, what is wider the sign, or zeros, in front.
Resize integer_resize(DType from, DType to) {
  if (!is_integer(from) || !is_integer(to) || bits_of(from) < 8 || bits_of(to) < 8) return nullptr;
  const int64_t bytes = bits_of(to) / 8;
  switch (from) {
    case DType::int8: return resize_to<int8_t>(bytes);
    case DType::uint8: return resize_to<uint8_t>(bytes);
    case DType::int16: return resize_to<int16_t>(bytes);
    case DType::uint16: return resize_to<uint16_t>(bytes);
    case DType::int32: return resize_to<int32_t>(bytes);
    case DType::uint32: return resize_to<uint32_t>(bytes);
    case DType::int64: return resize_to<int64_t>(bytes);
    case DType::uint64: return resize_to<uint64_t>(bytes);
    default: return nullptr;
  }
}

// True where they are bits alone, or the numeric library has the two types: then the elements are converted.
bool convert_others(const TensorView& from, const MutableView& to, Range part) {
  const int64_t at = part.begin, count = part.size();
  const auto* x = static_cast<const char*>(from.raw()) + at * (bits_of(from.dtype()) / 8);
  auto* y = static_cast<char*>(to.raw()) + at * (bits_of(to.dtype()) / 8);
  if (have_same_bits(from.dtype(), to.dtype())) {
    std::memcpy(y, x, static_cast<size_t>(count * (bits_of(to.dtype()) / 8)));
  } else if (compute::converts_numbers(from.dtype(), to.dtype())) {
    compute::convert_numbers(from.dtype(), to.dtype(), x, y, count);
  } else if (from.dtype() == DType::float16 && compute::converts_numbers(DType::float32, to.dtype())) {
    convert_half(from.data<Float16>() + at, to.dtype(), y, count);
  } else if (from.dtype() == DType::bfloat16 && compute::converts_numbers(DType::float32, to.dtype())) {
    convert_half(from.data<BFloat16>() + at, to.dtype(), y, count);
  } else if (to.dtype() == DType::float16 && compute::converts_numbers(from.dtype(), DType::float32)) {
    convert_to_half(from.dtype(), x, to.data<Float16>() + at, count);
  } else if (const Resize resize = integer_resize(from.dtype(), to.dtype())) {
    resize(x, y, count);
  } else {
    return false;
  }
  return true;
}

// True where one side is float and the other a half type, int32 or int64: then the elements are converted.
bool convert_float(const TensorView& from, const MutableView& to, Range part) {
  const auto both = [&](DType a, DType b) { return from.dtype() == a && to.dtype() == b; };
  const int64_t at = part.begin, count = part.size();
  if (both(DType::float16, DType::float32)) {
    compute::widen(from.data<Float16>() + at, to.data<float>() + at, count);
  } else if (both(DType::bfloat16, DType::float32)) {
    compute::widen(from.data<BFloat16>() + at, to.data<float>() + at, count);
  } else if (both(DType::float32, DType::float16)) {
    compute::narrow(from.data<float>() + at, to.data<Float16>() + at, count);
  } else if (both(DType::float32, DType::bfloat16)) {
    compute::narrow(from.data<float>() + at, to.data<BFloat16>() + at, count);
  } else if (both(DType::float32, DType::int32)) {
    compute::truncate(from.data<float>() + at, to.data<int32_t>() + at, count);
  } else if (both(DType::float32, DType::int64)) {
    compute::truncate(from.data<float>() + at, to.data<int64_t>() + at, count);
  } else if (both(DType::int64, DType::float32)) {
    compute::to_float(from.data<int64_t>() + at, to.data<float>() + at, count);
  } else {
    return false;
  }
  return true;
}

}  // namespace

void convert(const Parallel& parallel, const TensorView& from, const MutableView& to, const Conversion& conversion) {
  const int64_t count = from.elements(), blocks = (count + kConversionBlock - 1) / kConversionBlock;
  const double bytes = bits_of(from.dtype()) / 8.0 + bits_of(to.dtype()) / 8.0;
  const bool text = is_string(from.dtype()) || is_string(to.dtype());
  const bool direct = bits_of(from.dtype()) >= 32 && bits_of(to.dtype()) >= 32;
  const double operations = text ? 200 : direct ? 1 : 8;
  parallel.for_range(blocks, {bytes * kConversionBlock, operations * kConversionBlock}, [&](Range part) {
    const Range elements{part.begin * kConversionBlock, std::min(part.end * kConversionBlock, count)};
    if (!convert_float(from, to, elements) && !convert_others(from, to, elements))
      convert_elements(from, to, elements.begin, elements.end, conversion);
  });
}

TensorView converted(RunContext& context, const TensorView& view, DType dtype) {
  if (view.dtype() == dtype) return view;
  const MutableView result(dtype, view.shape(), context.scratch(bytes_of(dtype, view.elements())));
  convert(context.parallel(), view, result);
  return result;
}

ConvertedOutput::ConvertedOutput(RunContext& context, const MutableView& output, DType dtype) : output_(output), view_(output) {
  if (output.dtype() != dtype) view_ = MutableView(dtype, output.shape(), context.scratch(bytes_of(dtype, output.elements())));
}

void ConvertedOutput::store(const Parallel& parallel) const {
  if (view_.raw() != output_.raw()) convert(parallel, view_, output_);
}

DType ordered_type(DType dtype) {
  if (bits_of(dtype) >= 64) return dtype;
  if (is_floating(dtype)) return DType::float32;
  return dtype == DType::uint32 ? DType::int64 : DType::int32;
}

}  // namespace rh::cpu
