#include "measure.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <mutex>
#include <thread>

namespace rh::cli {

namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point begin) { return std::chrono::duration<double>(Clock::now() - begin).count(); }

/// What the threads of a measurement share.
struct Work {
  Runner& runner;
  const MeasureOptions& options;
  Clock::time_point begin = Clock::now();
  std::atomic<int> started{0};
  std::mutex mutex;
  Measurement result;
  std::exception_ptr error;

  bool next() {
    const int at = started.fetch_add(1);
    return options.runs > 0 ? at < options.runs : at < 3 || seconds_since(begin) < options.seconds;
  }
  double done() const {
    return options.runs > 0 ? static_cast<double>(started) / options.runs : seconds_since(begin) / std::max(options.seconds, 1e-9);
  }
  void work(const std::function<void(double)>& progress) {
    std::vector<double> times;
    try {
      while (next()) {
        double ms = 0;
        runner.run(&ms);
        times.push_back(ms);
        if (progress) progress(done());
      }
    } catch (...) {
      const std::lock_guard lock(mutex);
      error = std::current_exception();
      started = 1 << 30;
    }
    const std::lock_guard lock(mutex);
    result.ms.insert(result.ms.end(), times.begin(), times.end());
  }
};

}  // namespace

void Measurement::add(const Measurement& other) {
  ms.insert(ms.end(), other.ms.begin(), other.ms.end());
  elapsed_s += other.elapsed_s;
}

Measurement measure(Runner& runner, const MeasureOptions& options, const std::function<void(double)>& progress) {
  Work work{runner, options};
  std::vector<std::thread> others;
  for (int i = 1; i < options.concurrency; ++i) others.emplace_back([&] { work.work({}); });
  work.work(progress);
  for (std::thread& thread : others) thread.join();
  work.result.elapsed_s = seconds_since(work.begin);
  if (work.error) std::rethrow_exception(work.error);
  return std::move(work.result);
}

double percentile(std::vector<double> values, double p) {
  if (values.empty()) return 0;
  const double rank = std::ceil(p * static_cast<double>(values.size()));
  const size_t at = std::min(values.size(), static_cast<size_t>(std::max(rank, 1.0))) - 1;
  std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(at), values.end());
  return values[at];
}

nlohmann::json to_json(const MeasureOptions& options) {
  return {{"runs", options.runs}, {"seconds", options.seconds}, {"concurrency", options.concurrency}};
}

MeasureOptions measure_options(const nlohmann::json& json) { return {json.at("runs"), json.at("seconds"), json.at("concurrency")}; }

nlohmann::json to_json(const Measurement& measurement) { return {{"ms", measurement.ms}, {"elapsed_s", measurement.elapsed_s}}; }

Measurement measurement(const nlohmann::json& json) { return {json.at("ms").get<std::vector<double>>(), json.at("elapsed_s")}; }

}  // namespace rh::cli
