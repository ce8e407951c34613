#include "providers/cpu/weight_inputs.h"

namespace rh::cpu {

Status expect_elements(const TensorView& view, const char* what, int64_t expected) {
  if (view.elements() == expected) return {};
  return error_status(ErrorCode::invalid_argument, "{} has shape {}, expected {} elements", what, view.shape().to_string(), expected);
}

Status expect_columns(const TensorView& a, const char* name, int64_t columns) {
  if (a.rank() >= 1 && a.shape()[a.rank() - 1] == columns) return {};
  return error_status(ErrorCode::invalid_argument, "A has shape {}, expected {} ({}) as its last dimension", a.shape().to_string(), columns,
                      name);
}

void unpack_codes(const uint8_t* from, int bits, int64_t rows, int64_t count, uint8_t* out) {
  const int64_t row_bytes = (count * bits + 7) / 8;
  for (int64_t row = 0; row < rows; ++row, from += row_bytes) {
    for (int64_t i = 0; i < count; ++i) *out++ = static_cast<uint8_t>(packed_code(from, bits, i));
  }
}

}  // namespace rh::cpu
