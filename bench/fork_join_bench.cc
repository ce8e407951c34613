// What it takes to hand work to the threads of a warm pool and to wait for all of them: fork_join_bench [threads].
// Prints microseconds a loop of one piece a thread, each of which ends once all have begun, so that every thread takes part: the least and
// the median of many, with no pause between them, and with one that is as long as a small operator takes in the caller.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "base/thread_pool.h"

namespace {

using Clock = std::chrono::steady_clock;

double microseconds(Clock::duration d) { return std::chrono::duration<double, std::micro>(d).count(); }

void time_loops(const rh::Parallel& parallel, double pause) {
  constexpr int kLoops = 20000;
  std::vector<double> times;
  times.reserve(kLoops);
  const int64_t threads = parallel.threads();
  for (int i = 0; i < kLoops; ++i) {
    const auto begin = Clock::now();
    while (microseconds(Clock::now() - begin) < pause) {
    }
    std::atomic<int64_t> begun{0};
    const auto start = Clock::now();
    parallel.for_pieces(threads, [&](int64_t) {
      begun.fetch_add(1);
      while (begun.load() < threads) {
      }
    });
    times.push_back(microseconds(Clock::now() - start));
  }
  std::sort(times.begin(), times.end());
  std::printf("%d threads, pauses of %.0f us: least %.2f us, median %.2f us\n", parallel.threads(), pause, times.front(),
              times[times.size() / 2]);
}

}  // namespace

int main(int argc, char** argv) {
  rh::ThreadPool pool({.threads = argc > 1 ? std::atoi(argv[1]) : 0});
  const rh::Parallel parallel(&pool, 0);
  time_loops(parallel, 0);
  time_loops(parallel, 10);
}
