#include "providers/plugin/graph_support.h"

#include <algorithm>

namespace {

/// The bits of the inputs, or outputs, that are on the host.
uint64_t host_bits(const std::map<size_t, OrtMemType>& memory) {
  uint64_t bits = 0;
  for (const auto& [index, type] : memory) {
    if (index < 64 && type != OrtMemTypeDefault) bits |= uint64_t{1} << index;
  }
  return bits;
}

}  // namespace

void OrtEpGraphSupportInfo::add(const OrtNode* const* nodes, size_t count, bool compiled, bool drop_constants) {
  rh::Claim claim{.nodes = {}, .kernel = {}, .compiled = compiled, .drop_constants = drop_constants};
  for (size_t i = 0; i < count; ++i) {
    if (!nodes[i]) rh::fail(rh::ErrorCode::invalid_argument, "node {} of {} is null", i, count);
    const rh::Node* own = graph.find_node(nodes[i]->id);
    if (!own || own->name != nodes[i]->name || own->op_type != nodes[i]->op_type) {
      rh::fail(rh::ErrorCode::invalid_argument, "node '{}' is of another graph than the one asked about", nodes[i]->name);
    }
    claim.nodes.push_back(nodes[i]->id);
  }
  if (!compiled) {
    claim.kernel = graph.node(claim.nodes.at(0)).op_text();
    if (const OrtKernelDef* def = find_kernel(*nodes[0])) {
      claim.host_inputs = host_bits(def->input_memory);
      claim.host_outputs = host_bits(def->output_memory);
    }
  }
  claims.push_back(std::move(claim));
}

const OrtKernelDef* OrtEpGraphSupportInfo::find_kernel(const OrtNode& node) const {
  const rh::Node* own = graph.find_node(node.id);
  if (!registry || !own || own->op_type != node.op_type) return nullptr;
  const auto match = rh::plugin::find_kernel(*registry, graph, *own);
  return match.entry ? &match.entry->def : nullptr;
}
