#pragma once

#include <roundhouse/provider.hpp>

#include <memory>

namespace fake_device {

/// A unit of one node of any operator: a session of the host computes it on the CPU, over the device's memory.
class Emulation {
 public:
  /// Tensors of numbers in and out, and attributes that can be copied: no subgraphs.
  static bool is_possible(const roundhouse::ep::Node& node);

  Emulation(const roundhouse::ep::GraphViewer& unit, const roundhouse::ep::Node& fused);
  ~Emulation();
  Emulation(const Emulation&) = delete;
  Emulation& operator=(const Emulation&) = delete;

  /// Where the shapes of the results are known the work is submitted to the stream, else it is done when this returns. The emulation
  /// outlives the stream's work.
  void run(roundhouse::ep::OpKernelContext& context) const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace fake_device
