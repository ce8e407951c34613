#pragma once

#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "graph/graph.h"
#include "partition/assignment.h"
#include "session/options.h"

namespace rh {

/// A model for a file.
struct FileModel {
  ModelInfo info;
  std::shared_ptr<const Graph> graph;
  std::vector<std::shared_ptr<const void>> keep_alive;  ///< as of Model
};

/// In `original`, the graph as it was before its assignment: puts one node in place of each unit whose provider gives one
/// (Provider::context_node), and says how many. Throws Error{ep_fail} where such a node takes or gives what the graph does not have.
int64_t place_context_nodes(Graph& original, const Graph& assigned, const Assignment& assignment,
                            std::span<const std::shared_ptr<Provider>> providers);

/// What the file of a compiled model says of each provider that has something to say: "ep_compatibility_info.<provider>" and its text.
std::vector<std::pair<std::string, std::string>> compatibility_metadata(const Graph& original,
                                                                        std::span<const std::shared_ptr<Provider>> providers);

/// Entries of the same key are replaced.
void add_metadata(ModelInfo& info, const std::vector<std::pair<std::string, std::string>>& entries);

/// Whether the options ask for a model with such nodes ("ep.context_enable").
bool wants_context_model(const SessionOptions& options);

/// Where the options say, else beside the model's own file. Throws Error{invalid_argument} where neither is known.
std::string context_model_path(const ModelInfo& model, const SessionOptions& options);
/// Throws Error{fail} where a file stands there.
void write_context_model(const ModelInfo& model, const Graph& graph, const SessionOptions& options);

/// Nodes that hold what a provider compiled (com.microsoft.EPContext), those in subgraphs among them.
int64_t count_context_nodes(const Graph& graph);

}  // namespace rh
