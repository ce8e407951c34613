#include "providers/plugin/context_nodes.h"

#include <algorithm>

#include "abi/graph_view.h"
#include "ops/node_view.h"
#include "providers/plugin/call.h"
#include "settings/keys.h"

namespace rh::plugin {

namespace {

constexpr char kContextOp[] = "EPContext", kContextDomain[] = "com.microsoft";
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

void check_write_function(const Ep& ep, const PluginSetup& setup) {
  if (!setup.options->write_ep_context || !setup.settings.write_context_model) return;
  if (!setup.settings.embeds_contexts && !(function_support(ep) & 2)) refuse_function(ep, "write");
}

void check_read_function(const Ep& ep, const OrtSessionOptions& options, std::span<const Unit* const> units) {
  if (!options.read_ep_context) return;
  const bool reads = std::ranges::any_of(units, [](const Unit* unit) { return has_files(*unit); });
  if (reads && !(function_support(ep) & 1)) refuse_function(ep, "read");
}

void check_weightless(const Ep& ep, const Settings& settings) {
  if (settings.weightless_mode == WeightlessMode::none && !settings.is_weightless) return;
  const char* key =
      settings.weightless_mode == WeightlessMode::none ? kKeyOf<&Settings::is_weightless> : kKeyOf<&Settings::weightless_mode>;
  if (!RH_HAS(ep.raw, 29, GetWeightlessSupport)) {
    fail(ErrorCode::not_implemented, "{}: '{}' asks for compiled models without weights, but its OrtEp has no GetWeightlessSupport",
         ep.name, key);
  }
  OrtWeightlessSupport support = OrtWeightlessSupport_NONE;
  call(ep.name, "OrtEp::GetWeightlessSupport", [&] { return ep.raw.GetWeightlessSupport(&ep.raw, &support); });
  if (support != OrtWeightlessSupport_NONE) return;
  fail(ErrorCode::ep_fail, "{}: '{}' asks for compiled models without weights, but it makes none: leave the entry out", ep.name, key);
}

void check_weightless_mode(const PluginSetup& setup, const std::string& provider) {
  const WeightlessMode mode = setup.settings.weightless_mode;
  if (mode == WeightlessMode::none) return;
  const std::string_view wanted = mode == WeightlessMode::external_only ? "external_only" : "all";
  const std::string number = std::to_string(static_cast<int>(mode));
  for (const OrtEpDevice* device : setup.devices) {
    const char* said = device->metadata.find("weightless_supported_modes");
    if (!said) said = device->metadata.find("weightless_support");
    const std::string_view modes = said ? said : "none";
    if (modes == wanted || modes == "all_or_external_only" || modes == number || modes == "3") continue;
    fail(ErrorCode::ep_fail, "{}: '{}' is {} ({}), but its device says '{}' of compiled models without weights", provider,
         kKeyOf<&Settings::weightless_mode>, number, wanted, modes);
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
