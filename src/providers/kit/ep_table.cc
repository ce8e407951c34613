#include "providers/kit/ep_table.h"

#include "providers/kit/compiled_region.h"
#include "providers/kit/value_import.h"

namespace rh::kit {

namespace {

std::unique_ptr<RegionProvider> make_provider(const Host& host, const ProviderKind& kind, const std::map<std::string, std::string>& given,
                                              ListedDevice* device) {
  const Options options(kind.name, kind.options, given);
  return kind.make({host, options, device ? device->driver() : nullptr, device ? device->spec().id : 0});
}

}  // namespace

EpTable::EpTable(const Host& of, const ProviderKind& what, const std::map<std::string, std::string>& options,
                 std::shared_ptr<ListedDevice> on)
    : OrtEp{}, host(of), kind(what), device(std::move(on)), provider(make_provider(host, kind, options, device.get())) {
  kernels = std::make_unique<Kernels>(host, kind.name, device, provider->kernels());
  fill_graph_functions();
  if (device) fill_device_functions();
}

void EpTable::fill_graph_functions() {
  ort_version_supported = host.version;
  GetName = [](const OrtEp* self) { return static_cast<const EpTable*>(self)->kind.name; };
  GetCapability = [](OrtEp* self, const OrtGraph* graph, OrtEpGraphSupportInfo* info) {
    EpTable& ep = *static_cast<EpTable*>(self);
    return guard(*ep.host.api, [&] { ep.claim(*graph, info); });
  };
  Compile = [](OrtEp* self, const OrtGraph** graphs, const OrtNode** fused, size_t count, OrtNodeComputeInfo** infos, OrtNode**) {
    EpTable& ep = *static_cast<EpTable*>(self);
    return guard(*ep.host.api, [&] { ep.compile({graphs, count}, fused, infos); });
  };
  ReleaseNodeComputeInfos = [](OrtEp*, OrtNodeComputeInfo** infos, size_t count) {
    for (size_t i = 0; i < count; ++i) delete static_cast<CompiledRegion*>(infos[i]);
  };
  IsConcurrentRunSupported = [](OrtEp*, bool* is_supported) -> OrtStatus* {
    *is_supported = true;
    return nullptr;
  };
  GetKernelRegistry = [](OrtEp* self, const OrtKernelRegistry** registry) -> OrtStatus* {
    *registry = static_cast<EpTable*>(self)->kernels->registry();
    return nullptr;
  };
}

void EpTable::fill_device_functions() {
  CreateAllocator = [](OrtEp* self, const OrtMemoryInfo* wanted, OrtAllocator** out) {
    EpTable& ep = *static_cast<EpTable*>(self);
    return guard(*ep.host.api, [&] {
      const bool is_pinned = ep.host.api->MemoryInfoGetDeviceMemType(wanted) == OrtDeviceMemoryType_HOST_ACCESSIBLE;
      *out = make_allocator(ep.host, ep.device, is_pinned, ep.provider->arena());
    });
  };
  CreateSyncStreamForDevice = [](OrtEp* self, const OrtMemoryDevice*, OrtSyncStreamImpl** out) {
    EpTable& ep = *static_cast<EpTable*>(self);
    return guard(*ep.host.api, [&] { *out = make_stream_table(ep.host, ep.device, ep.provider->make_stream(*ep.device->driver())); });
  };
  Sync = [](OrtEp* self) {
    EpTable& ep = *static_cast<EpTable*>(self);
    return guard(*ep.host.api, [&] { ep.device->driver()->wait_for_all(); });
  };
}

void EpTable::claim(const OrtGraph& graph, OrtEpGraphSupportInfo* info) {
  refusals.clear();
  const ImportedGraph imported = import_graph(host, graph);
  provider->prepare(*imported.graph);
  const OrtNode* parent = nullptr;
  check(host, host.api->Graph_GetParentNode(&graph, &parent));
  if (parent && runs_whole(*parent)) return refuse_all(imported);
  std::vector<NodeId> taken;  // by others; ONNX Runtime asks again after it has inlined functions, and then shows earlier regions as nodes
  for (NodeId id : imported.graph->nodes()) {
    const std::string owner = text_of(host, host.api->Node_GetEpName, imported.nodes[static_cast<size_t>(id)]);
    const bool is_region = imported.graph->node(id).domain == kind.name;
    if (is_region || (!owner.empty() && owner != kind.name)) taken.push_back(id);
  }
  Decision decision = decide(*imported.graph, *provider, taken);
  for (const std::vector<NodeId>& region : decision.regions) {
    std::vector<const OrtNode*> nodes;
    for (NodeId id : region) nodes.push_back(imported.nodes[static_cast<size_t>(id)]);
    OrtNodeFusionOptions options{};
    options.ort_version_supported = host.version;
    options.drop_constant_initializers = device != nullptr;  // on the host they stay inputs: the provider works where they lie
    check(host, host.ep->EpGraphSupportInfo_AddNodesToFuse(info, nodes.data(), nodes.size(), &options));
  }
  for (NodeId id : decision.kernels) {
    check(host, host.ep->EpGraphSupportInfo_AddSingleNode(info, imported.nodes[static_cast<size_t>(id)]));
  }
  for (auto& [id, refusal] : decision.refusals) add_refusal(imported, id, std::move(refusal));
}

// Hosts ask for a body before its node, or after it: in both orders a body is left to a node that is taken with it.
bool EpTable::runs_whole(const OrtNode& node) const {
  const ImportedGraph alone = import_node(host, node);
  return !support_of(*provider, *alone.graph, 0);
}

void EpTable::refuse_all(const ImportedGraph& imported) {
  for (NodeId id : imported.graph->nodes()) add_refusal(imported, id, {RhRefusalCode_UNIT, "its node is taken as a whole, or not at all"});
}

void EpTable::add_refusal(const ImportedGraph& imported, NodeId id, Refusal refusal) {
  size_t number = 0;
  check(host, host.api->Node_GetId(imported.nodes[static_cast<size_t>(id)], &number));
  refusals.add(number, std::move(refusal));
}

void EpTable::compile(std::span<const OrtGraph* const> graphs, const OrtNode* const* fused, OrtNodeComputeInfo** infos) {
  std::unique_ptr<DeviceConstants> constants = device ? std::make_unique<DeviceConstants>(device->driver()) : nullptr;
  std::vector<std::unique_ptr<CompiledRegion>> compiled;
  for (size_t i = 0; i < graphs.size(); ++i) {
    Region region = import_region(host, *graphs[i], *fused[i]);
    region.constants = constants.get();
    if (!device) own_constants_of_bodies(const_cast<Graph&>(*region.graph));
    auto executable = region.outputs.empty() ? nullptr : provider->compile(region);
    compiled.push_back(std::make_unique<CompiledRegion>(host, region, std::move(executable), device));
  }
  for (size_t i = 0; i < compiled.size(); ++i) infos[i] = compiled[i].release();
}

}  // namespace rh::kit
