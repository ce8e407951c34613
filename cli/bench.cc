#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <numeric>
#include <optional>
#include <thread>

#include "command.h"
#include "measure.h"
#include "model_options.h"
#include "peer.h"
#include "print.h"
#include "system.h"
#include "terminal.h"

namespace rh::cli {

namespace {

using Clock = std::chrono::steady_clock;

nlohmann::json latency_of(const Measurement& m) {
  const double sum = std::accumulate(m.ms.begin(), m.ms.end(), 0.0);
  return {{"min", percentile(m.ms, 0)},    {"mean", sum / static_cast<double>(m.ms.size())},
          {"p50", percentile(m.ms, 0.5)},  {"p90", percentile(m.ms, 0.9)},
          {"p95", percentile(m.ms, 0.95)}, {"p99", percentile(m.ms, 0.99)},
          {"max", percentile(m.ms, 1)}};
}

struct Bench {
  ModelOptions options;
  MeasureOptions work;
  int warmup = 3;
  std::string peer;
  int rounds = 5;

  int operator()(const Globals& globals) const {
    const auto load_begin = Clock::now();
    Ort::Session session = options.session();
    const double load_ms = std::chrono::duration<double, std::milli>(Clock::now() - load_begin).count();
    const int64_t loaded_bytes = peak_memory_bytes();
    const std::vector<NamedValue> inputs = options.values(session);
    Runner runner(session, inputs);
    double first_ms = 0;
    runner.run(&first_ms);
    for (int i = 1; i < warmup; ++i) runner.run();
    nlohmann::json report{{"model", options.model}, {"load_ms", load_ms}, {"first_run_ms", first_ms}};
    const Measurement ours = peer.empty() ? alone(runner) : beside_peer(runner, inputs, report);
    report["runs"] = ours.ms.size();
    report["concurrency"] = work.concurrency;
    report["latency_ms"] = latency_of(ours);
    report["runs_per_second"] = ours.runs_per_second();
    const nlohmann::json statistics = report_of(session)["statistics"];
    report["memory_bytes"] = {{"peak_after_load", loaded_bytes},
                              {"peak", peak_memory_bytes()},
                              {"weights", statistics["constant_bytes"]},
                              {"planned_peak", statistics["planned_peak_bytes"]}};
    if (globals.json) {
      std::printf("%s\n", json_text(report).c_str());
    } else {
      print(globals, report);
    }
    return 0;
  }

  Measurement alone(Runner& runner) const {
    Progress progress("measuring");
    return measure(runner, work, [&](double done) { progress.update(done); });
  }

  // Turns of both, each with a part of the work, so that what else the machine does falls on both alike.
  Measurement beside_peer(Runner& runner, const std::vector<NamedValue>& inputs, nlohmann::json& report) const {
    Peer other(peer, options.model, options.settings, inputs);
    other.measure({.runs = warmup});
    MeasureOptions part = work;
    part.seconds = work.seconds / rounds;
    part.runs = work.runs > 0 ? std::max(1, work.runs / rounds) : 0;
    Measurement ours, theirs;
    std::vector<double> ratios;
    Progress progress("measuring");
    for (int round = 0; round < rounds; ++round) {
      const Measurement a = turn([&] { return measure(runner, part); });
      progress.update((round + 0.5) / rounds);
      const Measurement b = turn([&] { return other.measure(part); });
      progress.update((round + 1.0) / rounds);
      ratios.push_back(percentile(b.ms, 0.5) / percentile(a.ms, 0.5));
      ours.add(a);
      theirs.add(b);
    }
    report["peer"] = {{"name", other.name()},
                      {"load_ms", other.load_ms()},
                      {"runs", theirs.ms.size()},
                      {"latency_ms", latency_of(theirs)},
                      {"runs_per_second", theirs.runs_per_second()},
                      {"speedup", {{"median", percentile(ratios, 0.5)}, {"min", percentile(ratios, 0)}, {"max", percentile(ratios, 1)}}}};
    return ours;
  }

  // Idle threads of the last turn still spin for a while.
  template <typename F>
  static Measurement turn(F&& body) {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    return body();
  }

  static void add_row(Table& table, const std::string& name, const nlohmann::json& side, double scale) {
    std::vector<std::string> cells = {name};
    for (const char* key : {"min", "mean", "p50", "p90", "p95", "p99", "max"})
      cells.push_back(number_text(side["latency_ms"][key].get<double>() * scale));
    const double rate = side["runs_per_second"];
    cells.push_back(rate < 1000 ? number_text(rate) : number_text(std::round(rate), 9));
    table.add(std::move(cells));
  }

  static void print(const Globals& globals, const nlohmann::json& r) {
    std::printf("load       %.1f ms, first run %.3f ms\n", r["load_ms"].get<double>(), r["first_run_ms"].get<double>());
    std::printf("memory     peak %s, after loading %s\n           weights %s, planned for intermediate tensors %s\n",
                bytes_text(r["memory_bytes"]["peak"]).c_str(), bytes_text(r["memory_bytes"]["peak_after_load"]).c_str(),
                bytes_text(r["memory_bytes"]["weights"]).c_str(), bytes_text(r["memory_bytes"]["planned_peak"]).c_str());
    double largest = r["latency_ms"]["max"];
    if (r.contains("peer")) largest = std::max(largest, r["peer"]["latency_ms"]["max"].get<double>());
    const bool fast = r["latency_ms"]["p50"] < 1.0 && largest < 10.0;  // a line holds numbers of microseconds to 10,000
    const double scale = fast ? 1000 : 1;
    std::printf("latency    in %s over %s runs%s\n\n", fast ? "µs" : "ms", r["runs"].dump().c_str(),
                r["concurrency"] == 1 ? "" : (", " + r["concurrency"].dump() + " at once").c_str());
    std::vector<Table::Column> columns = {{.title = "", .elastic = true}};
    for (const char* title : {"min", "mean", "p50", "p90", "p95", "p99", "max", "runs/s"}) columns.push_back({title, true, false});
    Table table(std::move(columns));
    add_row(table, "roundhouse", r, scale);
    if (r.contains("peer")) add_row(table, r["peer"]["name"], r["peer"], scale);
    table.print(globals);
    if (!r.contains("peer")) return;
    const nlohmann::json& speedup = r["peer"]["speedup"];
    const double median = speedup["median"];
    char text[160];
    std::snprintf(text, sizeof text, "%.2f times the speed of %s (by round %.2f to %.2f)\nits load   %.1f ms", median,
                  r["peer"]["name"].get<std::string>().c_str(), speedup["min"].get<double>(), speedup["max"].get<double>(),
                  r["peer"]["load_ms"].get<double>());
    std::printf("\n%s\n", styled(globals, median >= 1 ? Style::good : Style::warn, text).c_str());
  }
};

}  // namespace

Command declare_bench(CLI::App& app, const Globals& globals) {
  auto bench = std::make_shared<Bench>();
  bench->options.declare(app);
  app.add_option("-n,--runs", bench->work.runs, "Runs that count; 0: as many as fit into --seconds")->check(CLI::Range(0, 1000000000));
  app.add_option("--seconds", bench->work.seconds, "How long to measure")->check(CLI::Range(0.0, 86400.0));
  app.add_option("--warmup", bench->warmup, "Runs before, the first one timed by itself")->check(CLI::Range(1, 1000000000));
  app.add_option("-c,--concurrency", bench->work.concurrency, "Threads that run the one session at once")->check(CLI::Range(1, 1024));
  app.add_option("--peer", bench->peer, "Measure another library in turns: 'onnxruntime' or a path");
  app.add_option("--rounds", bench->rounds, "Turns of each library where there is a peer")->check(CLI::Range(1, 1000));
  return [bench, &globals] { return (*bench)(globals); };
}

}  // namespace rh::cli
