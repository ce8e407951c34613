#pragma once

#include <span>

#include "base/error.h"
#include "session/frame.h"

namespace rh {

/// Runs a plan's steps in a frame of it. `inputs` go with the plan's inputs, null where an overridable one keeps its default. `outputs` go
/// with its outputs: a tensor there is written in place, elsewhere comes a value. At the top level that value shares memory with nobody; in
/// a subgraph it owns its memory or shares that of others who own it. Never throws.
enum class Level : uint8_t { top, subgraph };
Status execute(Frame& frame, std::span<const Value* const> inputs, std::span<Value> outputs, const RunControls& controls, Level level);

/// A subgraph of a control-flow node, as its kernel calls it; the frame of the enclosing plan owns it and gives the captured values.
class SubplanRunner final : public SubgraphRunner {
 public:
  SubplanRunner(const Plan& plan, Frame& enclosing);

  int input_count() const override { return frame_.plan().graph_inputs; }
  int output_count() const override { return static_cast<int>(frame_.plan().outputs.size()); }
  /// Tensors that are in `outputs`, such as results of a run before, give their memory to results of their type and shape where nobody
  /// shares it.
  Status run(std::span<const Value> inputs, std::span<Value> outputs) override;
  std::vector<ValueType> output_types(std::span<const Value> inputs, std::span<const ValueType> types) override;

  const Frame& frame() const { return frame_; }

 private:
  Frame& enclosing_;
  Frame frame_;
  RunControls controls_;
  std::vector<const Value*> inputs_;
};

}  // namespace rh
