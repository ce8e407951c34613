#pragma once

#include <nlohmann/json.hpp>

#include "array_io.h"
#include "terminal.h"

namespace rh::cli {

/// What a run with these inputs takes of memory, as RhSessionGetMemoryPlan says. `dims`, symbol=size, go for the inputs that are not given.
nlohmann::json memory_plan(const Ort::Session& session, const std::vector<NamedValue>& inputs, const std::vector<std::string>& dims);

/// The plan for people: the sums, and the `top` largest tensors at the peak.
void print_memory_plan(const Globals& globals, const nlohmann::json& plan, size_t top);

}  // namespace rh::cli
