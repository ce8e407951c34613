#pragma once

#include <cstdint>
#include <string>

#include "graph/graph.h"

namespace rh {

struct PrintOptions {
  bool types = false;         ///< also the types of values inside the graph
  int64_t max_elements = 64;  ///< constants of more elements are printed as {...}, which the parser refuses; negative prints all
};

/// The text form of a graph, close to that of the ONNX standard; parse_graph (text_parse.h) reads it, docs/graph_text.md describes it.
std::string print(const Graph& graph, const PrintOptions& options = {});
/// The same with what the model says about itself.
std::string print(const Model& model, const PrintOptions& options = {});
/// A type as the text form has it: "float[N, 3]", "seq(float[...])".
std::string print(const ValueType& type);

}  // namespace rh
