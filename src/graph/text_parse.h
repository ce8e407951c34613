#pragma once

#include <memory>
#include <string_view>

#include "graph/graph.h"

namespace rh {

/// Reads the text form of a graph (docs/graph_text.md). The graph is not checked beyond what reading needs: see check.h. Throws
/// Error{invalid_graph}, "text:3:14: expected ')' but found '='", with line and column.
std::unique_ptr<Graph> parse_graph(std::string_view text);
Model parse_model(std::string_view text);

}  // namespace rh
