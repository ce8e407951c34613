#pragma once

#include <optional>
#include <string>
#include <vector>

#include "graph/graph.h"
#include "tensor/shape.h"

namespace rh::gpu {

class Lowering;

/// A function of elements: what one node computes.
struct Expression {
  /// $0, $1, ... are operands, #0, #1, ... parameters, @ the type in which `typed_by` is computed.
  std::string text;
  std::vector<ValueId> operands;
  std::vector<double> parameters = {};
  size_t typed_by = 0;
  /// Operands that are broadcast as if they had another shape, of as many elements; fewer entries: as they are.
  std::vector<std::optional<Shape>> shapes = {};
};

/// Nodes of elements that one launch computes, each step of operands and earlier steps.
struct Chain {
  struct Input {
    ValueId value;
    Shape shape;
    friend bool operator==(const Input&, const Input&) = default;
  };
  struct Step {
    std::string text;           ///< as of an Expression
    std::vector<int> operands;  ///< an input's number, or ~number of an earlier step
    int first_parameter = 0;
    DType typed_by = DType::undefined, result = DType::undefined;
  };
  std::vector<Input> inputs;
  std::vector<double> parameters;
  std::vector<Step> steps;
  std::vector<NodeId> nodes;
};

/// Adds what a node computes to the chains of its operands, where these are of its shape. It is launched once no later node of elements
/// takes it alone.
void lower_expression(const Node& node, Lowering& lowering, const Expression& expression);

}  // namespace rh::gpu
