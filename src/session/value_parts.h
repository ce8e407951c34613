#pragma once

#include <optional>
#include <vector>

#include "base/function_ref.h"
#include "session/plan.h"

namespace rh {

/// Values of a plan that can lie inside others: what a Concat joins, in its output; what Split and Slice take, in their input.
struct ValueParts {
  struct Place {
    int32_t root = kNoSlot;  ///< kNoSlot: it has memory of its own
    Dim offset;              ///< elements before it
  };
  std::vector<Place> places;                 ///< by slot: of values that are made inside the root
  std::vector<bool> views;                   ///< beside step_outputs: those that are a part of the step's input
  std::vector<bool> roots;                   ///< by slot: what holds such places
  std::vector<SizeProgram::Register> units;  ///< symbols that must be 0 or 1 in a run that does so: else there are gaps
  bool any = false;
};

/// Chooses them where all that the memory planner places at one time does not grow. `reads` are the slots that each step reads, `size_of`
/// tells those that will be planned.
ValueParts find_value_parts(Plan& plan, const std::vector<std::vector<int32_t>>& reads,
                            FunctionRef<std::optional<BufferSize>(int32_t)> size_of);

}  // namespace rh
