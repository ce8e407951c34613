#include "providers/plugin/context_nodes.h"

#include <algorithm>

#include "abi/graph_view.h"
#include "ops/node_view.h"
#include "providers/plugin/call.h"
#include "settings/keys.h"

namespace rh::plugin {

namespace {

constexpr char kContextOp[] = "EPContext", kContextDomain[] = "com.microsoft";
constexpr char kWeightlessMode[] = "ep.enable_weightless_mode";
constexpr char kInfoKey[] = "ep_compatibility_info.";

std::vector<std::string> names_of(const std::vector<const OrtValueInfo*>& values) {
  std::vector<std::string> names;
  for (const OrtValueInfo* value : values) names.push_back(value ? value->name : std::string());
  return names;
}

}  // namespace

std::map<std::string, ContextNode> read_context_nodes(const std::string& provider, std::span<const Unit* const> units,
                                                      const std::vector<std::unique_ptr<OrtNode>>& nodes) {
  std::map<std::string, ContextNode> contexts;
  for (size_t i = 0; i < units.size(); ++i) {
    if (!nodes[i]) continue;
    const OrtNode& node = *nodes[i];
    if (node.op_type != kContextOp || node.domain != kContextDomain) {
      fail(ErrorCode::ep_fail, "{}: OrtEp::Compile gave a node '{}' of {}::{} for unit '{}', expected {}::{}", provider, node.name,
           node.domain, node.op_type, units[i]->name, kContextDomain, kContextOp);
    }
    ContextNode context{node.name, node.op_type, node.domain, names_of(node.inputs), names_of(node.outputs), {}};
    if (context.name.empty()) context.name = units[i]->name;
    for (const OrtOpAttr& attribute : *node.attributes) context.attributes.push_back(attribute.attribute);
    contexts.emplace(units[i]->name, std::move(context));
  }
  return contexts;
}

std::string ask_compatibility_info(const Ep& ep, const OrtGraph& graph) {
  if (!RH_HAS(ep.raw, 23, GetCompiledModelCompatibilityInfo)) return {};
  const char* text = ask<const char*>(nullptr, [&] { return ep.raw.GetCompiledModelCompatibilityInfo(&ep.raw, &graph); });
  return text ? text : "";
}

namespace {

/// Bit 0: it reads contexts through the caller's function; bit 1: it writes through it.
uint32_t function_support(const Ep& ep) {
  uint32_t support = 0;
  if (RH_HAS(ep.raw, 31, GetEpContextDataCallbackSupport)) {
    call(ep.name, "OrtEp::GetEpContextDataCallbackSupport", [&] { return ep.raw.GetEpContextDataCallbackSupport(&ep.raw, &support); });
  }
  return support;
}

std::string_view entry_of(const OrtSessionOptions& options, const char* key) {
  const char* value = options.config.find(key);
  return value ? value : "";
}

[[noreturn]] void refuse_function(const Ep& ep, const char* use) {
  fail(ErrorCode::not_implemented, "{}: it does not {} contexts through the function that was given: leave the function out", ep.name, use);
}

bool is_context(const Node& node) { return node.op_type == kContextOp && node.domain == kContextDomain; }

/// Whether a unit has contexts that lie outside of the model.
bool has_files(const Unit& unit) {
  return std::ranges::any_of(unit.body->nodes(), [&](NodeId id) {
    const NodeView node(*unit.body, unit.body->node(id));
    return is_context(node.node()) && node.int_or("embed_mode", 1) == 0;
  });
}

}  // namespace

void check_write_function(const Ep& ep, const OrtSessionOptions& options) {
  if (!options.write_ep_context || entry_of(options, kKeyOf<&Settings::write_context_model>) != "1") return;
  if (entry_of(options, "ep.context_embed_mode") != "1" && !(function_support(ep) & 2)) refuse_function(ep, "write");
}

void check_read_function(const Ep& ep, const OrtSessionOptions& options, std::span<const Unit* const> units) {
  if (!options.read_ep_context) return;
  const bool reads = std::ranges::any_of(units, [](const Unit* unit) { return has_files(*unit); });
  if (reads && !(function_support(ep) & 1)) refuse_function(ep, "read");
}

void check_weightless(const Ep& ep, const OrtSessionOptions& options) {
  constexpr const char* kEnable = "ep.enable_weightless";
  const std::string_view mode = entry_of(options, kWeightlessMode);
  if ((mode.empty() || mode == "0") && entry_of(options, kEnable) != "1") return;
  if (!RH_HAS(ep.raw, 29, GetWeightlessSupport)) {
    fail(ErrorCode::not_implemented, "{}: '{}' asks for compiled models without weights, but its OrtEp has no GetWeightlessSupport",
         ep.name, mode.empty() ? kEnable : kWeightlessMode);
  }
  OrtWeightlessSupport support = OrtWeightlessSupport_NONE;
  call(ep.name, "OrtEp::GetWeightlessSupport", [&] { return ep.raw.GetWeightlessSupport(&ep.raw, &support); });
  if (support != OrtWeightlessSupport_NONE) return;
  fail(ErrorCode::ep_fail, "{}: '{}' asks for compiled models without weights, but it makes none: leave the entry out", ep.name,
       mode.empty() ? kEnable : kWeightlessMode);
}

void check_weightless_mode(const PluginSetup& setup, const std::string& provider) {
  const std::string_view mode = entry_of(*setup.options, kWeightlessMode);
  if (mode.empty() || mode == "0") return;
  if (mode != "1" && mode != "2") {
    fail(ErrorCode::invalid_argument, "{}: the weightless mode '{}' is '{}', expected 0 (none), 1 (external weights alone) or 2 (all)",
         provider, kWeightlessMode, mode);
  }
  const std::string_view wanted = mode == "1" ? "external_only" : "all";
  for (const OrtEpDevice* device : setup.devices) {
    const char* said = device->metadata.find("weightless_supported_modes");
    if (!said) said = device->metadata.find("weightless_support");
    const std::string_view modes = said ? said : "none";
    if (modes == wanted || modes == "all_or_external_only" || modes == mode || modes == "3") continue;
    fail(ErrorCode::ep_fail, "{}: '{}' is {} ({}), but its device says '{}' of compiled models without weights", provider, kWeightlessMode,
         mode, wanted, modes);
  }
}

void check_compatibility(const PluginSetup& setup, const std::string& provider) {
  OrtEpFactory& factory = *setup.devices.at(0)->factory;
  if (!setup.model || !RH_HAS(factory, 23, ValidateCompiledModelCompatibilityInfo)) return;
  const auto found = std::ranges::find(setup.model->metadata, kInfoKey + provider, &std::pair<std::string, std::string>::first);
  if (found == setup.model->metadata.end()) return;
  std::vector<const OrtHardwareDevice*> hardware;
  for (const OrtEpDevice* device : setup.devices) hardware.push_back(device->device);
  OrtCompiledModelCompatibility answer = OrtCompiledModelCompatibility_EP_NOT_APPLICABLE;
  call(provider, "OrtEpFactory::ValidateCompiledModelCompatibilityInfo", [&] {
    return factory.ValidateCompiledModelCompatibilityInfo(&factory, hardware.data(), hardware.size(), found->second.c_str(), &answer);
  });
  if (answer == OrtCompiledModelCompatibility_EP_UNSUPPORTED) {
    fail(ErrorCode::requires_compilation, "{}: it cannot run this compiled model, which says '{}': compile the model anew", provider,
         found->second);
  }
  if (answer != OrtCompiledModelCompatibility_EP_SUPPORTED_PREFER_RECOMPILATION) return;
  const std::string message =
      fmt::format("{}: it runs this compiled model, which says '{}', worse than one compiled anew", provider, found->second);
  if (setup.settings.refuses_suboptimal_model) {
    fail(ErrorCode::requires_compilation, "{}; '{}' is 1: compile the model anew", message, kKeyOf<&Settings::refuses_suboptimal_model>);
  }
  if (setup.logger) setup.logger->log(ORT_LOGGING_LEVEL_WARNING, "session", "", message.c_str());
}

}  // namespace rh::plugin
