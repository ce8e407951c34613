#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/thread_pool.h"
#include "graph/graph.h"
#include "partition/assignment.h"
#include "partition/copies.h"
#include "partition/placement.h"
#include "providers/provider.h"
#include "providers/registry.h"
#include "session/context_model.h"
#include "session/memory_account.h"
#include "session/model_options.h"
#include "session/plan.h"
#include "session/session.h"

namespace rh {

/// A model whose nodes have providers, before kernels and copies.
struct PlacedModel {
  Model model;
  Signature signature;
  std::vector<std::shared_ptr<Provider>> providers;
  std::vector<MissingProvider> missing;
  Assignment assignment;
  PlacementRecord placement;        ///< empty where the options want none
  std::shared_ptr<Graph> for_file;  ///< where the options ask for a model with context nodes: the graph as it was divided
  SessionStatistics load;           ///< the times
};

/// A model made ready to run, with what can be asked about it. The plan names nodes and values by the graph, and has taken what the
/// assignment held.
struct CompiledModel : PlacedModel {
  std::shared_ptr<MemoryAccount> account;  ///< of the session; weights are charged to it
  std::unique_ptr<Plan> plan;
  std::vector<CopyPlacement> copies;
  std::vector<std::pair<std::string, std::string>> file_metadata;  ///< what `for_file` is to say beside what the model says
  int64_t context_nodes = 0;                                       ///< of `for_file`
};

/// What the options change, inference, passes, providers. Nodes that no provider takes are left without. Throws Error.
PlacedModel place(Model model, const SessionOptions& options, const Parallel& parallel);

/// Model to plan: what the options change, inference, passes, placement, kernels and memory. Throws Error.
CompiledModel compile(Model model, const SessionOptions& options, const Parallel& parallel);

/// The model as a file is to hold it: what the options change, after their passes, with context nodes in place of what providers compiled.
/// Throws Error.
FileModel compile_for_file(Model model, SessionOptions options);

}  // namespace rh
