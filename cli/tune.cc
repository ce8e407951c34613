#include <algorithm>
#include <cstdio>
#include <fstream>
#include <limits>
#include <map>
#include <memory>
#include <set>

#include "command.h"
#include "measure.h"
#include "model_options.h"
#include "print.h"
#include "recording.h"
#include "system.h"
#include "terminal.h"

namespace rh::cli {

namespace {

constexpr double kLeastGain = 0.03;  // by which another variant must be faster to be chosen

/// A session in which one variant is taken wherever it can be, and what its nodes took.
class Candidate {
 public:
  Candidate(const ModelOptions& options, const std::string& key, const std::string& value) : session_(open(options, key, value)) {
    report_ = report_of(session_);
    for (const auto& row : report_["variants"]) problems_[row["node"]] = row["problem"];
  }

  const nlohmann::json& report() const { return report_; }
  const Ort::Session& session() const { return session_; }
  void prepare(const std::vector<NamedValue>& inputs, int warmup) {
    runner_ = std::make_unique<Runner>(session_, inputs);
    for (int i = 0; i < warmup; ++i) runner_->run();
  }

  /// Runs once, and keeps the least that the nodes of each problem took together.
  void run_watched() {
    Recording recording;
    runner_->run_watched([&](const RhNodeRun& node) { recording.visit(node); });
    std::map<std::string, double> ms;
    for (const RecordedNode& node : recording.nodes()) {
      const auto problem = problems_.find(node.name);
      if (problem != problems_.end()) ms[problem->second] += node.self_ms;
    }
    for (const auto& [problem, time] : ms) keep_least(node_ms_, problem, time);
  }
  void run() {
    double ms = 0;
    runner_->run(&ms);
    run_ms_ = std::min(run_ms_, ms);
  }
  double ms_of(const std::string& problem) const {
    const auto at = node_ms_.find(problem);
    return at == node_ms_.end() ? std::numeric_limits<double>::infinity() : at->second;
  }
  double run_ms() const { return run_ms_; }

 private:
  static Ort::Session open(const ModelOptions& options, const std::string& key, const std::string& value) {
    SessionSettings settings = options.settings;
    if (!value.empty()) settings.config.push_back(key + "=" + value);
    return settings.open(options.model);
  }
  static void keep_least(std::map<std::string, double>& list, const std::string& key, double value) {
    const auto [at, added] = list.emplace(key, value);
    if (!added) at->second = std::min(at->second, value);
  }

  Ort::Session session_;
  nlohmann::json report_;
  std::map<std::string, std::string> problems_;  ///< by node
  std::unique_ptr<Runner> runner_;
  std::map<std::string, double> node_ms_;
  double run_ms_ = std::numeric_limits<double>::infinity();
};

struct Tune {
  ModelOptions options;
  std::string output;
  int runs = 20, warmup = 2;

  int operator()(const Globals& globals) const {
    Progress progress("tuning");
    std::map<std::string, std::unique_ptr<Candidate>> candidates;  // by variant; "" is the cost model's choice
    candidates.emplace("", std::make_unique<Candidate>(options, "", ""));
    const Candidate& plain = *candidates.at("");
    for (const std::string& name : alternatives(plain.report())) {
      candidates.emplace(name, std::make_unique<Candidate>(options, "roundhouse.variant", name));
    }
    const std::vector<NamedValue> inputs = options.values(plain.session());
    for (auto& [name, candidate] : candidates) candidate->prepare(inputs, warmup);
    for (int i = 0; i < runs; ++i) {
      for (auto& [name, candidate] : candidates) candidate->run_watched();
      progress.update(0.8 * (i + 1) / runs);
    }
    const nlohmann::json problems = choose(candidates);
    const std::string path = output.empty() ? options.model + ".tuning" : output;
    write(path, plain.report(), problems);
    nlohmann::json report{
        {"model", options.model}, {"tuning", path},      {"machine", plain.report()["machine"]}, {"threads", plain.report()["threads"]},
        {"runs", runs},           {"problems", problems}};
    verify(path, *candidates.at(""), inputs, report, progress);
    if (globals.json) {
      std::printf("%s\n", json_text(report).c_str());
    } else {
      print(globals, report);
    }
    return 0;
  }

  static std::set<std::string> alternatives(const nlohmann::json& report) {
    std::set<std::string> names;
    for (const auto& row : report["variants"]) {
      for (const std::string name : row["variants"]) {
        if (name != row["variant"].get<std::string>()) names.insert(name);
      }
    }
    return names;
  }

  static nlohmann::json choose(const std::map<std::string, std::unique_ptr<Candidate>>& candidates) {
    const Candidate& plain = *candidates.at("");
    std::set<std::string> seen;
    nlohmann::json problems = nlohmann::json::array();
    for (const auto& row : plain.report()["variants"]) {
      const std::string problem = row["problem"], usual = row["variant"];
      if (!seen.insert(problem).second) continue;
      nlohmann::json times{{usual, plain.ms_of(problem)}};
      std::string best = usual;
      for (const std::string name : row["variants"]) {
        if (name == usual) continue;
        const double ms = candidates.at(name)->ms_of(problem);
        times[name] = ms;
        if (ms < (1 - kLeastGain) * times[usual].get<double>() && ms < times[best].get<double>()) best = name;
      }
      problems.push_back({{"problem", problem}, {"usual", usual}, {"best", best}, {"ms", std::move(times)}});
    }
    return problems;
  }

  static void write(const std::string& path, const nlohmann::json& report, const nlohmann::json& problems) {
    std::ofstream file(as_path(path));
    file << "roundhouse tuning 1\nmachine " << report["machine"].get<std::string>() << "\nthreads " << report["threads"].get<int>() << "\n";
    for (const auto& row : problems) {
      if (row["best"] != row["usual"]) file << row["best"].get<std::string>() << " | " << row["problem"].get<std::string>() << "\n";
    }
    if (!file.flush()) throw std::runtime_error("'" + path + "' could not be written; name another file with --output");
  }

  // Whole runs with and without the file, in turns.
  void verify(const std::string& path, Candidate& plain, const std::vector<NamedValue>& inputs, nlohmann::json& report,
              Progress& progress) const {
    Candidate tuned(options, "roundhouse.tuning", path);
    tuned.prepare(inputs, warmup);
    for (int i = 0; i < runs; ++i) {
      plain.run();
      tuned.run();
      progress.update(0.8 + 0.2 * (i + 1) / runs);
    }
    report["run_ms"] = {{"usual", plain.run_ms()}, {"tuned", tuned.run_ms()}};
  }

  static void print(const Globals& globals, const nlohmann::json& r) {
    Table table({{.title = "problem", .elastic = true},
                 {.title = "usual"},
                 {.title = "ms", .right = true},
                 {.title = "best"},
                 {.title = "ms", .right = true}});
    size_t changed = 0;
    for (const auto& row : r["problems"]) {
      const std::string usual = row["usual"], best = row["best"];
      if (best == usual) continue;
      ++changed;
      table.add({row["problem"], usual, number_text(row["ms"][usual]), best, number_text(row["ms"][best])});
    }
    if (changed) table.print(globals);
    std::printf("%zu of %zu problems are faster in another way than the cost model's\n", changed, r["problems"].size());
    std::printf("run        %.3f ms, tuned %.3f ms\n", r["run_ms"]["usual"].get<double>(), r["run_ms"]["tuned"].get<double>());
    std::printf("written    %s (session option roundhouse.tuning)\n", r["tuning"].get<std::string>().c_str());
  }
};

}  // namespace

Command declare_tune(CLI::App& app, const Globals& globals) {
  auto tune = std::make_shared<Tune>();
  tune->options.declare(app);
  app.add_option("-o,--output", tune->output, "File for the choices; beside the model, with .tuning, if none is named");
  app.add_option("-n,--runs", tune->runs, "Runs of each variant")->check(CLI::Range(1, 100000));
  app.add_option("--warmup", tune->warmup, "Runs before")->check(CLI::Range(0, 100000));
  return [tune, &globals] { return (*tune)(globals); };
}

}  // namespace rh::cli
