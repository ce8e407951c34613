#pragma once

#include <map>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "providers/kit/device/device_constants.h"
#include "providers/kit/device/device_tables.h"
#include "providers/kit/device/kernels.h"
#include "providers/kit/ep.h"
#include "providers/kit/graph/graph_import.h"
#include "providers/kit/graph/root_types.h"
#include "providers/kit/host/profiling.h"
#include "providers/kit/regions/compiled_region.h"
#include "providers/kit/regions/region_compiler.h"
#include "providers/kit/regions/trials.h"

namespace rh::kit {

/// One session's provider as the host's table.
struct EpTable : OrtEp {
  /// `device` is null where it works on host memory. Throws Error.
  EpTable(const Host& host, const ProviderKind& kind, const OrtSessionOptions& session, const OrtLogger* logger,
          std::shared_ptr<ListedDevice> device);

  void claim(const OrtGraph& graph, OrtEpGraphSupportInfo* info);
  void compile(std::span<const OrtGraph* const> graphs, const OrtNode* const* fused, OrtNodeComputeInfo** infos, OrtNode** contexts);

  Host host;
  const ProviderKind& kind;
  Options options;
  std::shared_ptr<ListedDevice> device;
  std::unique_ptr<RegionProvider> provider;
  RegionCompiler compiler;
  Trials trials;
  std::string made_by = compiler.compatibility_info();
  RootTypes types;
  CompiledRegion::Watch watch = std::make_shared<CompiledRegion::Watch::element_type>(nullptr);
  std::shared_ptr<Profile> profile = std::make_shared<Profile>();
  std::unique_ptr<Kernels> kernels;
  RefusalList refusals;
  std::vector<std::vector<const char*>> host_values;  ///< of the units of the last claim(), in their order

 private:
  void fill_graph_functions();
  void fill_device_functions();
  void fill_compiled_model_functions();
  void add_unit(const ImportedGraph& imported, const std::vector<NodeId>& region, OrtEpGraphSupportInfo* info);
  bool runs_whole(const OrtNode& node) const;
  bool is_within_taken(const OrtGraph& graph) const;  ///< whether a node around it, of any depth, is taken whole
  void keep_host_values(const Graph& graph, const std::vector<NodeId>& region);
  std::vector<bool> host_inputs_of(const Region& region) const;
  void refuse_all(const ImportedGraph& imported);
  void add_refusal(const ImportedGraph& imported, NodeId id, Refusal refusal);

  std::set<std::string> names_;                        ///< whose addresses stay
  std::map<std::string, std::set<std::string>> told_;  ///< what units take in host memory, by a value that they give
  UploadedConstants uploaded_;                         ///< by all calls of Compile
};

/// Throws Error where it cannot be made, on this machine or with these options.
std::unique_ptr<RegionProvider> make_provider(const Host& host, const ProviderKind& kind, const Options& options, int threads,
                                              ListedDevice* device);

}  // namespace rh::kit
