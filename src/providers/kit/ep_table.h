#pragma once

#include <map>
#include <memory>
#include <span>
#include <string>

#include "providers/kit/device_tables.h"
#include "providers/kit/ep.h"
#include "providers/kit/graph_import.h"
#include "providers/kit/kernels.h"

namespace rh::kit {

/// One session's provider as the host's table.
struct EpTable : OrtEp {
  /// `device` is null where it works on host memory. Throws Error.
  EpTable(const Host& host, const ProviderKind& kind, const std::map<std::string, std::string>& options,
          std::shared_ptr<ListedDevice> device);

  void claim(const OrtGraph& graph, OrtEpGraphSupportInfo* info);
  void compile(std::span<const OrtGraph* const> graphs, const OrtNode* const* fused, OrtNodeComputeInfo** infos);

  Host host;
  const ProviderKind& kind;
  std::shared_ptr<ListedDevice> device;
  std::unique_ptr<RegionProvider> provider;
  std::unique_ptr<Kernels> kernels;
  RefusalList refusals;

 private:
  void fill_graph_functions();
  void fill_device_functions();
  bool runs_whole(const OrtNode& node) const;
  void refuse_all(const ImportedGraph& imported);
  void add_refusal(const ImportedGraph& imported, NodeId id, Refusal refusal);
};

}  // namespace rh::kit
