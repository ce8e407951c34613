#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>

#include "providers/kit/regions/region_provider.h"

namespace rh::kit {

/// These nodes of a graph, convex and in topological order, as a region with a graph of its own. Constants are among its inputs where
/// `with_constants` says so.
Region extract_region(const Graph& graph, const std::vector<NodeId>& nodes, bool with_constants);

/// Regions that were compiled as they were claimed, until they are asked for.
class Trials {
 public:
  explicit Trials(RegionProvider& provider) : provider_(provider) {}

  /// What the provider runs of a graph by its own word and, where it tries regions, by that of its compiler: a node at which that fails is
  /// refused with its message, and the rest is tried again.
  Decision decide(const Graph& graph, std::span<const NodeId> taken);
  /// The executable of a region: that of the trial of the same nodes, or one compiled now.
  std::unique_ptr<Executable> compile(const Region& region);
  /// Whether a trial of this session refused the node that gives this value.
  bool has_refused(const std::string& output) const { return refused_.contains(output); }
  /// Ends what is left.
  void clear() { kept_.clear(); }

 private:
  struct Trial {
    std::vector<std::string> inputs, outputs;
    std::unique_ptr<Executable> executable;
  };
  using Kept = std::map<std::string, std::shared_ptr<Trial>>;  ///< by the names of a region's nodes and their values; null: several

  bool try_regions(const Graph& graph, const Decision& decision, std::map<NodeId, std::string>& failed, Kept& round);
  std::shared_ptr<Trial> compile_trial(const Region& region);
  NodeId find_culprit(const Graph& graph, const std::vector<NodeId>& nodes, std::string& message);

  RegionProvider& provider_;
  Kept kept_;
  std::set<std::string> refused_;
};

}  // namespace rh::kit
