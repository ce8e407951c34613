#include "providers/plugin/context_nodes.h"

#include <algorithm>

#include "abi/graph_view.h"
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

void check_context_functions(const Ep& ep, const OrtSessionOptions& options) {
  if (!options.read_ep_context && !options.write_ep_context) return;
  uint32_t support = 0;
  if (RH_HAS(ep.raw, 31, GetEpContextDataCallbackSupport)) {
    call(ep.name, "OrtEp::GetEpContextDataCallbackSupport", [&] { return ep.raw.GetEpContextDataCallbackSupport(&ep.raw, &support); });
  }
  const bool read = options.read_ep_context && !(support & 1), write = options.write_ep_context && !(support & 2);
  if (!read && !write) return;
  fail(ErrorCode::not_implemented, "{}: it does not {} contexts through the function that was given: leave the function out", ep.name,
       read ? "read" : "write");
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
