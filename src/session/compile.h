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

/// A model made ready to run, with what can be asked about it.
struct CompiledModel {
  Model model;  ///< the graph that the plan names nodes and values by
  std::vector<std::shared_ptr<Provider>> providers;
  std::vector<MissingProvider> missing;
  std::shared_ptr<MemoryAccount> account;  ///< of the session; weights are charged to it
  std::unique_ptr<Plan> plan;
  std::vector<ValueInfo> inputs, outputs, overridable_initializers;
  PlacementRecord placement;
  std::vector<CopyPlacement> copies;
  std::shared_ptr<Graph> for_file;  ///< where the options ask for it: the graph with context nodes in place of what providers compiled
  std::vector<std::pair<std::string, std::string>> file_metadata;  ///< what that file is to say beside what the model says
  int64_t context_nodes = 0;
  SessionStatistics load;  ///< the times
};

/// A model whose nodes have providers, before kernels and copies.
struct PlacedModel {
  Model model;
  Signature signature;
  std::vector<std::shared_ptr<Provider>> providers;
  std::vector<MissingProvider> missing;
  Assignment assignment;
  PlacementRecord placement;        ///< empty where the options want none
  std::shared_ptr<Graph> for_file;  ///< as of CompiledModel, before context nodes
  double passes_ms = 0, assign_ms = 0;
};

/// What the options change, inference, passes, providers. Nodes that no provider takes are left without. Throws Error.
PlacedModel place(Model model, const SessionOptions& options, const Parallel& parallel);

/// The providers that a session may ask for.
const ProviderRegistry& provider_registry();

/// Whether the choice is the CPU provider of ours.
bool is_cpu_choice(const ProviderChoice& choice);

/// Model to plan: what the options change, inference, passes, placement, kernels and memory. Throws Error.
CompiledModel compile(Model model, const SessionOptions& options, const Parallel& parallel);

/// The model as a file is to hold it: what the options change, after their passes, with context nodes in place of what providers compiled.
/// Throws Error.
FileModel compile_for_file(Model model, SessionOptions options);

}  // namespace rh
