#include "stands/cuda/driver/graph.h"

#include <algorithm>
#include <random>

namespace rh::stand {
namespace {

std::vector<size_t> run_order(const CUgraph_st& graph, long order) {
  std::vector<size_t> result, ready;
  std::vector<size_t> waits_for(graph.nodes.size());
  for (size_t i = 0; i < graph.nodes.size(); ++i)
    if ((waits_for[i] = graph.nodes[i]->after.size()) == 0) ready.push_back(i);
  std::mt19937 random(static_cast<unsigned>(order));
  while (!ready.empty()) {
    size_t pick = order == 0 ? 0 : order == 1 ? ready.size() - 1 : random() % ready.size();
    size_t node = ready[pick];
    ready.erase(ready.begin() + static_cast<std::ptrdiff_t>(pick));
    result.push_back(node);
    for (size_t i = 0; i < graph.nodes.size(); ++i)
      waits_for[i] -= static_cast<size_t>(std::count(graph.nodes[i]->after.begin(), graph.nodes[i]->after.end(), node));
    for (size_t i = node + 1; i < graph.nodes.size(); ++i) {
      const auto& after = graph.nodes[i]->after;
      if (waits_for[i] == 0 && std::find(after.begin(), after.end(), node) != after.end()) ready.push_back(i);
    }
  }
  return result;
}

}  // namespace

std::vector<std::vector<bool>> ancestors(const CUgraph_st& graph) {
  std::vector<std::vector<bool>> all(graph.nodes.size(), std::vector<bool>(graph.nodes.size()));
  for (size_t i = 0; i < graph.nodes.size(); ++i)  // a node follows only nodes of lower numbers
    for (size_t before : graph.nodes[i]->after) {
      all[i][before] = true;
      for (size_t j = 0; j < before; ++j)
        if (all[before][j]) all[i][j] = true;
    }
  return all;
}

std::unique_ptr<CUgraphExec_st> instantiate(Device& device, const CUgraph_st& graph) {
  auto exec = std::make_unique<CUgraphExec_st>();
  exec->device = &device;
  exec->graph = std::make_shared<CUgraph_st>(graph);
  if (device.check())
    for (auto& before : ancestors(graph)) exec->nodes_before.push_back(std::make_shared<std::vector<bool>>(std::move(before)));
  return exec;
}

void launch_graph(CUgraphExec_st& exec, CUstream stream, long order) {
  ++counters().graph_launches;
  auto after = implied_waits(stream);
  after.push_back(exec.last_launch);
  Device& device = *exec.device;
  stream->queue->submit(std::move(after), [&device, graph = exec.graph, nodes_before = exec.nodes_before, order](const WorkPlace& place) {
    for (size_t node : run_order(*graph, order)) {
      if (device.sticky) return;
      WorkPlace here = place;
      here.node = static_cast<int>(node);
      if (node < nodes_before.size()) here.nodes_before = nodes_before[node];
      graph->nodes[node]->operation.run(device, here);
    }
  });
  exec.last_launch = stream->queue->now();
}

}  // namespace rh::stand
