#pragma once

#include <string>
#include <vector>

#include "onnx_bytes.h"

namespace rh::cli {

/// Floats between the bounds, the same ones each time.
Contents sample(const std::vector<int64_t>& shape, float low = -2, float high = 2, unsigned seed = 1);

/// A model of one node, run on a provider under check and on the CPU.
struct OperatorCase {
  std::string op, label;
  std::vector<Contents> inputs;  ///< without a type: left out
  std::vector<ONNXTensorElementDataType> outputs = {ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT};
  std::vector<size_t> constants = {};  ///< inputs that stand in the model; the others are given when it runs
  std::vector<SmallModel::Attribute> attributes = {};

  std::string name() const { return "operators/" + op + (label.empty() ? "" : "-" + label); }
  SmallModel model() const;
  /// What the model is fed, by name.
  std::vector<std::pair<std::string, Contents>> feeds() const;
};

const std::vector<OperatorCase>& operator_cases();

}  // namespace rh::cli
