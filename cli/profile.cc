#include <algorithm>
#include <chrono>
#include <cstdio>
#include <limits>
#include <map>
#include <utility>

#include "command.h"
#include "finite_check.h"
#include "measure.h"
#include "memory_plan.h"
#include "model_options.h"
#include "print.h"
#include "recording.h"
#include "terminal.h"

namespace rh::cli {

namespace {

uint64_t now_ns() {
  return static_cast<uint64_t>(
      std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch()).count());
}

/// Times of a node, or of all nodes of an operator, over the runs.
struct Cost {
  size_t calls = 0;
  double ms = 0, flops = 0;
  bool flops_known = true;

  void add(const RecordedNode& node) {
    ++calls;
    ms += node.self_ms;
    flops_known &= node.flops >= 0;
    flops += node.flops;
  }
  nlohmann::json to_json(double runs, double total_ms) const {
    nlohmann::json json{{"calls", static_cast<double>(calls) / runs}, {"ms", ms / runs}, {"share", total_ms > 0 ? ms / total_ms : 0}};
    json["gflops_per_s"] = flops_known && ms > 0 ? nlohmann::json(flops / ms / 1e6) : nlohmann::json();
    return json;
  }
};

nlohmann::json by_cost(std::vector<nlohmann::json> list) {
  std::stable_sort(list.begin(), list.end(), [](const auto& a, const auto& b) { return a["ms"] > b["ms"]; });
  return list;
}

// Costs by operator and by node, the dearest first.
void add_costs(const std::vector<Recording>& recordings, nlohmann::json& report) {
  std::map<std::string, Cost> operators, nodes;
  std::map<std::string, const RecordedNode*> examples;
  double total_ms = 0;
  for (const Recording& recording : recordings) {
    for (const RecordedNode& node : recording.nodes()) {
      const std::string key = std::to_string(node.depth) + node.name;
      operators[node.op].add(node);
      nodes[key].add(node);
      examples.emplace(key, &node);
      total_ms += node.self_ms;
    }
  }
  const double runs = static_cast<double>(recordings.size());
  std::vector<nlohmann::json> operator_list, node_list;
  for (const auto& [name, cost] : operators) {
    operator_list.push_back(cost.to_json(runs, total_ms));
    operator_list.back()["operator"] = name;
  }
  for (const auto& [key, cost] : nodes) {
    const RecordedNode& node = *examples[key];
    node_list.push_back(cost.to_json(runs, total_ms));
    node_list.back().update({{"node", node.name},
                             {"operator", node.op},
                             {"provider", node.provider},
                             {"originals", node.originals},
                             {"output", node.outputs.empty() ? "" : node.outputs.front().type}});
  }
  report["nodes_ms"] = total_ms / runs;
  report["operators"] = by_cost(std::move(operator_list));
  report["nodes"] = by_cost(std::move(node_list));
}

// How each node computes, where its operator has several ways, and what each way of each operator costs.
void add_variants(const nlohmann::json& session, const std::vector<Recording>& recordings, nlohmann::json& report) {
  std::map<std::string, std::string> variants;
  for (const nlohmann::json& node : session["nodes"]) variants.emplace(node["runs_as"], node["variant"]);
  for (nlohmann::json& node : report["nodes"]) node["variant"] = variants[node["node"]];
  struct Way {
    Cost all;
    double least_ms = std::numeric_limits<double>::infinity();  ///< of a run
  };
  std::map<std::pair<std::string, std::string>, Way> ways;
  for (const Recording& recording : recordings) {
    std::map<std::pair<std::string, std::string>, double> run_ms;
    for (const RecordedNode& node : recording.nodes()) {
      const std::pair way{node.op, variants[node.name]};
      ways[way].all.add(node);
      run_ms[way] += node.self_ms;
    }
    for (const auto& [way, ms] : run_ms) ways[way].least_ms = std::min(ways[way].least_ms, ms);
  }
  const double runs = static_cast<double>(recordings.size()), total_ms = report["nodes_ms"].get<double>() * runs;
  std::vector<nlohmann::json> list;
  for (const auto& [way, cost] : ways) {
    list.push_back(cost.all.to_json(runs, total_ms));
    list.back().update({{"operator", way.first}, {"variant", way.second}, {"least_ms", cost.least_ms}});
  }
  report["variants"] = by_cost(std::move(list));
}

nlohmann::json memory_of(const Recording& recording, const MemoryTimeline& timeline, const nlohmann::json& statistics) {
  nlohmann::json tensors = nlohmann::json::array();
  for (const RecordedTensor& t : timeline.at_peak) {
    if (t.bytes > 0) tensors.push_back({{"name", t.name}, {"type", t.type}, {"bytes", t.bytes}});
  }
  return {{"peak_bytes", timeline.peak},
          {"peak_node", recording.nodes().empty() ? "" : recording.nodes()[timeline.peak_node].name},
          {"tensors_at_peak", std::move(tensors)},
          {"planned_peak_bytes", statistics["planned_peak_bytes"]},
          {"weight_bytes", statistics["constant_bytes"]}};
}

struct Profile {
  ModelOptions options;
  std::string trace_path = "roundhouse_trace.json";
  int runs = 10, warmup = 2;
  size_t top = 10;

  int operator()(const Globals& globals) const {
    const uint64_t start = now_ns();
    Trace trace(start);
    Ort::Session session = options.session();
    const uint64_t loaded = now_ns();
    const nlohmann::json load = report_of(session)["statistics"];
    trace.span("load", "load", start, loaded);
    add_load_phases(trace, start, load);
    const std::vector<NamedValue> inputs = options.values(session);
    Runner runner(session, inputs);
    Progress progress("profiling");
    std::vector<Recording> recordings(static_cast<size_t>(runs));
    std::vector<double> times;
    for (int i = 0; i < warmup; ++i) runner.run();
    for (Recording& recording : recordings) {
      const uint64_t begin = now_ns();
      times.emplace_back();
      runner.run_watched([&](const RhNodeRun& node) { recording.visit(node); }, &times.back());
      trace.span("run " + std::to_string(times.size()), "run", begin, now_ns());
      progress.update(static_cast<double>(times.size()) / runs);
    }
    const MemoryTimeline memory = recordings.back().memory(runner.outputs());
    add_runs(trace, recordings, memory);
    nlohmann::json report{{"model", options.model}, {"runs", runs}, {"trace", trace_path}};
    report["load_ms"] = static_cast<double>(loaded - start) / 1e6;
    report["run_ms"] = {{"min", percentile(times, 0)}, {"p50", percentile(times, 0.5)}, {"max", percentile(times, 1)}};
    add_costs(recordings, report);
    const nlohmann::json made = report_of(session);
    add_variants(made, recordings, report);
    report["memory"] = memory_of(recordings.back(), memory, made["statistics"]);
    report["memory"]["plan"] = memory_plan(session, inputs, {});
    trace.write(trace_path, {{"model", options.model}, {"settings", options.settings.text()}, {"version", RhGetVersionString()}});
    if (globals.json) {
      std::printf("%s\n", json_text(report).c_str());
    } else {
      print(globals, report);
    }
    return 0;
  }

  // One after the other from the start of the load, as long as the session says that they took.
  static void add_load_phases(Trace& trace, uint64_t at, const nlohmann::json& statistics) {
    for (const char* phase : {"read", "passes", "partition", "compile"}) {
      const double ms = statistics.value(std::string(phase) + "_ms", 0.0);
      const uint64_t end = at + static_cast<uint64_t>(ms * 1e6);
      trace.span(phase, "load", at, end);
      at = end;
    }
  }

  static void add_runs(Trace& trace, const std::vector<Recording>& recordings, const MemoryTimeline& memory) {
    for (const Recording& recording : recordings) {
      for (const RecordedNode& node : recording.nodes()) trace.node(node);
    }
    const auto& last = recordings.back().nodes();
    for (size_t i = 0; i < last.size(); ++i) trace.counter("live tensors", last[i].end_ns, memory.bytes[i]);
  }

  static std::string operator_text(const nlohmann::json& r) {
    const std::string variant = r["variant"];
    return r["operator"].get<std::string>() + (variant.empty() ? "" : ", " + variant);
  }

  static std::string percent(const nlohmann::json& share) {
    char text[16];
    std::snprintf(text, sizeof text, "%.1f %%", share.get<double>() * 100);
    return text;
  }

  void add_row(Table& table, std::vector<std::string> cells, const nlohmann::json& r) const {
    for (std::string& cell : std::vector<std::string>{number_text(r["calls"]), number_text(r["ms"], 3), percent(r["share"]),
                                                      r["gflops_per_s"].is_null() ? "" : number_text(r["gflops_per_s"], 3)}) {
      cells.push_back(std::move(cell));
    }
    table.add(std::move(cells));
  }

  void print(const Globals& globals, const nlohmann::json& r) const {
    std::printf("load       %.1f ms\n", r["load_ms"].get<double>());
    std::printf("run        min %.3f  p50 %.3f  max %.3f ms over %d runs\n           its nodes take %.3f ms\n",
                r["run_ms"]["min"].get<double>(), r["run_ms"]["p50"].get<double>(), r["run_ms"]["max"].get<double>(), runs,
                r["nodes_ms"].get<double>());
    const nlohmann::json& memory = r["memory"];
    std::printf("memory     weights %s, planned %s; peak of live tensors %s\n           after node %s\n",
                bytes_text(memory["weight_bytes"]).c_str(), bytes_text(memory["planned_peak_bytes"]).c_str(),
                bytes_text(memory["peak_bytes"]).c_str(), memory["peak_node"].get<std::string>().c_str());
    std::printf("trace      %s (open it in https://ui.perfetto.dev)\n\n", trace_path.c_str());
    const std::vector<Table::Column> numbers = {{.title = "calls", .right = true},
                                                {.title = "ms/run", .right = true},
                                                {.title = "share", .right = true},
                                                {.title = "GFLOP/s", .right = true}};
    const auto table_with = [&](std::vector<Table::Column> columns) {
      columns.insert(columns.end(), numbers.begin(), numbers.end());
      return Table(std::move(columns));
    };
    Table operators = table_with({{.title = "operator, variant", .elastic = true}});
    for (size_t i = 0; i < std::min(top, r["variants"].size()); ++i)
      add_row(operators, {operator_text(r["variants"][i])}, r["variants"][i]);
    operators.print(globals);
    std::printf("\n");
    Table nodes = table_with(
        {{.title = "node", .elastic = true}, {.title = "operator, variant", .elastic = true}, {.title = "output", .elastic = true}});
    for (size_t i = 0; i < std::min(top, r["nodes"].size()); ++i) {
      const nlohmann::json& node = r["nodes"][i];
      add_row(nodes, {node["node"], operator_text(node), node["output"]}, node);
    }
    nodes.print(globals);
    if (memory["tensors_at_peak"].empty()) return;
    std::printf("\n");
    Table tensors({{.title = "live at the peak", .elastic = true}, {.title = "type"}, {.title = "bytes", .right = true}});
    for (size_t i = 0; i < std::min<size_t>(5, memory["tensors_at_peak"].size()); ++i) {
      const nlohmann::json& t = memory["tensors_at_peak"][i];
      tensors.add({t["name"], t["type"], bytes_text(t["bytes"])});
    }
    tensors.print(globals);
  }
};

}  // namespace

Command declare_profile(CLI::App& app, const Globals& globals) {
  auto profile = std::make_shared<Profile>();
  profile->options.declare(app);
  app.add_option("--trace", profile->trace_path, "File for the trace, which Perfetto opens");
  app.add_option("-n,--runs", profile->runs, "Runs that count")->check(CLI::Range(1, 100000));
  app.add_option("--warmup", profile->warmup, "Runs before")->check(CLI::Range(0, 100000));
  app.add_option("--top", profile->top, "Rows of each table")->check(CLI::Range(0, 1000000));
  return [profile, &globals] { return (*profile)(globals); };
}

}  // namespace rh::cli
