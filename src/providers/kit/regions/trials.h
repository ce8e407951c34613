#pragma once

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>

#include "providers/kit/regions/region_provider.h"

namespace rh::kit {

/// These nodes of a graph, convex and in topological order, as a region with a graph of its own. Constants are among its inputs where
/// `with_constants` says so.
Region extract_region(const Graph& graph, const std::vector<NodeId>& nodes, bool with_constants);

/// Regions that were compiled as they were claimed, until they are asked for.
class Trials {
 public:
  /// Throws Error where the region, whose values are sorted by name, does not compile.
  using Compile = std::function<std::unique_ptr<Executable>(const Region& region)>;
  /// `compile`: the provider's, or what was compiled before.
  Trials(RegionProvider& provider, Compile compile) : provider_(provider), compile_(std::move(compile)) {}

  /// What the provider runs of a graph by its own word and, where it tries regions, by that of its compiler: a node at which that fails is
  /// refused with its message, and the rest is tried again.
  Decision decide(const Graph& graph, std::span<const NodeId> taken);
  /// The executable of the trial of the same nodes, for the region with its values sorted by name; null where there was none.
  std::unique_ptr<Executable> take(const Region& region);
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

  Region extract(const Graph& graph, const std::vector<NodeId>& nodes) const;
  bool try_regions(const Graph& graph, const Decision& decision, std::map<NodeId, std::string>& failed, Kept& round);
  NodeId find_culprit(const Graph& graph, const std::vector<NodeId>& nodes, std::string& message);

  RegionProvider& provider_;
  Compile compile_;
  Kept kept_;
  std::set<std::string> refused_;
};

}  // namespace rh::kit
