// What a session does with its model, as JSON.
#include <map>
#include <nlohmann/json.hpp>

#include "abi/allocator.h"
#include "base/cpu_features.h"
#include "capi/amx_json.h"
#include "capi/guard.h"
#include "capi/placement_json.h"
#include "capi/session.h"
#include "roundhouse/roundhouse_c_api.h"

namespace rh::capi {

namespace {

using nlohmann::json;

json to_json(const SessionStatistics& statistics) {
  return {{"nodes", statistics.nodes},
          {"plan_bindings", statistics.plan_bindings},
          {"planned_peak_bytes", statistics.planned_peak_bytes},
          {"frame_bytes", statistics.frame_bytes},
          {"late_allocations", statistics.late_allocations},
          {"runs", statistics.runs},
          {"input_copies", statistics.input_copies},
          {"output_copies", statistics.output_copies},
          {"step_copies", statistics.step_copies},
          {"copied_bytes", statistics.copied_bytes},
          {"constant_bytes", statistics.constant_bytes},
          {"memory_bytes", statistics.memory_bytes},
          {"read_ms", statistics.read_ms},
          {"passes_ms", statistics.passes_ms},
          {"partition_ms", statistics.partition_ms},
          {"compile_ms", statistics.compile_ms}};
}

/// The way in which a node computes goes into the rows of the nodes that it stands for; where there are several, into a list for tuning.
void add_variants(const Session& session, json& report) {
  std::map<std::string, std::string_view> ways;
  report["variants"] = json::array();
  for (const auto& [node, chosen] : session.variants()) {
    ways.emplace(node, chosen.variant);
    if (chosen.problem.empty()) continue;
    report["variants"].push_back({{"node", node}, {"problem", chosen.problem}, {"variant", chosen.variant}, {"variants", chosen.variants}});
  }
  for (json& row : report["nodes"]) {
    const auto way = ways.find(row["runs_as"].get<std::string>());
    row["variant"] = way == ways.end() ? "" : way->second;
  }
}

json report_of(const Session& session) {
  json report = placement_json(session.placement_record(), session.copies());
  report["providers"] = session.providers();
  report["missing_providers"] = json::array();
  for (const MissingProvider& missing : session.missing_providers()) {
    report["missing_providers"].push_back({{"provider", missing.name}, {"reason", missing.reason}});
  }
  report["statistics"] = to_json(session.statistics());
  report["machine"] = machine_class(cpu_features());
  report["amx"] = amx_json();
  report["threads"] = session.threads();
  report["precision"] = precision_name(precision_of(session.options()));
  add_variants(session, report);
  return report;
}

}  // namespace

}  // namespace rh::capi

OrtStatus* ORT_API_CALL RhSessionGetReport(const OrtSession* session, OrtAllocator* allocator, char** json) {
  using namespace rh::capi;
  return guard([&] {
    char*& out = checked(json, "json");
    const nlohmann::json report = report_of(session_of(session));
    out = rh::abi::copy_string(checked(allocator, "allocator"), report.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
  });
}

OrtStatus* ORT_API_CALL RhSessionGetProvider(const OrtSession* session, size_t index, const char** name) {
  using namespace rh::capi;
  return guard([&] {
    const char*& out = checked(name, "name");
    const std::vector<std::string>& providers = session_of(session).providers();
    out = index < providers.size() ? providers[index].c_str() : nullptr;
  });
}
