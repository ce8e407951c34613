#pragma once

#include "abi/env.h"
#include "abi/options.h"
#include "providers/plugin/library.h"
#include "session/options.h"

namespace rh::capi {

/// The plugin libraries of an environment.
plugin::Libraries& libraries_of(const OrtEnv& env);

/// The full name of a provider that a registered library has, or one that is found by its file name and then registered; empty where there
/// is none, or the vendor's own library is missing as far as files tell it, unless an option names that. Throws Error where a library is
/// there, but does not load or finds no device.
std::string find_plugin_provider(const OrtEnv& env, std::string_view name, bool vendor_is_named = false);

/// The option by which providers are told where the vendor's library is.
inline constexpr std::string_view kVendorOption = "library_path";

/// Option keys of providers stand among the configuration entries as "ep.<lower case name>.<key>".
std::string lower(std::string_view text);

/// Adds a provider of a registered library, or of one that is found by its file name, with options. Throws Error{fail} saying that it is
/// not enabled where there is none, as programs expect it from functions for one provider.
void append_provider(OrtSessionOptions& options, std::string_view name, std::string_view short_name,
                     const std::map<std::string, std::string>& values);
/// Throws the same.
void check_enabled(std::string_view name, std::string_view short_name);

/// The environment's name of a memory, and the provider's device that has it (the CPU's of host memory): of providers with equal memory,
/// the session's. Null where no registered provider declared it.
const OrtMemoryInfo* memory_info_of(const OrtSession& session, Device device);
const OrtEpDevice* ep_device_of(const OrtSession& session, Device device);

/// What the session layer is to make of providers that the options name by devices, by a policy, or by the name of a plugin's provider.
void choose_plugins(const OrtEnv& env, const OrtSessionOptions& given, SessionOptions& options);

}  // namespace rh::capi
