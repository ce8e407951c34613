// What it takes to hand work to the threads of a warm pool and to wait for all of them: fork_join_bench [threads].
// A loop of one piece a thread, each of which ends once all have begun, so that every thread takes part; with no pause between the loops,
// and with one that is as long as a small operator takes in the caller. Counters: the least and the median of all loops.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <vector>

#include "base/thread_pool.h"

namespace {

using Clock = std::chrono::steady_clock;

double seconds(Clock::duration d) { return std::chrono::duration<double>(d).count(); }

void fork_join(benchmark::State& state, const rh::Parallel& parallel) {
  const double pause = 1e-6 * static_cast<double>(state.range(0));
  const int64_t threads = parallel.threads();
  std::vector<double> times;
  times.reserve(static_cast<size_t>(state.max_iterations));
  for ([[maybe_unused]] auto _ : state) {
    const auto begin = Clock::now();
    while (seconds(Clock::now() - begin) < pause) {
    }
    std::atomic<int64_t> begun{0};
    const auto start = Clock::now();
    parallel.for_pieces(threads, [&](int64_t) {
      begun.fetch_add(1);
      while (begun.load() < threads) {
      }
    });
    times.push_back(seconds(Clock::now() - start));
    state.SetIterationTime(times.back());
  }
  std::sort(times.begin(), times.end());
  state.counters["least_us"] = 1e6 * times.front();
  state.counters["median_us"] = 1e6 * times[times.size() / 2];
}

}  // namespace

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  rh::ThreadPool pool({.threads = argc > 1 ? std::atoi(argv[1]) : 0});
  const rh::Parallel parallel(&pool, 0);
  benchmark::RegisterBenchmark("fork_join", [&](benchmark::State& state) { fork_join(state, parallel); })
      ->ArgName("pause_us")
      ->Arg(0)
      ->Arg(10)
      ->UseManualTime()
      ->Unit(benchmark::kMicrosecond)
      ->Iterations(20000);
  benchmark::RunSpecifiedBenchmarks();
}
