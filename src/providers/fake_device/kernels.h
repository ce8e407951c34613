#pragma once

#include <memory>
#include <vector>

#include "ops/node_view.h"
#include "providers/fake_device/driver.h"
#include "providers/fake_device/fault.h"
#include "providers/kit/regions/region_provider.h"

namespace rh::fake_device {

/// What kernels and regions share of their session.
struct Session {
  std::shared_ptr<FakeDriver> driver;
  std::shared_ptr<Fault> fault;

  /// Fails where a run is to, by an error, an end of the process, or not ending at all.
  void begin_run() const;
  /// Off by this much are all results.
  float error() const { return fault->call() == "result" ? 1.0f : 0.0f; }
};

/// Whether there is a kernel for the node: Add, Mul, Relu, Neg, Sigmoid, Tanh on floats whose operands have the same dimensions, and Tile.
kit::Support kernel_support(const NodeView& node);

/// Kernels for these operators.
std::vector<kit::KernelRow> kernel_rows(const Session& session);

}  // namespace rh::fake_device
