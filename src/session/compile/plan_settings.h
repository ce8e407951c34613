#pragma once

#include "session/options.h"
#include "session/plan_builder.h"

namespace rh {

/// What session options say of kernels and memory. `account`: of the session. Throws Error{invalid_argument}.
PlanOptions plan_settings(const Graph& graph, const SessionOptions& options, MemoryAccount& account, int threads);

}  // namespace rh
