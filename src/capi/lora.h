#pragma once

#include <string>
#include <vector>

#include "abi/value.h"

/// Parameters that replace overridable initializers of a model in the runs that the adapter is active in.
struct OrtLoraAdapter {
  std::vector<std::string> names;
  std::vector<OrtValue> values;
};
