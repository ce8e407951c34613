#include "tensor/dtype.h"

#include <limits>

namespace rh {

namespace {

struct Row {
  int bits = -1;
  std::string_view name = "undefined";
};

constexpr Row kRows[kDTypeCount] = {{},
#define RH_ROW(name, number, type, bits, text) {bits, text},
                                    RH_DTYPES(RH_ROW)
#undef RH_ROW
};

}  // namespace

bool is_known(int number) { return number > 0 && number < kDTypeCount; }
int bits_of(DType dtype) { return dtype == DType::undefined ? 0 : kRows[static_cast<int>(dtype)].bits; }
std::string_view to_string(DType dtype) { return kRows[static_cast<int>(dtype)].name; }

DType dtype_from_string(std::string_view name) {
  for (int i = 1; i < kDTypeCount; ++i) {
    if (kRows[i].name == name) return static_cast<DType>(i);
  }
  return DType::undefined;
}

bool is_floating(DType dtype) { return to_string(dtype).starts_with("float") || dtype == DType::float64 || dtype == DType::bfloat16; }
bool is_signed_integer(DType dtype) { return to_string(dtype).starts_with("int"); }
bool is_integer(DType dtype) { return is_signed_integer(dtype) || to_string(dtype).starts_with("uint"); }

size_t bytes_of(DType dtype, int64_t elements) {
  if (elements <= 0) return 0;
  const size_t count = static_cast<size_t>(elements);
  if (dtype == DType::string) {
    size_t bytes;
    return __builtin_mul_overflow(count, sizeof(std::string), &bytes) ? std::numeric_limits<size_t>::max() : bytes;
  }
  const size_t bits = static_cast<size_t>(bits_of(dtype));
  if (count > std::numeric_limits<size_t>::max() / 128) return std::numeric_limits<size_t>::max();
  return (count * bits + 7) / 8;
}

}  // namespace rh
