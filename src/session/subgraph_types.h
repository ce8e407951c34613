#pragma once

#include <span>
#include <vector>

#include "graph/graph.h"

namespace rh {

/// Whether numbers of this tensor may tell sizes, axes or scales: it is small, of integers or floats.
bool may_hold_sizes(const Tensor& tensor);

/// An input of a subgraph in a run: the value, or, where there is none, what is known of its type.
struct RunInput {
  ValueId id = kNoValue;
  const Value* value = nullptr;
  const ValueType* type = nullptr;
};

/// The types of a subgraph's outputs for inputs and captured values of a run, told without running it. Sizes that only running it tells are
/// those that the model declares, or unknown.
std::vector<ValueType> infer_outputs(const Graph& graph, std::span<const RunInput> inputs);

/// The sizes of a type whose symbols are those of these inputs; 0 where no input tells one.
Shape sizes_in_run(const Graph& graph, const ValueType& type, std::span<const RunInput> inputs);

}  // namespace rh
