#pragma once

#include <string>
#include <vector>

#include "providers/provider.h"

namespace rh {

/// What became of one node of the model as it was read.
struct NodePlacement {
  std::string node;      ///< name, or "#<index>" where it has none
  std::string op_type;   ///< as in the model
  std::string provider;  ///< empty where no node of the final graph stands for it
  std::string kernel;    ///< operator that computes it in the final graph, with its opset: "Conv(11)"
  std::string unit;      ///< the compiled unit that it is part of; empty where it runs as a node
  std::string reason;    ///< why it is gone ("gone after pass constant_folding"); empty where it runs
  std::vector<Refusal> refusals;
};

/// A value that has to be in another memory than where it is made, and why.
struct CopyPlacement {
  std::string value;
  Device from, to;
  std::string cause;  ///< "node 'conv1' (Conv(11)) of XExecutionProvider takes it there"
};

/// A table for people: one line a node.
std::string to_text(const std::vector<NodePlacement>& placement);

}  // namespace rh
