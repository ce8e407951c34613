#pragma once

#include "runner.h"

namespace rh::cli {

/// How long and how many at once.
struct MeasureOptions {
  int runs = 0;  ///< in all; 0: as many as fit into `seconds`, three at least
  double seconds = 3;
  int concurrency = 1;  ///< threads that run the session at once
};

struct Measurement {
  std::vector<double> ms;  ///< latency of each run
  double elapsed_s = 0;

  void add(const Measurement& other);
  double runs_per_second() const { return elapsed_s > 0 ? static_cast<double>(ms.size()) / elapsed_s : 0; }
};

/// Runs until the options are met; `progress` is told now and then how much of the work is done.
Measurement measure(Runner& runner, const MeasureOptions& options, const std::function<void(double)>& progress = {});

/// The nearest-rank percentile of values in any order; p in (0, 1].
double percentile(std::vector<double> values, double p);

nlohmann::json to_json(const MeasureOptions& options);
MeasureOptions measure_options(const nlohmann::json& json);
nlohmann::json to_json(const Measurement& measurement);
Measurement measurement(const nlohmann::json& json);

}  // namespace rh::cli
