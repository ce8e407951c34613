#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "numbers.h"

namespace rh::cli {

/// A model of a few nodes, to be written in the ONNX format.
struct SmallModel {
  using Attribute = std::pair<std::string, std::variant<int64_t, float, std::string, std::vector<int64_t>>>;
  struct Node {
    std::string op_type;
    std::vector<std::string> inputs, outputs;  ///< empty names: left out
    std::string name;
    std::vector<Attribute> attributes = {};
  };
  struct Port {
    std::string name;
    ONNXTensorElementDataType type;
    std::optional<std::vector<int64_t>> shape;
  };

  std::vector<Node> nodes;
  std::vector<Port> inputs, outputs;
  std::vector<std::pair<std::string, Contents>> initializers = {};

  /// The model of opset 21 as bytes.
  std::string bytes() const;
};

}  // namespace rh::cli
