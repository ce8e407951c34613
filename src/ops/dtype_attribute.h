#pragma once

#include "ops/node_view.h"

namespace rh::ops {

/// The element type whose number an attribute has; `otherwise` where it is absent, undefined where it is 0.
inline DType read_dtype(const NodeView& node, std::string_view attribute, DType otherwise) {
  const int64_t number = node.int_or(attribute, static_cast<int64_t>(otherwise));
  const bool is_type = number == 0 || (number > 0 && number < kDTypeCount && is_known(static_cast<int>(number)));
  if (!is_type) node.fail("attribute '{}' is {}, expected the number of an element type", attribute, number);
  return static_cast<DType>(number);
}

}  // namespace rh::ops
