#pragma once

#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "graph/type.h"
#include "tensor/value.h"

namespace rh {

class Graph;

/// A parameter of the enclosing model-local function, to be replaced when the function is inlined.
struct AttributeReference {
  std::string name;
};

/// A named attribute of a node, in the forms that the ONNX standard has.
struct Attribute {
  using Payload = std::variant<std::monostate, int64_t, float, std::string, Tensor, SparseTensor, std::shared_ptr<Graph>, ValueType,
                               std::vector<int64_t>, std::vector<float>, std::vector<std::string>, std::vector<Tensor>,
                               std::vector<SparseTensor>, std::vector<std::shared_ptr<Graph>>, std::vector<ValueType>, AttributeReference>;
  std::string name;
  Payload value;

  template <typename T>
  const T* get() const {
    return std::get_if<T>(&value);
  }
};

}  // namespace rh
