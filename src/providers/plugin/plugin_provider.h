#pragma once

#include <memory>
#include <string>
#include <vector>

#include "abi/options.h"
#include "graph/graph.h"
#include "providers/plugin/library.h"
#include "providers/provider.h"
#include "settings/settings.h"

namespace rh::plugin {

/// What a provider of a plugin is made from.
struct PluginSetup {
  std::shared_ptr<Library> library;
  std::vector<const OrtEpDevice*> devices;  ///< of one factory
  std::shared_ptr<const OrtSessionOptions> options;
  std::shared_ptr<const OrtLogger> logger;
  std::shared_ptr<const ModelInfo> model;
  Settings settings = {};  ///< what the options' entries say
};

/// Lets the plugin make its provider. Throws Error naming the provider and the call that failed.
std::shared_ptr<Provider> make_plugin_provider(PluginSetup setup);

}  // namespace rh::plugin
