#include "ops/nn/likely_sizes.h"

namespace rh::ops {

std::optional<int64_t> likely_size(const Dim& dim, int64_t image) {
  const auto of_symbol = [&](std::string_view name) { return is_computed_symbol(name) ? std::nullopt : std::optional(image); };
  const std::optional<int64_t> size = dim.evaluate(of_symbol);
  return size && *size > 0 ? size : std::nullopt;
}

}  // namespace rh::ops
