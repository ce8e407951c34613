#pragma once

#include <optional>

#include "ops/node_view.h"

namespace rh::ops {

/// The attribute `seed` of random operators; nothing where each run shall differ.
inline std::optional<float> read_seed(const NodeView& node) {
  return node.has("seed") ? std::optional(node.float_or("seed", 0)) : std::nullopt;
}

}  // namespace rh::ops
