#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "graph/graph.h"
#include "providers/kit/host/host.h"

namespace rh::kit {

/// Nodes com.microsoft::EPContext, which hold a compiled region in a model that was compiled ahead of time: read and written as the
/// session's options say ("ep.context_enable", "ep.context_embed_mode", "ep.context_file_path", "ep.context_node_name_prefix", and the
/// functions that read and write data in place of files).
class EpContext {
 public:
  EpContext(const Host& host, std::string provider, const OrtSessionOptions& options);

  /// Whether the session writes a compiled model.
  bool is_written() const { return is_written_; }
  /// Whether the node holds a region that this provider compiled.
  bool is_own(const Node& node) const;
  /// What such a node holds, from it or from the file that it names, in the folder of the file `model`. Throws Error.
  std::string read(const Node& node, const std::string& model) const;
  /// The node that stands for a unit of the model that was read from `source`, empty where that was no file. Throws Error.
  OrtNode* write(const OrtNode& unit, const std::string& artifact, const std::string& made_by, const std::string& source);

 private:
  std::string read_file_of(const Node& node, const std::string& name, const std::string& given) const;
  void write_data(const std::string& name, const std::string& artifact) const;

  Host host_;
  std::string provider_, model_path_, node_prefix_;
  bool is_written_ = false, is_embedded_ = false;
  OrtReadNamedBufferFunc read_ = nullptr;
  OrtWriteNamedBufferFunc write_ = nullptr;
  void *read_state_ = nullptr, *write_state_ = nullptr;
};

/// The model's file; empty where it came from memory.
std::string model_path(const Host& host, const OrtGraph& graph);

}  // namespace rh::kit
