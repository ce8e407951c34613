#pragma once

#include <limits>
#include <memory>
#include <span>

#include "graph/graph.h"
#include "partition/assignment.h"
#include "providers/provider.h"
#include "session/memory_account.h"
#include "session/plan.h"

namespace rh {

struct PlanOptions {
  bool plan_memory = true;     ///< otherwise every intermediate value is allocated as it comes
  bool reuse_memory = true;    ///< otherwise no value takes the place of another one in a run
  bool parts_in_place = true;  ///< values may lie inside others: what a Concat joins, what Split and Slice take
  bool compile_units = true;   ///< otherwise nodes that a provider would have to compile are an error; those of compiled models are not
  CompileContext kernels;
  const std::atomic<bool>* cancel = nullptr;                     ///< null: never
  size_t max_tensor_bytes = std::numeric_limits<size_t>::max();  ///< larger ones are not planned; the run refuses them
  MemoryAccount* account = nullptr;                              ///< that weights are charged to; null: none
};

/// Makes the kernels, compiles units and lays out slots, lifetimes and sizes. Constants that the kernels have packed for themselves are
/// dropped from the graph as it goes on, and the others move from the graph to the plan: it must live as long as the plan, for names and
/// attributes, but is of no use for another. Throws what kernels throw, and Error{load_canceled}.
std::unique_ptr<Plan> build_plan(Graph& graph, Assignment& assignment, std::span<const std::shared_ptr<Provider>> providers,
                                 const PlanOptions& options);

}  // namespace rh
