#pragma once

#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "providers/plugin/plugin_kernel.h"
#include "providers/plugin/plugin_provider.h"

namespace rh::plugin {

/// The EPContext nodes that OrtEp::Compile made for units, taken over and read. Throws Error{ep_fail} naming unit and node where one is no
/// EPContext node.
std::map<std::string, ContextNode> read_context_nodes(const std::string& provider, std::span<const Unit* const> units,
                                                      const std::vector<std::unique_ptr<OrtNode>>& nodes);

/// What the plugin says of itself for a compiled model; empty: nothing. Throws Error.
std::string ask_compatibility_info(const Ep& ep, const OrtGraph& graph);

/// Throws Error{not_implemented} where the caller gave a function to read or write contexts with that the plugin does not use.
void check_context_functions(const Ep& ep, const OrtSessionOptions& options);

/// Holds what a compiled model says of its provider against this one. Throws Error{requires_compilation} where the provider refuses it, or
/// would rather compile anew and "session.fail_on_suboptimal_compiled_model" is 1.
void check_compatibility(const PluginSetup& setup, const std::string& provider);

}  // namespace rh::plugin
