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

}  // namespace rh::cpu
