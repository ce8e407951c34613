#pragma once

#include <string>

#include "roundhouse/onnxruntime_ep_c_api.h"

namespace rh::test {

/// How the inputs and outputs of a graph are listed.
enum class Order { as_given, by_name };

/// Everything that the interface says of a graph, as text, one fact a line: the same for the same graph in any implementation, whatever
/// the ids and the order of independent nodes. Operator sets stand only with those of its nodes' domains. Throws std::runtime_error with
/// the message of the first call that fails.
std::string dump_graph(const OrtApi& api, const OrtGraph& graph, Order order = Order::as_given);
/// A node that stands for a fused subgraph.
std::string dump_node(const OrtApi& api, const OrtNode& node);

}  // namespace rh::test
