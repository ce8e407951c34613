#include "capi/placement_json.h"

namespace rh::capi {

namespace {

using nlohmann::json;

std::string_view to_string(NodeFate fate) {
  switch (fate) {
    case NodeFate::runs: return "runs";
    case NodeFate::removed: return "removed";
    case NodeFate::divided: return "divided";
    case NodeFate::unassigned: return "unassigned";
  }
  return "removed";
}

json to_json(const NodePlacement& placement) {
  json refusals = json::array();
  for (const Refusal& refusal : placement.refusals) {
    refusals.push_back({{"provider", refusal.provider}, {"code", rh::to_string(refusal.code)}, {"reason", refusal.reason}});
  }
  return {{"node", placement.node},         {"op_type", placement.op_type},
          {"domain", placement.domain},     {"opset", placement.opset},
          {"function", placement.function}, {"fate", to_string(placement.fate)},
          {"provider", placement.provider}, {"kernel", placement.kernel},
          {"runs_as", placement.runs_as},   {"fused_from", placement.fused_from},
          {"unit", placement.unit},         {"pass", placement.pass},
          {"reason", placement.reason},     {"refusals", std::move(refusals)}};
}

json to_json(const PlacementCounts& counts) {
  json providers = json::object();
  for (const auto& [name, count] : counts.providers) providers[name] = count;
  return {{"nodes", counts.nodes},
          {"providers", std::move(providers)},
          {"removed", counts.removed},
          {"divided", counts.divided},
          {"unassigned", counts.unassigned}};
}

json to_json(const CopyPlacement& copy) {
  return {{"value", copy.value}, {"from", copy.from.to_string()}, {"to", copy.to.to_string()}, {"cause", copy.cause}};
}

}  // namespace

json placement_json(const PlacementRecord& record, const std::vector<CopyPlacement>& copies) {
  json nodes = json::array(), moves = json::array();
  for (const NodePlacement& placement : record.nodes()) nodes.push_back(to_json(placement));
  for (const CopyPlacement& copy : copies) moves.push_back(to_json(copy));
  return {{"nodes", std::move(nodes)}, {"counts", to_json(record.counts())}, {"copies", std::move(moves)}};
}

}  // namespace rh::capi
