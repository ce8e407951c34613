#pragma once

#include <cstddef>
#include <vector>

#include "providers/gpu/plan/memory_plan.h"

namespace rh::gpu {

/// A region for the sizes of a run: what is written to the argument block, and the launches that read it.
struct Binding {
  /// An address that is filled in when a run begins.
  struct Patch {
    enum class Kind : uint8_t { input, output, block, arguments };
    size_t at;  ///< in the argument block
    Kind kind;
    size_t number;  ///< of the input or output
    int64_t offset;
  };
  struct Step {
    LaunchSize size;
    size_t at;          ///< of its arguments
    std::string nodes;  ///< their names, with commas between, for profiles
    unsigned stride;    ///< between the arguments of its parts, which go by the grid's y
  };
  std::vector<std::byte> arguments;
  std::vector<Patch> patches;
  std::vector<Step> steps;
  std::vector<Kernel> kernels;  ///< by step
  std::vector<Shape> outputs;
};

/// `memory` may be the plan of larger sizes. Throws Error where a value has no place in it, or is larger.
Binding bind(const Lowering& lowering, const MemoryPlan& memory, std::span<const ValueId> inputs,
             const std::map<ValueId, Tensor>& constants);

}  // namespace rh::gpu
