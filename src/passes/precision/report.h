#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace rh::precision {

/// A node that stayed as it was.
struct KeptNode {
  std::string node;  ///< its name, or "#<id>"
  std::string op;    ///< "Conv(17)"
  std::string reason;
};

/// What became of a graph and its bodies.
struct Report {
  std::vector<std::string> converted;  ///< nodes by their names
  std::vector<KeptNode> kept;          ///< nodes that compute in float32, or that quantisation left alone
  size_t added_nodes = 0;              ///< Casts, or pairs of QuantizeLinear and DequantizeLinear
  size_t constants = 0;                ///< that were converted
  std::vector<std::string> unused;     ///< entries of the calibration table of which the graph has no tensor
};

}  // namespace rh::precision
