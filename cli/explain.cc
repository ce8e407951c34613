#include <roundhouse/roundhouse_c_api.h>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <map>
#include <optional>
#include <stdexcept>

#include "command.h"
#include "explain_page.h"
#include "model_options.h"
#include "node_costs.h"
#include "print.h"
#include "runner.h"
#include "system.h"
#include "terminal.h"
#include "words.h"

namespace rh::cli {

namespace {

using nlohmann::json;

json explanation(const ModelOptions& options) {
  Ort::AllocatorWithDefaultOptions allocator;
  char* text = nullptr;
  const Ort::SessionOptions session = options.settings.options();
  Ort::ThrowOnError(RhExplainModel(environment(), as_path(options.model).c_str(), session, allocator, &text));
  return json::parse(Ort::AllocatedStringPtr(text, Ort::detail::AllocatedFree(allocator)).get());
}

/// "Conv 52, Relu 30, 4 others 12", the most frequent first.
std::string counts_text(const std::map<std::string, size_t>& counts, size_t most) {
  std::vector<std::pair<std::string, size_t>> list(counts.begin(), counts.end());
  std::stable_sort(list.begin(), list.end(), [](const auto& a, const auto& b) { return a.second > b.second; });
  std::string text;
  size_t others = 0;
  for (size_t i = 0; i < list.size(); ++i) {
    if (i >= most) {
      others += list[i].second;
    } else {
      text += (text.empty() ? "" : ", ") + list[i].first + " " + std::to_string(list[i].second);
    }
  }
  return others ? text + ", others " + std::to_string(others) : text;
}

std::string operator_of(const json& node) {
  const std::string domain = node["domain"];
  return (domain.empty() ? "" : domain + "::") + node["op_type"].get<std::string>();
}

bool counts(const json& node) { return node["function"].get<std::string>().empty(); }

void print_providers(const Globals& globals, const json& report) {
  std::map<std::string, std::map<std::string, size_t>> what;  // by provider or fate: operators, or passes
  std::map<std::string, size_t> totals;
  for (const json& node : report["nodes"]) {
    if (!counts(node)) continue;
    const std::string fate = node["fate"];
    const std::string key = fate == "runs" ? node["provider"].get<std::string>() : "(" + fate + ")";
    const std::string pass = node["pass"];
    ++what[key][fate == "removed" && !pass.empty() ? pass : operator_of(node)];
    ++totals[key];
  }
  Table table({{.title = "provider"},
               {.title = "nodes", .right = true},
               {.title = "share", .right = true},
               {.title = "operators, or passes that removed them", .elastic = true}});
  const double nodes = report["counts"]["nodes"].get<double>();
  std::vector<std::string> keys = report["providers"];
  for (const char* fate : {"(removed)", "(divided)", "(unassigned)"}) {
    if (totals.contains(fate)) keys.emplace_back(fate);
  }
  for (const std::string& key : keys) {
    const double count = static_cast<double>(totals[key]);
    char share[16];
    std::snprintf(share, sizeof share, "%.1f %%", nodes > 0 ? 100 * count / nodes : 0.0);
    table.add({key, std::to_string(totals[key]), share, counts_text(what[key], 6)}, key == "(unassigned)" ? Style::bad : Style::plain);
  }
  table.print(globals);
}

/// Nodes refused by one provider for the same reason.
struct RefusalGroup {
  std::map<std::string, size_t> operators;
  size_t nodes = 0;
  std::string example;
};

void print_refusals(const Globals& globals, const json& report, size_t top) {
  std::map<std::vector<std::string>, RefusalGroup> groups;
  for (const json& node : report["nodes"]) {
    for (const json& refusal : node["refusals"]) {
      if (refusal["code"] == "claimed_earlier") continue;  // the other provider's nodes say it
      RefusalGroup& group = groups[{refusal["provider"], refusal["code"], refusal["reason"]}];
      ++group.operators[operator_of(node)];
      if (group.nodes++ == 0) group.example = node["node"];
    }
  }
  if (groups.empty()) return;
  std::vector<std::pair<std::vector<std::string>, RefusalGroup>> list(groups.begin(), groups.end());
  std::stable_sort(list.begin(), list.end(), [](const auto& a, const auto& b) { return a.second.nodes > b.second.nodes; });
  std::printf("\n");
  Table table({{.title = "not on"},
               {.title = "code"},
               {.title = "nodes", .right = true},
               {.title = "operators", .elastic = true},
               {.title = "such as", .elastic = true},
               {.title = "reason", .elastic = true}});
  for (size_t i = 0; i < std::min(top, list.size()); ++i) {
    const auto& [key, group] = list[i];
    table.add({key[0], key[1], std::to_string(group.nodes), counts_text(group.operators, 3), group.example, key[2]});
  }
  table.print(globals);
  if (list.size() > top) std::printf("and %zu more reasons; --top shows them\n", list.size() - top);
}

void print_copies(const Globals& globals, const json& report, size_t top) {
  const json& copies = report["copies"];
  if (copies.empty()) return;
  std::printf("\n");
  Table table({{.title = "copied value", .elastic = true}, {.title = "from"}, {.title = "to"}, {.title = "because", .elastic = true}});
  for (size_t i = 0; i < std::min(top, copies.size()); ++i)
    table.add({copies[i]["value"], copies[i]["from"], copies[i]["to"], copies[i]["cause"]});
  table.print(globals);
  if (copies.size() > top) std::printf("and %zu more\n", copies.size() - top);
}

void print_nodes(const Globals& globals, const json& report) {
  std::printf("\n");
  Table table({{.title = "node", .elastic = true},
               {.title = "operator"},
               {.title = "provider"},
               {.title = "runs as, or why not", .elastic = true}});
  for (const json& node : report["nodes"]) {
    const bool runs = node["fate"] == "runs";
    const std::string variant = node.value("variant", "");
    const std::string way = variant.empty() ? "" : " (" + variant + ")";
    table.add(
        {node["node"], operator_of(node), node["provider"],
         runs ? node["kernel"].get<std::string>() + way + " " + node["runs_as"].get<std::string>() : node["reason"].get<std::string>()});
  }
  table.print(globals);
}

/// In which way each node computes, as the session that was made says: its rows are those of the report.
void add_variants(const Ort::Session& session, json& report) {
  const json made = report_of(session);
  for (size_t r = 0; r < report["nodes"].size(); ++r) report["nodes"][r]["variant"] = made["nodes"][r]["variant"];
}

void print_values(const char* title, const json& report, const json& values) {
  std::string text;
  for (const json& value : values) {
    const json known = value < 0 ? json{{"name", "(left out)"}, {"type", ""}} : report["graph"]["values"][value.get<size_t>()];
    text += "\n    " + known["name"].get<std::string>() + "  " + known["type"].get<std::string>();
  }
  if (!text.empty()) std::printf("  %s%s\n", title, text.c_str());
}

void print_fact(const char* title, const std::string& text) {
  if (!text.empty()) std::printf("  %-12s %s\n", title, text.c_str());
}

void print_node(const Globals& globals, const json& report, size_t row) {
  const json& node = report["nodes"][row];
  const json& wires = report["graph"]["nodes"][row];
  std::printf("%s\n", styled(globals, Style::bold, node["node"].get<std::string>()).c_str());
  print_fact("operator", operator_of(node) + "(" + node["opset"].dump() + ")");
  print_fact("provider", node["fate"] == "runs" ? node["provider"] : node["reason"]);
  print_fact("computed by", node["kernel"]);
  print_fact("variant", node.value("variant", ""));
  print_fact("runs as", node["runs_as"]);
  print_fact("unit", node["unit"]);
  print_fact("function", node["function"]);
  std::string fused;
  for (const json& name : node["fused_from"]) fused += (fused.empty() ? "" : ", ") + name.get<std::string>();
  print_fact("fused from", fused);
  for (const json& refusal : node["refusals"]) {
    print_fact("not on", refusal["provider"].get<std::string>() + ": " + refusal["reason"].get<std::string>() + " (" +
                             refusal["code"].get<std::string>() + ")");
  }
  if (wires.is_null()) return;
  if (wires.contains("inside")) print_fact("inside of", wires["inside"]);
  print_values("inputs", report, wires["inputs"]);
  print_values("outputs", report, wires["outputs"]);
  if (!wires["attributes"].empty()) std::printf("  attributes\n");
  for (const auto& [name, text] : wires["attributes"].items()) std::printf("    %s = %s\n", name.c_str(), text.get<std::string>().c_str());
}

struct Explain {
  ModelOptions options;
  std::string node, html, profile;
  bool run = false, nodes = false, variants = false;
  size_t top = 12;

  int operator()(const Globals& globals) const {
    json report = explanation(options);
    if (run || (variants && report["counts"]["unassigned"] == 0)) {
      Ort::Session session = options.session();
      add_variants(session, report);
      if (run) costs(session).add_to(report);
    }
    if (!run && (!profile.empty() || !html.empty())) (profile.empty() ? NodeCosts() : NodeCosts::of_trace(profile)).add_to(report);
    if (!html.empty()) write_page(report);
    if (!node.empty()) return show_node(globals, report);
    if (globals.json) {
      report.erase("graph");
      std::printf("%s\n", json_text(report).c_str());
    } else {
      print(globals, report);
    }
    return report["counts"]["unassigned"] > 0 ? kDiffers : 0;
  }

 private:
  NodeCosts costs(Ort::Session& session) const {
    constexpr size_t kRuns = 3;
    const std::vector<NamedValue> inputs = options.values(session);
    Runner runner(session, inputs);
    runner.run();
    std::vector<Recording> recordings(kRuns);
    for (Recording& recording : recordings) runner.run_watched([&](const RhNodeRun& node) { recording.visit(node); });
    return NodeCosts::of(recordings);
  }

  void write_page(const json& report) const {
    std::ofstream stream(as_path(html), std::ios::binary);
    stream << explain_page(report);
    if (!stream.flush()) throw std::runtime_error("--html " + html + ": cannot be written");
  }

  int show_node(const Globals& globals, const json& report) const {
    json found = json::array();
    std::vector<std::string> names;
    for (size_t r = 0; r < report["nodes"].size(); ++r) {
      names.push_back(report["nodes"][r]["node"]);
      if (names.back() != node) continue;
      if (!globals.json) print_node(globals, report, r);
      found.push_back(report["nodes"][r]);
      found.back()["graph"] = report["graph"]["nodes"][r];
    }
    if (found.empty()) {
      throw std::runtime_error("--node " + node + ": the model has no node of that name; the nearest is '" + nearest(node, names) + "'");
    }
    if (globals.json) std::printf("%s\n", json_text({{"nodes", found}}).c_str());
    return 0;
  }

  void print(const Globals& globals, const json& report) const {
    const std::string precision = report["precision"];
    std::printf("%s: %s nodes%s\n\n", options.model.c_str(), report["counts"]["nodes"].dump().c_str(),
                precision == "fp32" ? "" : (", precision " + precision).c_str());
    print_providers(globals, report);
    print_refusals(globals, report, top);
    print_copies(globals, report, top);
    if (nodes) print_nodes(globals, report);
    if (!html.empty()) std::printf("\nthe graph is drawn in %s\n", html.c_str());
  }
};

}  // namespace

Command declare_explain(CLI::App& app, const Globals& globals) {
  auto explain = std::make_shared<Explain>();
  explain->options.declare(app);
  app.add_option("--node", explain->node, "Everything about the nodes of this name");
  app.add_flag("--nodes", explain->nodes, "List every node");
  app.add_flag("--variants", explain->variants, "Make the kernels as well, and say in which way each node computes");
  app.add_option("--html", explain->html, "Write a page that draws the graph to this file");
  auto* profile = app.add_option("--profile", explain->profile, "A trace of `profile` with the times for the page");
  app.add_flag("--run", explain->run, "Run the model on the inputs for these times")->excludes(profile);
  app.add_option("--top", explain->top, "Rows of each table")->check(CLI::Range(0, 1000000));
  return [explain, &globals] { return (*explain)(globals); };
}

}  // namespace rh::cli
