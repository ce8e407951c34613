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

/// Throws Error{not_implemented} where contexts are to be written through the caller's function, which the plugin does not use. Those that
/// stand in the model itself need none.
void check_write_function(const Ep& ep, const PluginSetup& setup);
/// The same for units whose contexts are to be read through the caller's function.
void check_read_function(const Ep& ep, const OrtSessionOptions& options, std::span<const Unit* const> units);

/// Holds "ep.enable_weightless_mode" against what the devices say. Throws Error{ep_fail} for a mode that they do not have.
void check_weightless_mode(const PluginSetup& setup, const std::string& provider);
/// Throws Error{not_implemented} or Error{ep_fail} where the options ask for compiled models without weights, and the plugin makes none.
void check_weightless(const Ep& ep, const Settings& settings);

/// Holds what a compiled model says of its provider against this one. Throws Error{requires_compilation} where the provider refuses it, or
/// would rather compile anew and "session.fail_on_suboptimal_compiled_model" is 1.
void check_compatibility(const PluginSetup& setup, const std::string& provider);

}  // namespace rh::plugin
