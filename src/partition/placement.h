#pragma once

#include <string>
#include <vector>

namespace rh {

/// A provider that was asked for a node and did not get it, or did not take it.
struct Refusal {
  std::string provider;
  std::string reason;
};

/// What became of one node of the model as it was read.
struct NodePlacement {
  std::string node;      ///< name, or "#<index>" where it has none
  std::string op_type;   ///< as in the model
  std::string provider;  ///< empty where no node of the final graph stands for it
  std::string kernel;    ///< operator that computes it in the final graph, with its opset: "Conv(11)"
  std::string reason;    ///< why it is gone ("gone after pass constant_folding"); empty where it runs
  std::vector<Refusal> refusals;
};

/// A table for people: one line a node.
std::string to_text(const std::vector<NodePlacement>& placement);

}  // namespace rh
