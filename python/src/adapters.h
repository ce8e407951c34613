#pragma once

#include <memory>

#include "module.h"

namespace rh::python {

struct ReleaseAdapter {
  void operator()(OrtLoraAdapter* adapter) const { Ort::GetApi().ReleaseLoraAdapter(adapter); }
};
using AdapterHandle = std::unique_ptr<OrtLoraAdapter, ReleaseAdapter>;

AdapterHandle new_adapter();

/// Python's LoraAdapter: empty until a file is loaded, at one address for the run options that it is active in.
struct PyLoraAdapter {
  AdapterHandle handle = new_adapter();
};

}  // namespace rh::python
