#include "providers/kit/host/ep_table.h"

#include <algorithm>

#include "providers/kit/graph/value_import.h"
#include "providers/kit/host/float_environment.h"
#include "providers/kit/regions/compiled_region.h"
#include "providers/kit/regions/host_values.h"

namespace rh::kit {

std::unique_ptr<RegionProvider> make_provider(const Host& host, const ProviderKind& kind, const Options& options, int threads,
                                              ListedDevice* device) {
  return kind.make({host, options, device ? device->driver() : nullptr, device ? device->spec().id : 0, threads});
}

EpTable::EpTable(const Host& of, const ProviderKind& what, const OrtSessionOptions& session, const OrtLogger* logger,
                 std::shared_ptr<ListedDevice> on)
    : OrtEp{},
      host(of),
      kind(what),
      options(kind.name, kind.options, options_of(host, session, kind.name)),
      device(std::move(on)),
      provider(make_provider(host, kind, options, threads_of(host, session), device.get())),
      compiler(host, kind.name, *provider, options.key(), session, logger),
      trials(*provider, [this](const Region& region) { return compiler.find_or_compile(region); }) {
  kernels = std::make_unique<Kernels>(host, kind.name, device, provider->kernels());
  fill_graph_functions();
  fill_compiled_model_functions();
  if (device) fill_device_functions();
}

void EpTable::fill_graph_functions() {
  ort_version_supported = host.version;
  GetName = [](const OrtEp* self) { return static_cast<const EpTable*>(self)->kind.name; };
  GetCapability = [](OrtEp* self, const OrtGraph* graph, OrtEpGraphSupportInfo* info) {
    EpTable& ep = *static_cast<EpTable*>(self);
    return guard(*ep.host.api, [&] {
      const DefaultFloatEnvironment environment;  // of threads too that a vendor starts as it compiles
      ep.claim(*graph, info);
    });
  };
  Compile = [](OrtEp* self, const OrtGraph** graphs, const OrtNode** fused, size_t count, OrtNodeComputeInfo** infos, OrtNode** contexts) {
    EpTable& ep = *static_cast<EpTable*>(self);
    return guard(*ep.host.api, [&] {
      const DefaultFloatEnvironment environment;
      ep.compile({graphs, count}, fused, infos, contexts);
    });
  };
  ReleaseNodeComputeInfos = [](OrtEp*, OrtNodeComputeInfo** infos, size_t count) {
    for (size_t i = 0; i < count; ++i) delete static_cast<CompiledRegion*>(infos[i]);
  };
  SetDynamicOptions = [](OrtEp* self, const char* const* names, const char* const* values, size_t count) {
    EpTable& ep = *static_cast<EpTable*>(self);
    return guard(*ep.host.api, [&] {
      for (size_t i = 0; i < count; ++i) ep.provider->set_dynamic_option(names[i], values[i]);
    });
  };
  IsConcurrentRunSupported = [](OrtEp*, bool* is_supported) -> OrtStatus* {
    *is_supported = true;
    return nullptr;
  };
  OnRunStart = [](OrtEp* self, const OrtRunOptions* run) {
    EpTable& ep = *static_cast<EpTable*>(self);
    return guard(*ep.host.api, [&] {
      if (run) ep.provider->begin_run(RunEntries(ep.host, *run, ep.kind.name));
    });
  };
  GetKernelRegistry = [](OrtEp* self, const OrtKernelRegistry** registry) -> OrtStatus* {
    *registry = static_cast<EpTable*>(self)->kernels->registry();
    return nullptr;
  };
}

void EpTable::fill_compiled_model_functions() {
  GetCompiledModelCompatibilityInfo = [](OrtEp* self, const OrtGraph*) { return static_cast<EpTable*>(self)->made_by.c_str(); };
  GetEpContextDataCallbackSupport = [](const OrtEp*, uint32_t* support) -> OrtStatus* {
    *support = 3;  // reads and writes
    return nullptr;
  };
  CreateProfiler = [](OrtEp* self, OrtEpProfilerImpl** profiler) {
    const EpTable& ep = *static_cast<EpTable*>(self);
    return guard(*ep.host.api, [&] { *profiler = make_profiler(ep.host, ep.profile); });
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
  host_values.clear();
  const ImportedGraph imported = import_graph(host, graph);
  provider->prepare(*imported.graph);
  if (is_within_taken(graph)) return refuse_all(imported);
  std::vector<NodeId> taken;  // by others; ONNX Runtime asks again after it has inlined functions, and then shows earlier regions as nodes
  for (NodeId id : imported.graph->nodes()) {
    const std::string owner = text_of(host, host.api->Node_GetEpName, imported.nodes[static_cast<size_t>(id)]);
    const bool is_region = imported.graph->node(id).domain == kind.name;
    if (is_region || (!owner.empty() && owner != kind.name)) taken.push_back(id);
  }
  const auto is_compiled = [&](NodeId id) {
    return std::ranges::find(taken, id) == taken.end() && compiler.is_compiled(imported.graph->node(id));
  };
  compiler.begin(graph);
  Decision decision = trials.decide(*imported.graph, taken);
  std::erase_if(decision.refusals, [&](const auto& refused) { return is_compiled(refused.first); });
  for (NodeId id : imported.graph->nodes()) {
    if (is_compiled(id)) decision.regions.push_back({id});
  }
  for (const std::vector<NodeId>& region : decision.regions) add_unit(imported, region, info);
  for (NodeId id : decision.kernels) {
    check(host, host.ep->EpGraphSupportInfo_AddSingleNode(info, imported.nodes[static_cast<size_t>(id)]));
  }
  for (auto& [id, refusal] : decision.refusals) add_refusal(imported, id, std::move(refusal));
}

void EpTable::add_unit(const ImportedGraph& imported, const std::vector<NodeId>& region, OrtEpGraphSupportInfo* info) {
  types.remember(*imported.graph, region);
  std::vector<const OrtNode*> nodes;
  for (NodeId id : region) nodes.push_back(imported.nodes[static_cast<size_t>(id)]);
  OrtNodeFusionOptions fusion{};
  fusion.ort_version_supported = host.version;
  // On the host they stay inputs where the provider works where they lie.
  fusion.drop_constant_initializers = device || provider->keeps_constants();
  check(host, host.ep->EpGraphSupportInfo_AddNodesToFuse(info, nodes.data(), nodes.size(), &fusion));
  keep_host_values(*imported.graph, region);
}

// A unit is known again by what it gives. Two bodies may give values of one name: then each takes in host memory what either does.
void EpTable::keep_host_values(const Graph& graph, const std::vector<NodeId>& region) {
  std::vector<const char*>& names = host_values.emplace_back();
  if (!device) return;
  std::set<std::string> wanted;
  for (ValueId value : HostValues(graph, *provider).inputs_of(region)) wanted.insert(graph.value(value).name);
  if (wanted.empty()) return;
  for (NodeId id : region) {
    for (ValueId output : graph.node(id).outputs) {
      if (output != kNoValue) told_[graph.value(output).name].insert(wanted.begin(), wanted.end());
    }
  }
  for (const std::string& name : wanted) names.push_back(names_.insert(name).first->c_str());
}

std::vector<bool> EpTable::host_inputs_of(const Region& region) const {
  std::vector<bool> is_on_host(region.inputs.size(), false);
  for (ValueId output : region.outputs) {
    const auto told = told_.find(region.graph->value(output).name);
    for (size_t i = 0; told != told_.end() && i < is_on_host.size(); ++i) {
      if (told->second.contains(region.graph->value(region.inputs[i]).name)) is_on_host[i] = true;
    }
  }
  return is_on_host;
}

// Hosts ask for a body before its node, or after it: in both orders a body is left to a node that is taken with it.
bool EpTable::runs_whole(const OrtNode& node) const {
  const ImportedGraph alone = import_node(host, node);
  for (ValueId output : alone.graph->node(0).outputs) {
    if (output != kNoValue && trials.has_refused(alone.graph->value(output).name)) return false;
  }
  return !support_of(*provider, *alone.graph, 0);
}

bool EpTable::is_within_taken(const OrtGraph& graph) const {
  for (const OrtGraph* body = &graph; body;) {
    const OrtNode* parent = nullptr;
    check(host, host.api->Graph_GetParentNode(body, &parent));
    if (!parent) return false;
    if (runs_whole(*parent)) return true;
    check(host, host.api->Node_GetGraph(parent, &body));
  }
  return false;
}

void EpTable::refuse_all(const ImportedGraph& imported) {
  for (NodeId id : imported.graph->nodes()) add_refusal(imported, id, {RhRefusalCode_UNIT, "its node is taken as a whole, or not at all"});
}

void EpTable::add_refusal(const ImportedGraph& imported, NodeId id, Refusal refusal) {
  size_t number = 0;
  check(host, host.api->Node_GetId(imported.nodes[static_cast<size_t>(id)], &number));
  refusals.add(number, std::move(refusal));
}

void EpTable::compile(std::span<const OrtGraph* const> graphs, const OrtNode* const* fused, OrtNodeComputeInfo** infos,
                      OrtNode** contexts) {
  std::unique_ptr<DeviceConstants> constants = device ? std::make_unique<DeviceConstants>(device->driver(), uploaded_) : nullptr;
  std::vector<std::unique_ptr<CompiledRegion>> compiled;
  std::vector<decltype(RegionCompiler::Compiled::context)> nodes;
  for (size_t i = 0; i < graphs.size(); ++i) {
    Region region = import_region(host, *graphs[i], *fused[i], types);
    region.constants = constants.get();
    region.host_inputs = host_inputs_of(region);
    if (!device) own_constants_of_bodies(const_cast<Graph&>(*region.graph));
    auto [executable, context] = compiler.compile(region, *graphs[i], *fused[i], trials);
    compiled.push_back(std::make_unique<CompiledRegion>(host, region, std::move(executable), device));
    compiled.back()->profiled = {profile, text_of(host, host.api->Node_GetName, fused[i]), node_names(*region.graph)};
    compiled.back()->watch = watch;
    nodes.push_back(std::move(context));
  }
  for (size_t i = 0; i < compiled.size(); ++i) {
    infos[i] = compiled[i].release();
    if (contexts) contexts[i] = nodes[i].release();
  }
}

}  // namespace rh::kit
