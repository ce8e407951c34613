// Which provider took which nodes, as the interface tells it.
#include "base/known_words.h"
#include "capi/guard.h"
#include "capi/session.h"
#include "capi/table.h"
#include "settings/keys.h"

const std::vector<const OrtEpAssignedSubgraph*>& OrtSession::assigned_subgraphs() const {
  std::call_once(assigned_once_, [&] {
    for (rh::AssignedNodes& assigned : session->placement_record().assigned()) {
      auto subgraph = std::make_unique<OrtEpAssignedSubgraph>();
      subgraph->provider = std::move(assigned.provider);
      for (auto& node : assigned.nodes) subgraph->nodes.push_back({std::move(node.name), std::move(node.domain), std::move(node.op_type)});
      for (const OrtEpAssignedNode& node : subgraph->nodes) subgraph->node_list.push_back(&node);
      assigned_list_.push_back(subgraph.get());
      assigned_.push_back(std::move(subgraph));
    }
  });
  return assigned_list_;
}

namespace rh::capi {

namespace {

OrtStatus* give(const std::string& text, const char** out) {
  checked(out, "out") = text.c_str();
  return nullptr;
}

}  // namespace

OrtStatus* ORT_API_CALL Session_GetEpGraphAssignmentInfo(const OrtSession* session, const OrtEpAssignedSubgraph* const** subgraphs,
                                                         size_t* count) {
  return guard([&] {
    const auto*& out = checked(subgraphs, "ep_subgraphs");
    checked(count, "num_ep_subgraphs");
    if (!session_of(session).options().settings.tells_assignment) {
      fail(ErrorCode::fail, words::kTellsNoAssignment, kKeyOf<&Settings::tells_assignment>);
    }
    const auto& list = session->assigned_subgraphs();
    out = list.data();
    *count = list.size();
  });
}

OrtStatus* ORT_API_CALL EpAssignedSubgraph_GetEpName(const OrtEpAssignedSubgraph* subgraph, const char** out) {
  return guard([&] { return give(checked(subgraph, "ep_subgraph").provider, out); });
}

OrtStatus* ORT_API_CALL EpAssignedSubgraph_GetNodes(const OrtEpAssignedSubgraph* subgraph, const OrtEpAssignedNode* const** nodes,
                                                    size_t* count) {
  return guard([&] {
    const auto& list = checked(subgraph, "ep_subgraph").node_list;
    checked(nodes, "ep_nodes") = list.data();
    checked(count, "num_ep_nodes") = list.size();
  });
}

OrtStatus* ORT_API_CALL EpAssignedNode_GetName(const OrtEpAssignedNode* node, const char** out) {
  return guard([&] { return give(checked(node, "ep_node").name, out); });
}

OrtStatus* ORT_API_CALL EpAssignedNode_GetDomain(const OrtEpAssignedNode* node, const char** out) {
  return guard([&] { return give(checked(node, "ep_node").domain, out); });
}

OrtStatus* ORT_API_CALL EpAssignedNode_GetOperatorType(const OrtEpAssignedNode* node, const char** out) {
  return guard([&] { return give(checked(node, "ep_node").op_type, out); });
}

}  // namespace rh::capi
