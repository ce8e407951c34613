// Graphs: operations with what each of them follows.
#pragma once

#include <memory>
#include <vector>

#include "stands/cuda/driver/operation.h"

struct CUgraphNode_st {
  rh::stand::Operation operation;
  std::vector<size_t> after;  // numbers of nodes
};

struct CUgraph_st {
  std::vector<std::shared_ptr<CUgraphNode_st>> nodes;
};

struct CUgraphExec_st {
  rh::stand::Device* device = nullptr;
  std::shared_ptr<const CUgraph_st> graph;
  std::vector<std::shared_ptr<const std::vector<bool>>> nodes_before;  // for each node, those that it follows, through others too
  rh::stand::Moment last_launch;                                       // the next one begins after it
};

namespace rh::stand {

std::unique_ptr<CUgraphExec_st> instantiate(Device& device, const CUgraph_st& graph);
// Runs all nodes, each after those that it follows; among those that could come next, order chooses (RunSettings::order).
void launch_graph(CUgraphExec_st& exec, CUstream stream, long order);
// Of each node, which nodes it follows, through others too.
std::vector<std::vector<bool>> ancestors(const CUgraph_st& graph);

}  // namespace rh::stand
