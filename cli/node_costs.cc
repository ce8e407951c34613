#include "node_costs.h"

#include <algorithm>
#include <fstream>
#include <map>
#include <stdexcept>

#include "system.h"

namespace rh::cli {

namespace {

using nlohmann::json;

std::string key_of(const std::string& op_type, const std::string& name) { return op_type + "\n" + name; }

}  // namespace

void NodeCosts::add(const json& originals, double ms) {
  for (const json& original : originals) ms_[key_of(original.at("operator"), original.at("name"))] += ms;
}

void NodeCosts::add_value(const std::string& name, double bytes) {
  double& most = bytes_[name];
  most = std::max(most, bytes);
}

NodeCosts NodeCosts::of_trace(const std::string& path) {
  std::ifstream stream(as_path(path), std::ios::binary);
  if (!stream) throw std::runtime_error("--profile " + path + ": there is no such file");
  const json trace = json::parse(stream, nullptr, false);
  NodeCosts costs;
  try {
    for (const json& event : trace.at("traceEvents")) {
      if (event.value("cat", "") == "run") ++costs.runs_;
      const json args = event.value("args", json::object());
      if (!args.contains("originals")) continue;
      costs.add(args.at("originals"), args.at("self_ms"));
      for (size_t i = 0; i < args.at("output_names").size(); ++i) costs.add_value(args["output_names"][i], args.at("bytes").at(i));
    }
  } catch (const json::exception&) {
    costs.runs_ = 0;
  }
  if (costs.runs_ > 0 && !costs.ms_.empty()) return costs;
  throw std::runtime_error("--profile " + path +
                           ": is no trace of this version's `roundhouse profile --trace`; make one of the same model");
}

NodeCosts NodeCosts::of(const std::vector<Recording>& recordings) {
  NodeCosts costs;
  costs.runs_ = static_cast<double>(recordings.size());
  for (const Recording& recording : recordings) {
    for (const RecordedNode& node : recording.nodes()) {
      costs.add(node.originals, node.self_ms);
      for (const RecordedTensor& tensor : node.outputs) costs.add_value(tensor.name, static_cast<double>(tensor.bytes));
    }
  }
  return costs;
}

void NodeCosts::add_to(json& report) const {
  for (size_t r = 0; r < report["nodes"].size(); ++r) {
    json& row = report["nodes"][r];
    const auto ms = ms_.find(key_of(row["op_type"], row["node"]));
    if (ms != ms_.end() && runs_ > 0) row["ms"] = ms->second / runs_;
    const json& wires = report["graph"]["nodes"][r];
    if (wires.is_null()) continue;
    double bytes = 0;
    for (const json& output : wires["outputs"]) {
      if (output < 0) continue;
      const json& value = report["graph"]["values"][output.get<size_t>()];
      const auto measured = bytes_.find(value["name"]);
      bytes += measured != bytes_.end() ? measured->second : value.value("bytes", 0.0);
    }
    row["bytes"] = bytes;
  }
  report["costs"] = {{"times", !ms_.empty()}, {"runs", runs_}};
}

}  // namespace rh::cli
