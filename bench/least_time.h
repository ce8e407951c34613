#pragma once

#include <benchmark/benchmark.h>

#include <algorithm>
#include <chrono>
#include <limits>

namespace rh::bench {

/// Seconds of the quickest call of `body`, which is timed alone each time; for cases registered with UseManualTime().
template <typename Body>
double time_each(benchmark::State& state, const Body& body) {
  using Clock = std::chrono::steady_clock;
  double least = std::numeric_limits<double>::infinity();
  for ([[maybe_unused]] auto _ : state) {
    const auto start = Clock::now();
    body();
    const double took = std::chrono::duration<double>(Clock::now() - start).count();
    state.SetIterationTime(took);
    least = std::min(least, took);
  }
  return least;
}

}  // namespace rh::bench
