#pragma once

#include <memory>
#include <span>
#include <vector>

#include "base/thread_pool.h"
#include "passes/driver/driver.h"
#include "providers/provider.h"
#include "session/options.h"

namespace rh {

/// Rewrites the graph of a session by lists of passes: the standard ones before it is placed, those of each provider after.
class Rewriter {
 public:
  /// What is given lives as long as the rewriter.
  Rewriter(const SessionOptions& options, const Parallel& parallel) : options_(options), parallel_(parallel) {}

  void run_standard(Graph& graph);
  /// Over the nodes that the provider was given; all others are sealed.
  void run_of(const Provider& provider, Graph& graph);

  /// How long the passes of providers took.
  double providers_ms() const { return providers_ms_; }
  /// Nodes of the model that no node stands for any more.
  std::vector<EliminatedNode> take_eliminated() { return std::move(eliminated_); }

 private:
  void run(Graph& graph, std::span<const Pass> list);

  const SessionOptions& options_;
  const Parallel& parallel_;
  double providers_ms_ = 0;
  int64_t edits_ = 0, rewrites_ = 0;  ///< by the lists that ran
  std::vector<EliminatedNode> eliminated_;
};

/// Throws Error{invalid_argument} where a pass is to be off that neither the standard list nor one of these providers has.
void check_disabled_passes(const SessionOptions& options, std::span<const std::shared_ptr<Provider>> providers);

}  // namespace rh
