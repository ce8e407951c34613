#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <numeric>

#include "command.h"
#include "model_options.h"
#include "print.h"

namespace rh::cli {

namespace {

using Clock = std::chrono::steady_clock;

double ms_since(Clock::time_point begin) { return std::chrono::duration<double, std::milli>(Clock::now() - begin).count(); }

int64_t peak_bytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<int64_t>(usage.ru_maxrss) * 1024;
}

struct Bench {
  ModelOptions options;
  int runs = 0;
  int warmup = 3;
  double seconds = 3;

  void operator()(const Globals& globals) const {
    const auto load_begin = Clock::now();
    Ort::Session session = options.session();
    const double load_ms = ms_since(load_begin);
    const int64_t loaded_bytes = peak_bytes();
    const std::vector<NamedValue> inputs = options.values(session);
    const std::vector<std::string> wanted = session.GetOutputNames();
    std::vector<const char*> in_names, out_names;
    std::vector<const OrtValue*> values;
    for (const NamedValue& input : inputs) {
      in_names.push_back(input.first.c_str());
      values.push_back(input.second);
    }
    for (const std::string& name : wanted) out_names.push_back(name.c_str());
    const auto once = [&] {
      std::vector<OrtValue*> raw(wanted.size(), nullptr);
      const auto begin = Clock::now();
      Ort::ThrowOnError(Ort::GetApi().Run(session, nullptr, in_names.data(), values.data(), values.size(), out_names.data(),
                                          out_names.size(), raw.data()));
      const double ms = ms_since(begin);
      for (OrtValue* value : raw) Ort::Value release(value);
      return ms;
    };
    const double first_ms = once();
    for (int i = 1; i < warmup; ++i) once();
    std::vector<double> times;
    const auto begin = Clock::now();
    while (runs > 0 ? static_cast<int>(times.size()) < runs : times.size() < 3 || ms_since(begin) < seconds * 1000) times.push_back(once());
    std::sort(times.begin(), times.end());
    const auto percentile = [&](double p) {
      return times[std::min(times.size() - 1, static_cast<size_t>(p * static_cast<double>(times.size())))];
    };
    const nlohmann::json report{
        {"model", options.model},
        {"runs", times.size()},
        {"load_ms", load_ms},
        {"first_run_ms", first_ms},
        {"latency_ms",
         {{"min", times.front()},
          {"mean", std::accumulate(times.begin(), times.end(), 0.0) / static_cast<double>(times.size())},
          {"p50", percentile(0.5)},
          {"p90", percentile(0.9)},
          {"p99", percentile(0.99)},
          {"max", times.back()}}},
        {"memory_bytes", {{"peak_after_load", loaded_bytes}, {"peak", peak_bytes()}}},
    };
    if (globals.json) {
      std::printf("%s\n", json_text(report).c_str());
      return;
    }
    const auto& latency = report["latency_ms"];
    const auto ms = [&](const char* key) { return latency[key].get<double>(); };
    std::printf("load       %.1f ms, first run %.3f ms\n", load_ms, first_ms);
    std::printf("latency    min %.3f  mean %.3f  p50 %.3f  p90 %.3f  p99 %.3f  max %.3f ms over %zu runs\n", ms("min"), ms("mean"),
                ms("p50"), ms("p90"), ms("p99"), ms("max"), times.size());
    std::printf("memory     peak %s, after loading %s\n", bytes_text(static_cast<double>(peak_bytes())).c_str(),
                bytes_text(static_cast<double>(loaded_bytes)).c_str());
  }
};

}  // namespace

Command declare_bench(CLI::App& app, const Globals& globals) {
  auto bench = std::make_shared<Bench>();
  bench->options.declare(app);
  app.add_option("-n,--runs", bench->runs, "Runs that count; 0: as many as fit into --seconds")->check(CLI::Range(0, 1000000000));
  app.add_option("--seconds", bench->seconds, "How long to measure")->check(CLI::Range(0.0, 86400.0));
  app.add_option("--warmup", bench->warmup, "Runs before, the first one timed by itself")->check(CLI::Range(1, 1000000000));
  return [bench, &globals] { (*bench)(globals); };
}

}  // namespace rh::cli
