#include "session/plan.h"

namespace rh {

int64_t Plan::step_count() const {
  int64_t count = static_cast<int64_t>(steps.size());
  for (const auto& subplan : subplans) count += subplan->step_count();
  return count;
}

int64_t Plan::bindings_made() const {
  int64_t count = bindings.bindings_made();
  for (const auto& subplan : subplans) count += subplan->bindings_made();
  return count;
}

size_t Plan::constant_bytes() const {
  size_t bytes = 0;
  for (const Value& value : constants) {
    if (value.is_tensor()) bytes += value.tensor().bytes();
  }
  return bytes;
}

size_t Plan::packed_bytes() const {
  size_t bytes = 0;
  for (const auto& kernel : kernels) bytes += kernel->packed_bytes();
  return bytes;
}

}  // namespace rh
