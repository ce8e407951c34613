#pragma once

#include <span>
#include <string>
#include <utility>

#include "providers/custom_operators.h"
#include "providers/plugin/custom_op.h"

namespace rh::plugin {

struct CustomOpEntry {
  std::string domain;
  const OrtCustomOp* op;
  size_t list;  ///< of the caller's domains, the one that it stands in
};

/// The operators of some domains, for one session; null where there are none. What stands twice in one list counts once. Throws Error where
/// one is malformed, or two lists have one for the same nodes.
std::shared_ptr<const CustomOperators> make_custom_operators(std::span<const CustomOpEntry> ops, std::shared_ptr<const CustomOpHost> host);

}  // namespace rh::plugin
