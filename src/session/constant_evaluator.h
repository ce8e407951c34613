#pragma once

#include "base/thread_pool.h"
#include "passes/driver/pass.h"

namespace rh {

/// Constant folding over the CPU's kernels.
class CpuConstantEvaluator final : public ConstantEvaluator {
 public:
  explicit CpuConstantEvaluator(const Parallel& parallel) : parallel_(parallel) {}
  std::vector<Value> evaluate(const Graph& graph, const Node& node, std::span<const Value> inputs, size_t max_bytes) override;

 private:
  Parallel parallel_;
};

}  // namespace rh
