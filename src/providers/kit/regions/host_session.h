#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "providers/kit/host/host.h"
#include "providers/kit/regions/region_provider.h"

namespace rh::kit {

/// A region as a model of ONNX's bytes, whose inputs and outputs are the region's in their order.
std::string model_of(const Region& region);

/// A model that a session of the host computes on the CPU: for runs of a region that the vendor's device is not to have. Thread-safe.
class HostSession {
 public:
  /// `model`: of ONNX's bytes. Throws Error.
  HostSession(const Host& host, const std::string& model);
  ~HostSession();
  HostSession(const HostSession&) = delete;
  HostSession& operator=(const HostSession&) = delete;

  /// `inputs` and `outputs` in the order of the model's, in host memory. Throws Error.
  void run(std::span<const TensorView> inputs, RunOutputs& outputs) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace rh::kit
