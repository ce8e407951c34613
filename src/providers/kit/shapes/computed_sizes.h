#pragma once

#include <string_view>

#include "graph/graph.h"
#include "providers/kit/regions/refusals.h"

namespace rh::kit {

/// For vendors that compile for known sizes: refuses a tensor whose rank or sizes a run computes, so that they do not follow from those of
/// inputs. `what` and `index` name it: "input 1".
Support refuse_computed_sizes(const ValueType& type, std::string_view what, int index);
/// Refuses a tensor that never has elements, for vendors that have none.
Support refuse_no_elements(const ValueType& type, std::string_view what, int index);

}  // namespace rh::kit
