#include "session/compile/alignment.h"

#include <algorithm>
#include <cstring>

#include "base/file.h"
#include "base/shared_bytes.h"
#include "graph/constant_addresses.h"
#include "onnx/tensor_reader.h"

namespace rh {

namespace {

/// In pages of its own; those of the file leave the process.
std::shared_ptr<const void> copied(const Tensor& tensor) {
  Tensor copy = onnx::page_tensor(tensor.dtype(), tensor.shape());
  std::memcpy(copy.raw(), tensor.raw(), tensor.bytes());
  forget_mapped_pages(tensor.raw(), tensor.bytes());
  return {copy.owner(), copy.raw()};
}

template <typename Visit>
void for_each_unit(const Graph& graph, Assignment& assignment, const Visit& visit) {
  if (!assignment.knows(graph)) return;
  for (NodeId id : graph.nodes()) {
    if (NodeAssignment& assigned = assignment.of(graph, id); assigned.unit) visit(*assigned.unit, assigned.provider);
    Graph::for_each_subgraph(graph.node(id), [&](const Graph& subgraph) { for_each_unit(subgraph, assignment, visit); });
  }
}

}  // namespace

Tensor Alignment::copy_of(const Tensor& tensor, bool is_shared) {
  Copy& known = copies_[{tensor.raw(), tensor.bytes()}];
  std::shared_ptr<const void> memory = known.memory.lock();
  if (!memory) {
    memory = copied(tensor);
    if (is_shared) memory = share_bytes(std::move(memory), tensor.bytes());
    known = {tensor, memory};
  }
  return Tensor(tensor.dtype(), tensor.shape(), const_cast<void*>(memory.get()), memory);
}

void Alignment::for_placement(Graph& graph) {
  align_constants(
      graph, [&](const Tensor& tensor) { return copy_of(tensor, false); },
      [](const Graph& of, ValueId id) { return is_row_table(of, id) || is_weights(of, id); });
}

void Alignment::for_passes(Graph& graph) {
  align_constants(
      graph, [&](const Tensor& tensor) { return copy_of(tensor, false); },
      [](const Graph& of, ValueId id) { return is_row_table(of, id); });
}

void Alignment::for_kernels(Graph& graph, Assignment& assignment, std::span<const std::shared_ptr<Provider>> providers) {
  const auto copy = [&](const Tensor& tensor) { return copy_of(tensor, true); };
  const int cpu = static_cast<int>(providers.size()) - 1;
  align_constants(graph, copy, [&](const Graph& of, ValueId id) {
    const auto is_of_cpu = [&](NodeId consumer) { return assignment.knows(of) && assignment.of(of, consumer).provider == cpu; };
    return is_row_table(of, id) && std::ranges::all_of(of.value(id).consumers, is_of_cpu);
  });
  for_each_unit(graph, assignment, [&](Unit& unit, int provider) {
    if (unit.drops_constants && providers[static_cast<size_t>(provider)]->reads_any_address()) return;
    align_constants(*unit.body, copy, [](const Graph&, ValueId) { return false; });
  });
}

}  // namespace rh
