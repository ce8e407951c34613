#include "providers/plugin/plugin_provider.h"

#include <algorithm>
#include <mutex>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "abi/allocator.h"
#include "abi/graph_view.h"
#include "base/cancellation.h"
#include "base/fork_mutex.h"
#include "ops/channels_last.h"
#include "passes/pass_lists.h"
#include "providers/plugin/call.h"
#include "providers/plugin/context_nodes.h"
#include "providers/plugin/graph_support.h"
#include "providers/plugin/plugin_kernel.h"
#include "providers/plugin/profiling.h"
#include "providers/plugin/time_limit.h"

namespace rh::plugin {

namespace {

/// A plugin's allocator as the session uses it.
class PluginAllocator final : public ShrinkableAllocator {
 public:
  PluginAllocator(std::shared_ptr<Ep> ep, OrtAllocator& raw, Device device) : ep_(std::move(ep)), raw_(raw), device_(device) {}
  PluginAllocator(std::shared_ptr<Ep> ep, std::shared_ptr<const Library::SharedAllocator> shared, Device device)
      : ep_(std::move(ep)), shared_(std::move(shared)), raw_(*shared_->handle()), device_(device) {}
  ~PluginAllocator() override {
    if (shared_) return;
    if (RH_HAS(ep_->factory, 23, ReleaseAllocator)) tell([&] { ep_->factory.ReleaseAllocator(&ep_->factory, &raw_); });
  }
  void* allocate(size_t bytes) override {
    void* memory = ask<void*>(nullptr, [&] { return raw_.Alloc(&raw_, std::max<size_t>(bytes, 1)); });
    if (!memory) {
      fail(ErrorCode::runtime_exception,
           "{}: OrtAllocator::Alloc gave no memory for {} bytes on {}: free memory of the device, or give smaller inputs", ep_->name, bytes,
           device_.to_string());
    }
    return memory;
  }
  void deallocate(void* memory) override {
    tell([&] { raw_.Free(&raw_, memory); });
  }
  Device device() const override { return device_; }
  void shrink() override {
    if (raw_.version >= 25 && raw_.Shrink) (void)try_call(ep_->name, "OrtAllocator::Shrink", [&] { return raw_.Shrink(&raw_); });
  }
  const void* pool() const override { return shared_.get(); }
  OrtAllocator& raw() const { return raw_; }

 private:
  std::shared_ptr<Ep> ep_;
  std::shared_ptr<const Library::SharedAllocator> shared_;  // null: the allocator is this provider's own
  OrtAllocator& raw_;
  Device device_;
};

static_assert(static_cast<int>(RefusalCode::op) == RhRefusalCode_OP && static_cast<int>(RefusalCode::opset) == RhRefusalCode_OPSET &&
              static_cast<int>(RefusalCode::type) == RhRefusalCode_TYPE && static_cast<int>(RefusalCode::shape) == RhRefusalCode_SHAPE &&
              static_cast<int>(RefusalCode::attribute) == RhRefusalCode_ATTRIBUTE &&
              static_cast<int>(RefusalCode::layout) == RhRefusalCode_LAYOUT &&
              static_cast<int>(RefusalCode::claimed_earlier) == RhRefusalCode_CLAIMED_EARLIER &&
              static_cast<int>(RefusalCode::unit) == RhRefusalCode_UNIT && static_cast<int>(RefusalCode::cost) == RhRefusalCode_COST &&
              static_cast<int>(RefusalCode::forced) == RhRefusalCode_FORCED &&
              static_cast<int>(RefusalCode::unstated) == RhRefusalCode_UNSTATED);

const OrtRunOptions& default_run_options() {
  static constinit ForkOnce<const OrtRunOptions> options;
  return options.get();
}

class PluginProvider final : public Provider, public PlaceOfKernels {
 public:
  explicit PluginProvider(PluginSetup setup) : setup_(std::move(setup)) {
    check_weightless_mode(setup_, setup_.devices.at(0)->ep_name);
    create_ep();
    check_compatibility(setup_, ep_->name);
    if (RH_HAS(ep_->raw, 24, GetKernelRegistry)) {
      call(ep_->name, "OrtEp::GetKernelRegistry", [&] { return ep_->raw.GetKernelRegistry(&ep_->raw, &registry_); });
    }
    if (RH_HAS(ep_->raw, 23, GetPreferredDataLayout)) {
      call(ep_->name, "OrtEp::GetPreferredDataLayout", [&] { return ep_->raw.GetPreferredDataLayout(&ep_->raw, &layout_); });
      if (layout_ != OrtEpDataLayout_NCHW && layout_ != OrtEpDataLayout_NHWC) {
        fail(ErrorCode::ep_fail, "{}: OrtEp::GetPreferredDataLayout gave {}, expected {} or {}", ep_->name, static_cast<int>(layout_),
             static_cast<int>(OrtEpDataLayout_NCHW), static_cast<int>(OrtEpDataLayout_NHWC));
      }
    }
    records_ = RH_HAS(ep_->raw, 26, IsGraphCaptureEnabled) && ask(false, [&] { return ep_->raw.IsGraphCaptureEnabled(&ep_->raw); });
    if (records_ && (!RH_HAS(ep_->raw, 26, IsGraphCaptured) || !RH_HAS(ep_->raw, 26, ReplayGraph))) {
      fail(ErrorCode::ep_fail, "{}: OrtEp::IsGraphCaptureEnabled says true, but it has no {}", ep_->name,
           RH_HAS(ep_->raw, 26, IsGraphCaptured) ? "ReplayGraph" : "IsGraphCaptured");
    }
    if (RH_HAS(ep_->raw, 24, IsConcurrentRunSupported)) {
      call(ep_->name, "OrtEp::IsConcurrentRunSupported", [&] { return ep_->raw.IsConcurrentRunSupported(&ep_->raw, &concurrent_); });
    }
    choose_memory();
    ask_passes();
    if (const RhEpWatchRunsFn watch = setup_.library->watch_runs()) tell([&] { watch(&ep_->raw, run_state); });
    if (const RhEpInitializerAddressesFn get = setup_.library->initializer_addresses()) {
      addresses_ = ask(RhInitializerAddresses_ALIGNED, [&] { return get(&ep_->raw); });
    }
  }

  std::string_view name() const override { return ep_->name; }
  Device device() const override { return device_; }
  Allocator& allocator() const override { return allocator_ ? static_cast<Allocator&>(*allocator_) : host_allocator(); }
  KernelPlace kernel_place() const override { return {device_, memory_, 0, 0, raw_allocator(), setup_.logger.get(), {}}; }
  DataTransfer* transfer() const override { return device_.is_host() ? nullptr : ep_->library->transfer(ep_->factory); }

  std::unique_ptr<Stream> make_stream() const override {
    if (device_.is_host() || !RH_HAS(ep_->factory, 23, IsStreamAware)) return nullptr;
    if (!ask(false, [&] { return ep_->factory.IsStreamAware(&ep_->factory); })) return nullptr;
    OrtSyncStreamImpl* impl = nullptr;
    if (RH_HAS(ep_->raw, 23, CreateSyncStreamForDevice)) {
      call(ep_->name, "OrtEp::CreateSyncStreamForDevice",
           [&] { return ep_->raw.CreateSyncStreamForDevice(&ep_->raw, &memory_->device, &impl); });
    } else if (RH_HAS(ep_->factory, 23, CreateSyncStreamForDevice)) {
      call(ep_->name, "OrtEpFactory::CreateSyncStreamForDevice",
           [&] { return ep_->factory.CreateSyncStreamForDevice(&ep_->factory, &memory_->device, nullptr, &impl); });
    }
    return impl ? std::make_unique<OrtSyncStream>(ep_->name, *impl, memory_->device, device_) : nullptr;
  }

  std::span<const Pass> passes() const override { return passes_; }

  Capability capability(const Graph& graph, std::span<const NodeId> candidates) override {
    if (!RH_HAS(ep_->raw, 23, GetCapability)) {
      fail(ErrorCode::ep_fail,
           "{}: its OrtEp says version {} and has no GetCapability, expected 23 or newer: build the plugin with newer headers", ep_->name,
           ep_->raw.ort_version_supported);
    }
    const std::unordered_set<NodeId> free(candidates.begin(), candidates.end());
    const auto taken_by = [&](const Graph& of, NodeId id) -> std::string_view {
      return &of == &graph && !free.contains(id) ? "another provider" : "";
    };
    const bool at_any = addresses_ != RhInitializerAddresses_ALIGNED;
    views_.push_back(abi::make_graph_view(graph, {setup_.model, taken_by, at_any}, parent_of(graph)));
    OrtEpGraphSupportInfo answer{graph, registry_};
    call(ep_->name, "OrtEp::GetCapability", [&] { return ep_->raw.GetCapability(&ep_->raw, views_.back().get(), &answer); });
    ask_host_values(answer.claims);
    Capability capability;
    std::unordered_set<NodeId> claimed;
    for (Claim& claim : answer.claims) {
      if (!claim.compiled && is_control_flow(graph, claim.nodes[0]) &&
          !(registry_ && find_kernel(*registry_, graph, graph.node(claim.nodes[0])).entry)) {
        capability.refusals.push_back({claim.nodes[0], RefusalCode::forced,
                                       "it has no kernel for the control flow, which runs on the CPU; it is asked for the nodes inside"});
        claimed.insert(claim.nodes[0]);
        continue;
      }
      claimed.insert(claim.nodes.begin(), claim.nodes.end());
      capability.claims.push_back(std::move(claim));
    }
    std::unordered_map<NodeId, Capability::NodeRefusal> stated = stated_refusals();
    for (NodeId id : candidates) {
      if (claimed.contains(id)) continue;
      const auto own = stated.find(id);
      capability.refusals.push_back(own == stated.end() ? refusal(graph, id) : std::move(own->second));
    }
    return capability;
  }

  bool reads_any_address() const override { return addresses_ == RhInitializerAddresses_ANY; }

  bool wants_channels_last(const Node& node) const override {
    if (layout_ != OrtEpDataLayout_NHWC) return false;
    int answer = -1;
    if (RH_HAS(ep_->raw, 23, ShouldConvertDataLayoutForOp)) {
      call(ep_->name, "OrtEp::ShouldConvertDataLayoutForOp",
           [&] { return ep_->raw.ShouldConvertDataLayoutForOp(&ep_->raw, node.domain.c_str(), node.op_type.c_str(), layout_, &answer); });
    }
    return answer < 0 ? ops::is_layout_sensitive(node.domain, node.op_type) : answer > 0;
  }

  std::unique_ptr<Kernel> make_kernel(const Graph& graph, const Node& node, const CompileContext&) override {
    const KernelMatch match = registry_ ? find_kernel(*registry_, graph, node) : KernelMatch{};
    if (!match.entry) {
      throw Error(
          ErrorCode::ep_fail,
          fmt::format("{} claimed the node alone, but has no kernel for it{}{}", ep_->name, match.reason.empty() ? "" : ": ", match.reason),
          node.where());
    }
    auto info = std::make_unique<OrtKernelInfo>();
    info->graph = &graph;
    info->node = &node;
    for (ValueId input : node.inputs) {
      const Tensor* constant = input == kNoValue ? nullptr : graph.value(input).constant_tensor();
      info->constants.push_back(
          constant ? std::make_shared<const OrtValue>(Value(*constant), constant->device().is_host() ? nullptr : memory_) : nullptr);
    }
    info->config = &setup_.options->config;
    info->logger = setup_.logger.get();
    info->ep = &ep_->raw;
    info->allocator = raw_allocator();
    info->transfer = transfer();
    KernelPlace place = kernel_place();
    for (ValueId output : node.outputs) place.outputs.push_back(fact_of(graph, output));
    for (const auto& [index, type] : match.entry->def.input_memory) {
      if (index < 64 && type != OrtMemTypeDefault) place.host_inputs |= uint64_t{1} << index;
    }
    for (const auto& [index, type] : match.entry->def.output_memory) {
      if (index < 64 && type != OrtMemTypeDefault) place.host_outputs |= uint64_t{1} << index;
    }
    try {
      return make_node_kernel(ep_, *match.entry, std::move(info), std::move(place));
    } catch (Error& error) {
      error.add(node.where());
      throw;
    }
  }

  std::vector<std::unique_ptr<Kernel>> compile(std::span<const Unit* const> units) override {
    if (!RH_HAS(ep_->raw, 23, Compile)) fail(ErrorCode::ep_fail, "{} claimed units, but its OrtEp has no Compile", ep_->name);
    check_write_function(*ep_, setup_);
    check_read_function(*ep_, *setup_.options, units);
    check_weightless(*ep_, setup_.settings);
    std::vector<const OrtGraph*> graphs;
    std::vector<const OrtNode*> fused;
    for (const Unit* unit : units) {
      graphs.push_back(show(*unit));
      fused.push_back(fused_nodes_.back().get());
    }
    auto infos = std::make_shared<ComputeInfos>(ep_, units.size());
    std::vector<OrtNode*> contexts(units.size(), nullptr);
    Status status = try_call(ep_->name, "OrtEp::Compile", [&] {
      return ep_->raw.Compile(&ep_->raw, graphs.data(), fused.data(), units.size(), infos->infos.data(), contexts.data());
    });
    std::vector<std::unique_ptr<OrtNode>> owned;
    for (OrtNode* node : contexts) owned.emplace_back(node);
    if (!status.ok()) throw Error(status.code(), std::string(status.message()), first_node(*units[0]));
    contexts_.merge(read_context_nodes(ep_->name, units, owned));
    std::vector<std::unique_ptr<Kernel>> kernels;
    for (size_t i = 0; i < units.size(); ++i) {
      if (!infos->infos[i]) fail(ErrorCode::ep_fail, "{}: OrtEp::Compile gave nothing for unit '{}'", ep_->name, units[i]->name);
      KernelPlace place = kernel_place();
      for (const std::string& output : units[i]->outputs)
        place.outputs.push_back(fact_of(*units[i]->body, units[i]->body->find_value(output)));
      auto state = std::make_shared<UnitState>(infos, i, units[i]->name);
      new_units_.push_back(state);
      kernels.push_back(make_unit_kernel(std::move(state), std::move(place)));
    }
    return kernels;
  }

  std::optional<ContextNode> context_node(const Unit& unit) const override {
    const auto found = contexts_.find(unit.name);
    return found == contexts_.end() ? std::nullopt : std::optional(found->second);
  }
  std::string compatibility_info(const Graph& graph) override {
    return ask_compatibility_info(*ep_, *abi::make_graph_view(graph, {setup_.model, {}}));
  }
  std::unique_ptr<ProviderProfiler> make_profiler() const override { return make_plugin_profiler(ep_); }

  void finish() override {
    for (const auto& unit : std::exchange(new_units_, {})) {
      const auto state = setup_.settings.compile_only ? nullptr : unit.lock();
      if (state) state->make();
    }
    views_.clear();
    if (!RH_HAS(ep_->raw, 27, OnSessionInitializationEnd)) return;
    call(ep_->name, "OrtEp::OnSessionInitializationEnd", [&] { return ep_->raw.OnSessionInitializationEnd(&ep_->raw); });
  }

  bool records_runs() const override { return records_; }
  bool has_recorded(int number) const override {
    return records_ && ask(false, [&] { return ep_->raw.IsGraphCaptured(&ep_->raw, number); });
  }
  Status replay(int number) override {
    return try_call(ep_->name, "OrtEp::ReplayGraph", [&] { return ep_->raw.ReplayGraph(&ep_->raw, number); });
  }
  Status forget_recorded(int number) override {
    if (!RH_HAS(ep_->raw, 27, ReleaseCapturedGraph)) return {};
    return try_call(ep_->name, "OrtEp::ReleaseCapturedGraph", [&] { return ep_->raw.ReleaseCapturedGraph(&ep_->raw, number); });
  }
  bool records_beside_cpu() const override {
    if (!RH_HAS(ep_->raw, 26, GetGraphCaptureNodeAssignmentPolicy)) return false;
    const auto all = OrtGraphCaptureNodeAssignmentPolicy_ALL_NODES_ON_EP;
    return ask(all, [&] { return ep_->raw.GetGraphCaptureNodeAssignmentPolicy(&ep_->raw); }) != all;
  }

  Status begin_run(const RunInfo& info) override {
    if (!concurrent_) run_mutex_.lock();
    if (!RH_HAS(ep_->raw, 23, OnRunStart)) return {};
    return try_call(ep_->name, "OrtEp::OnRunStart", [&] { return ep_->raw.OnRunStart(&ep_->raw, run_options(info)); });
  }
  Status end_run(const RunInfo& info) override {
    Status status;
    if (RH_HAS(ep_->raw, 23, OnRunEnd)) {
      status = try_call(ep_->name, "OrtEp::OnRunEnd", [&] { return ep_->raw.OnRunEnd(&ep_->raw, run_options(info), info.synchronize); });
    }
    if (!concurrent_) run_mutex_.unlock();
    return status;
  }

  Status synchronize() override {
    if (!RH_HAS(ep_->raw, 25, Sync)) return {};
    return try_call(ep_->name, "OrtEp::Sync", [&] { return ep_->raw.Sync(&ep_->raw); });
  }

  void set_options(const std::map<std::string, std::string>& options) override {
    if (!RH_HAS(ep_->raw, 23, SetDynamicOptions)) return;
    std::vector<const char*> keys, values;
    for (const auto& [key, value] : options) {
      keys.push_back(key.c_str());
      values.push_back(value.c_str());
    }
    call(ep_->name, "OrtEp::SetDynamicOptions",
         [&] { return ep_->raw.SetDynamicOptions(&ep_->raw, keys.data(), values.data(), keys.size()); });
  }

 private:
  void create_ep() {
    OrtEpFactory& factory = *setup_.devices.at(0)->factory;
    const std::string& name = setup_.devices[0]->ep_name;
    std::vector<const OrtHardwareDevice*> hardware;
    std::vector<const OrtKeyValuePairs*> metadata;
    for (const OrtEpDevice* device : setup_.devices) {
      hardware.push_back(device->device);
      metadata.push_back(&device->metadata);
    }
    // Lives as long as the call, which may outlive this provider.
    struct Creation {
      PluginSetup setup;
      std::vector<const OrtHardwareDevice*> hardware;
      std::vector<const OrtKeyValuePairs*> metadata;
      OrtEp* made = nullptr;
    };
    const auto creation = std::make_shared<Creation>(Creation{setup_, std::move(hardware), std::move(metadata)});
    const Status status = call_in_time(
        name, "OrtEpFactory::CreateEp", time_limit_of(setup_.settings.plugin_timeout_ms),
        [name, creation, &factory] {
          Creation& c = *creation;
          return try_call(name, "OrtEpFactory::CreateEp", [&] {
            return factory.CreateEp(&factory, c.hardware.data(), c.metadata.data(), c.hardware.size(), c.setup.options.get(),
                                    c.setup.logger.get(), &c.made);
          });
        },
        creation);
    if (!status.ok()) throw Error(status.code(), std::string(status.message()));
    OrtEp* made = creation->made;
    if (!made) fail(ErrorCode::ep_fail, "{}: OrtEpFactory::CreateEp gave no provider", name);
    const char* given = made->GetName ? ask<const char*>(nullptr, [&] { return made->GetName(made); }) : nullptr;
    ep_ = std::make_shared<Ep>(setup_.library, factory, *made, given ? given : name);
  }

  void choose_memory() {
    const OrtEpDevice& device = *setup_.devices[0];
    const OrtMemoryDevice* chosen = nullptr;
    if (RH_HAS(ep_->raw, 27, GetDefaultMemoryDevice)) {
      call(ep_->name, "OrtEp::GetDefaultMemoryDevice", [&] { return ep_->raw.GetDefaultMemoryDevice(&ep_->raw, &chosen); });
    }
    if (!device.device_memory || device.device_memory->is_host()) return;
    memory_ = chosen ? memory_on(*chosen) : own(*device.device_memory);
    if (memory_->is_host()) {
      memory_.reset();
      return;
    }
    device_ = abi::device_of(*memory_);
    if (setup_.settings.use_env_allocators) {
      if (auto common = setup_.library->find_shared_allocator(*device.device_memory)) {
        allocator_ = std::make_unique<PluginAllocator>(ep_, std::move(common), device_);
        return;
      }
    }
    OrtAllocator* made = nullptr;
    if (RH_HAS(ep_->raw, 23, CreateAllocator)) {
      call(ep_->name, "OrtEp::CreateAllocator", [&] { return ep_->raw.CreateAllocator(&ep_->raw, memory_.get(), &made); });
    }
    if (!made && RH_HAS(ep_->factory, 23, CreateAllocator)) {
      call(ep_->name, "OrtEpFactory::CreateAllocator",
           [&] { return ep_->factory.CreateAllocator(&ep_->factory, memory_.get(), nullptr, &made); });
    }
    if (!made || !made->Alloc || !made->Free) {
      fail(ErrorCode::ep_fail, "{}: it gives no allocator for its memory '{}'", ep_->name, memory_->name);
    }
    allocator_ = std::make_unique<PluginAllocator>(ep_, *made, device_);
  }

  // The plugin's own object, which it may compare by its address.
  std::shared_ptr<const OrtMemoryInfo> own(const OrtMemoryInfo& info) const { return {setup_.library, &info}; }

  std::shared_ptr<const OrtMemoryInfo> memory_on(const OrtMemoryDevice& chosen) const {
    for (const OrtEpDevice* device : setup_.devices) {
      for (const OrtMemoryInfo* info : {device->device_memory, device->host_accessible_memory}) {
        if (info && info->device == chosen) return own(*info);
      }
    }
    OrtMemoryInfo info = *setup_.devices[0]->device_memory;
    info.device = chosen;
    return std::make_shared<const OrtMemoryInfo>(std::move(info));
  }

  OrtAllocator* raw_allocator() const { return allocator_ ? &allocator_->raw() : &abi::default_allocator(); }

  static const OrtRunOptions* run_options(const RunInfo& info) {
    return info.options ? static_cast<const OrtRunOptions*>(info.options) : &default_run_options();
  }

  static bool is_control_flow(const Graph& graph, NodeId id) {
    bool found = false;
    if (const Node* node = graph.find_node(id)) Graph::for_each_subgraph(*node, [&](const Graph&) { found = true; });
    return found;
  }

  Capability::NodeRefusal refusal(const Graph& graph, NodeId id) const {
    if (registry_ && !registry_->entries.empty()) {
      KernelMatch match = find_kernel(*registry_, graph, graph.node(id));
      if (!match.entry) return {id, match.code, std::move(match.reason)};
    }
    return {id, RefusalCode::unstated, "it left the node out of its answer and gave no reason"};
  }

  // What units want in host memory of the graph that the plugin was just asked about (RhEpUnitHostInputs).
  void ask_host_values(std::vector<Claim>& claims) const {
    const RhEpUnitHostInputsFn get = setup_.library->unit_host_inputs();
    if (!get || device_.is_host()) return;
    size_t unit = 0;
    for (Claim& claim : claims) {
      if (!claim.compiled) continue;
      const char* const* names = nullptr;
      size_t count = 0;
      call(ep_->name, "RhEpUnitHostInputs", [&] { return get(&ep_->raw, unit, &names, &count); });
      for (size_t i = 0; i < count; ++i) claim.host_values.emplace_back(names[i]);
      ++unit;
    }
  }

  // For what takes long within a run (RhEpWatchRuns).
  static RhRunState ORT_API_CALL run_state() {
    if (!current_cancellation()) return RhRunState_ENDLESS;
    try {
      throw_if_cancelled();
      return RhRunState_GOES_ON;
    } catch (const Error&) {
      return RhRunState_IS_STOPPED;
    }
  }

  void ask_passes() {
    const RhEpGetPassesFn get = setup_.library->passes();
    if (!get) return;
    const char* const* names = nullptr;
    size_t count = 0;
    call(ep_->name, "RhEpGetPasses", [&] { return get(&ep_->raw, &names, &count); });
    for (size_t i = 0; i < count; ++i) {
      const Pass* pass = find_pass(names[i]);
      if (!pass) fail(ErrorCode::ep_fail, "{}: RhEpGetPasses names '{}', expected passes of docs/passes.md", ep_->name, names[i]);
      passes_.push_back(*pass);
    }
  }

  // The node of a body, in the view of the graph around it, which was asked about before.
  const OrtNode* parent_of(const Graph& body) const {
    for (auto view = views_.rbegin(); view != views_.rend(); ++view) {
      if (const OrtNode* parent = abi::find_parent(**view, body)) return parent;
    }
    return nullptr;
  }

  // What the plugin says itself of the graph that it was just asked about (RhEpGetRefusals).
  std::unordered_map<NodeId, Capability::NodeRefusal> stated_refusals() const {
    std::unordered_map<NodeId, Capability::NodeRefusal> stated;
    const RhEpGetRefusalsFn get = setup_.library->refusals();
    if (!get) return stated;
    const RhEpRefusal* entries = nullptr;
    size_t count = 0;
    call(ep_->name, "RhEpGetRefusals", [&] { return get(&ep_->raw, &entries, &count); });
    for (size_t i = 0; i < count; ++i) {
      const auto id = static_cast<NodeId>(entries[i].node_id);
      const bool is_known = entries[i].code >= RhRefusalCode_OP && entries[i].code <= RhRefusalCode_UNSTATED;
      const RefusalCode code = is_known ? static_cast<RefusalCode>(entries[i].code) : RefusalCode::unstated;
      stated.insert_or_assign(id, Capability::NodeRefusal{id, code, entries[i].reason ? entries[i].reason : ""});
    }
    return stated;
  }

  // The unit's graph and node as the plugin sees them.
  const OrtGraph* show(const Unit& unit) {
    const std::string name(ep_->name);
    const auto owner = [name](const Graph&, NodeId) -> std::string_view { return name; };
    views_.push_back(abi::make_graph_view(*unit.body, {setup_.model, owner, reads_any_address()}));
    const OrtGraph& whole = *views_.back();
    std::vector<const OrtNode*> all;
    for (const auto& node : whole.nodes) all.push_back(node.get());
    const auto is_constant = [&](const std::string& input) { return unit.body->value(unit.body->find_value(input)).is_constant(); };
    const bool with_constants = std::ranges::any_of(unit.inputs, is_constant);
    views_.push_back(abi::make_subset_view(whole, all, {.name = unit.name, .constants_are_inputs = with_constants}));
    const OrtGraph& graph = *views_.back();
    fused_nodes_.push_back(abi::make_fused_node(graph, static_cast<NodeId>(fused_nodes_.size()), unit.name, ep_->name));
    OrtNode& fused = *fused_nodes_.back();
    order(unit.inputs, graph, fused, fused.inputs);
    order(unit.outputs, graph, fused, fused.outputs);
    return &graph;
  }

  static OutputFact fact_of(const Graph& graph, ValueId id) {
    return id == kNoValue ? OutputFact{} : OutputFact{graph.value(id).name, graph.value(id).type};
  }

  // Where an error of a unit is: its first node.
  static Where first_node(const Unit& unit) {
    const std::vector<NodeId> nodes = unit.body->nodes();
    return nodes.empty() ? Where{} : unit.body->node(nodes.front()).where();
  }

  // By values of the node's own, which outlive the graph's.
  static void order(const std::vector<std::string>& names, const OrtGraph& graph, OrtNode& node, std::vector<const OrtValueInfo*>& values) {
    values.clear();
    for (const std::string& name : names) {
      const auto own = std::ranges::find(node.own_values, name, &OrtValueInfo::name);
      if (own != node.own_values.end()) {
        values.push_back(&*own);
        continue;
      }
      OrtValueInfo& value = node.own_values.emplace_back();
      value.name = name;
      if (const OrtValueInfo* of_graph = graph.find(name)) value.type = of_graph->type;
      values.push_back(&value);
    }
  }

  PluginSetup setup_;
  std::shared_ptr<Ep> ep_;
  std::shared_ptr<const OrtMemoryInfo> memory_;  // null: it works on host memory
  Device device_;
  std::unique_ptr<PluginAllocator> allocator_;
  const OrtKernelRegistry* registry_ = nullptr;
  OrtEpDataLayout layout_ = OrtEpDataLayout_Default;
  RhInitializerAddresses addresses_ = RhInitializerAddresses_ALIGNED;
  bool concurrent_ = true, records_ = false;
  std::mutex run_mutex_;
  std::vector<std::unique_ptr<OrtGraph>> views_;       // until everything is compiled
  std::vector<std::unique_ptr<OrtNode>> fused_nodes_;  // of units: what the plugin made of them may refer to them
  std::vector<Pass> passes_;
  std::map<std::string, ContextNode> contexts_;      // by unit
  std::vector<std::weak_ptr<UnitState>> new_units_;  // without a state yet
};

}  // namespace

std::shared_ptr<Provider> make_plugin_provider(PluginSetup setup) { return std::make_shared<PluginProvider>(std::move(setup)); }

}  // namespace rh::plugin
