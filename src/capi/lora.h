#pragma once

#include <string>
#include <vector>

#include "abi/options.h"
#include "abi/value.h"

/// Parameters that replace overridable initializers of a model in the runs that the adapter is active in.
struct OrtLoraAdapter {
  std::vector<std::string> names;
  std::vector<OrtValue> values;
};

namespace rh::capi {

/// take(name, value) for each parameter of the adapters that are active in runs with these options, which may be null.
template <typename Take>
void for_each_parameter(const OrtRunOptions* options, Take take) {
  if (!options) return;
  for (const OrtLoraAdapter* adapter : options->lora_adapters)
    for (size_t i = 0; i < adapter->names.size(); ++i) take(adapter->names[i].c_str(), adapter->values[i]);
}

}  // namespace rh::capi
