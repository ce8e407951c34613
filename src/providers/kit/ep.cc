#include "providers/kit/ep.h"

#include <algorithm>

#include "providers/kit/compiled_region.h"
#include "providers/kit/graph_import.h"
#include "providers/kit/value_import.h"

namespace rh::kit {

namespace {

/// One session's provider as the host's table.
struct Ep : OrtEp {
  Ep(const Host& of, const ProviderKind& what, const OrtSessionOptions& options)
      : OrtEp{}, host(of), kind(what), provider(what.make(Options(what.name, what.options, options_of(of, options, what.name)))) {
    ort_version_supported = host.version;
    GetName = [](const OrtEp* self) { return static_cast<const Ep*>(self)->kind.name; };
    GetCapability = [](OrtEp* self, const OrtGraph* graph, OrtEpGraphSupportInfo* info) {
      Ep& ep = *static_cast<Ep*>(self);
      return guard(*ep.host.api, [&] { ep.claim(*graph, info); });
    };
    Compile = [](OrtEp* self, const OrtGraph** graphs, const OrtNode** fused, size_t count, OrtNodeComputeInfo** infos, OrtNode**) {
      Ep& ep = *static_cast<Ep*>(self);
      return guard(*ep.host.api, [&] { ep.compile({graphs, count}, fused, infos); });
    };
    ReleaseNodeComputeInfos = [](OrtEp*, OrtNodeComputeInfo** infos, size_t count) {
      for (size_t i = 0; i < count; ++i) delete static_cast<CompiledRegion*>(infos[i]);
    };
    IsConcurrentRunSupported = [](OrtEp*, bool* is_supported) -> OrtStatus* {
      *is_supported = true;
      return nullptr;
    };
  }

  void claim(const OrtGraph& graph, OrtEpGraphSupportInfo* info) {
    refusals.clear();
    const ImportedGraph imported = import_graph(host, graph);
    const OrtNode* parent = nullptr;
    check(host, host.api->Graph_GetParentNode(&graph, &parent));
    if (parent && runs_whole(*parent)) return refuse_all(imported);
    std::vector<NodeId> taken;
    for (NodeId id : imported.graph->nodes()) {
      const std::string owner = text_of(host, host.api->Node_GetEpName, imported.nodes[static_cast<size_t>(id)]);
      if (!owner.empty() && owner != kind.name) taken.push_back(id);
    }
    Decision decision = decide(*imported.graph, *provider, taken);
    for (const std::vector<NodeId>& region : decision.regions) {
      std::vector<const OrtNode*> nodes;
      for (NodeId id : region) nodes.push_back(imported.nodes[static_cast<size_t>(id)]);
      OrtNodeFusionOptions options{};
      options.ort_version_supported = host.version;  // constants stay inputs: the provider works where they lie
      check(host, host.ep->EpGraphSupportInfo_AddNodesToFuse(info, nodes.data(), nodes.size(), &options));
    }
    for (auto& [id, refusal] : decision.refusals) add_refusal(imported, id, std::move(refusal));
  }

  // Hosts ask for a body before its node, or after it: in both orders a body is left to a node that is taken with it.
  bool runs_whole(const OrtNode& node) const {
    const ImportedGraph alone = import_node(host, node);
    return !support_of(*provider, *alone.graph, 0);
  }

  void refuse_all(const ImportedGraph& imported) {
    for (NodeId id : imported.graph->nodes())
      add_refusal(imported, id, {RhRefusalCode_UNIT, "its node is taken as a whole, or not at all"});
  }

  void add_refusal(const ImportedGraph& imported, NodeId id, Refusal refusal) {
    size_t number = 0;
    check(host, host.api->Node_GetId(imported.nodes[static_cast<size_t>(id)], &number));
    refusals.add(number, std::move(refusal));
  }

  void compile(std::span<const OrtGraph* const> graphs, const OrtNode* const* fused, OrtNodeComputeInfo** infos) {
    std::vector<std::unique_ptr<CompiledRegion>> compiled;
    for (size_t i = 0; i < graphs.size(); ++i) {
      const Region region = import_region(host, *graphs[i], *fused[i]);
      auto executable = provider->compile(region);
      compiled.push_back(std::make_unique<CompiledRegion>(host, region, std::move(executable)));
    }
    for (size_t i = 0; i < compiled.size(); ++i) infos[i] = compiled[i].release();
  }

  Host host;
  const ProviderKind& kind;
  std::unique_ptr<RegionProvider> provider;
  RefusalList refusals;
};

/// Makes providers for the runtime that loaded the library, which need not be the only one of the process.
struct Factory : OrtEpFactory {
  Factory(const Host& of, const ProviderKind& what) : OrtEpFactory{}, host(of), kind(what) {
    ort_version_supported = host.version;
    GetName = [](const OrtEpFactory* self) { return own(self).kind.name; };
    GetVendor = [](const OrtEpFactory* self) { return own(self).kind.vendor; };
    GetVendorId = [](const OrtEpFactory* self) { return own(self).kind.vendor_id; };
    GetVersion = [](const OrtEpFactory* self) { return own(self).kind.version; };
    GetSupportedDevices = [](OrtEpFactory* self, const OrtHardwareDevice* const* devices, size_t count, OrtEpDevice** out, size_t room,
                             size_t* used) {
      return guard(*own(self).host.api, [&] { static_cast<Factory*>(self)->list({devices, count}, {out, room}, *used); });
    };
    CreateEp = [](OrtEpFactory* self, const OrtHardwareDevice* const*, const OrtKeyValuePairs* const*, size_t,
                  const OrtSessionOptions* options, const OrtLogger*,
                  OrtEp** ep) { return guard(*own(self).host.api, [&] { *ep = new Ep(own(self).host, own(self).kind, *options); }); };
    ReleaseEp = [](OrtEpFactory*, OrtEp* ep) { delete static_cast<Ep*>(ep); };
    CreateAllocator = [](OrtEpFactory*, const OrtMemoryInfo*, const OrtKeyValuePairs*, OrtAllocator** out) { return none(out); };
    ReleaseAllocator = [](OrtEpFactory*, OrtAllocator*) {};
    CreateDataTransfer = [](OrtEpFactory*, OrtDataTransferImpl** out) { return none(out); };
    IsStreamAware = [](const OrtEpFactory*) { return false; };
  }

  static const Factory& own(const OrtEpFactory* self) { return *static_cast<const Factory*>(self); }

  template <typename T>
  static OrtStatus* none(T** out) {
    *out = nullptr;
    return nullptr;
  }

  // The processor stands for the device.
  void list(std::span<const OrtHardwareDevice* const> devices, std::span<OrtEpDevice*> out, size_t& used) {
    used = 0;
    const auto is_cpu = [&](const OrtHardwareDevice* device) { return host.api->HardwareDevice_Type(device) == OrtHardwareDeviceType_CPU; };
    const auto cpu = std::ranges::find_if(devices, is_cpu);
    if (cpu == devices.end() || out.empty()) return;
    check(host, host.ep->CreateEpDevice(this, *cpu, nullptr, nullptr, &out[0]));
    used = 1;
  }

  Host host;
  const ProviderKind& kind;
};

}  // namespace

OrtStatus* create_factories(const ProviderKind& kind, const OrtApiBase* base, OrtEpFactory** factories, size_t room, size_t* count) {
  *count = 0;
  const OrtApi* oldest = base->GetApi(1);  // what every host has, for its status
  return guard(*oldest, [&] {
    if (room < 1) fail(ErrorCode::invalid_argument, "there is no room for a factory of {}", kind.name);
    factories[0] = new Factory(connect(*base), kind);
    *count = 1;
  });
}

OrtStatus* release_factory(OrtEpFactory* factory) {
  delete static_cast<Factory*>(factory);
  return nullptr;
}

OrtStatus* get_refusals(const OrtEp* ep, const RhEpRefusal** refusals, size_t* count) {
  const std::vector<RhEpRefusal>& entries = static_cast<const Ep*>(ep)->refusals.entries();
  *refusals = entries.data();
  *count = entries.size();
  return nullptr;
}

}  // namespace rh::kit
