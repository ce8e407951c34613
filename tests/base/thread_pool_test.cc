#include "base/thread_pool.h"

#include <gtest/gtest.h>
#ifdef __linux__
#include <sched.h>
#endif

#include <algorithm>
#include <atomic>
#include <cfloat>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <numeric>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "base/cancellation.h"
#include "base/denormals.h"
#include "base/dynamic_blocks.h"
#include "base/error.h"
#include "base/shares.h"

namespace rh {
namespace {

ThreadPool::Options with_threads(int threads) {
  ThreadPool::Options options;
  options.threads = threads;
  return options;
}

int64_t triangle(ThreadPool& pool, int64_t count) {
  std::atomic<int64_t> sum{0};
  pool.parallel_for(count, {.bytes = 1000}, [&](Range range) {
    int64_t part = 0;
    for (int64_t i = range.begin; i < range.end; ++i) part += i;
    sum += part;
  });
  return sum;
}

TEST(ThreadPool, covers_each_item_once) {
  for (const int threads : {1, 2, 3, 8}) {
    ThreadPool pool(with_threads(threads));
    for (const int64_t count : {0, 1, 2, 7, 63, 64, 65, 1000, 4097}) {
      for (const double operations : {0.0, 10.0, 1e6}) {
        std::vector<std::atomic<int>> seen(static_cast<size_t>(count));
        pool.parallel_for(count, {.operations = operations}, [&](Range range) {
          for (int64_t i = range.begin; i < range.end; ++i) ++seen[static_cast<size_t>(i)];
        });
        for (const auto& times : seen) ASSERT_EQ(times, 1) << threads << " threads, " << count << " items";
      }
    }
  }
}

TEST(ThreadPool, uses_several_threads_and_no_more_than_allowed) {
  ThreadPool pool(with_threads(4));
  for (const int allowed : {1, 2, 4}) {
    std::atomic<int> inside{0}, most{0};
    pool.parallel_pieces(
        64,
        [&](int64_t) {
          const int now = ++inside;
          for (int seen = most; seen < now && !most.compare_exchange_weak(seen, now);) {
          }
          std::this_thread::sleep_for(std::chrono::microseconds(500));
          --inside;
        },
        allowed);
    EXPECT_LE(most, allowed);
    if (allowed > 1) {
      EXPECT_GT(most, 1);
    }
  }
}

TEST(ThreadPool, threads_begin_with_shares_of_their_own) {
  ThreadPool pool(with_threads(2));
  for (int loop = 0; loop < 50; ++loop) {
    std::vector<std::thread::id> by(8);
    std::atomic<int> begun{0};
    pool.parallel_pieces(8, [&](int64_t i) {
      by[static_cast<size_t>(i)] = std::this_thread::get_id();
      if (i % 4 != 0) return;
      ++begun;
      while (begun < 2) std::this_thread::yield();  // for the first piece of the other share
    });
    EXPECT_EQ(by[0], std::this_thread::get_id());
    EXPECT_NE(by[4], std::this_thread::get_id());
  }
}

TEST(ThreadPool, pieces_are_as_many_for_each_thread_and_of_like_size) {
  ThreadPool pool(with_threads(2));
  for (const int64_t count : {6, 7, 100, 5000}) {
    std::atomic<int64_t> pieces{0}, least{count}, most{0};
    std::mutex mutex;
    pool.parallel_for(count, {.operations = 1.6e5 / static_cast<double>(count)}, [&](Range range) {  // three threads' worth
      std::lock_guard lock(mutex);
      ++pieces;
      least = std::min<int64_t>(least, range.size());
      most = std::max<int64_t>(most, range.size());
    });
    EXPECT_EQ(pieces % 2, 0) << count;
    EXPECT_LE(most - least, count < 512 ? 1 : 127) << count;
  }
}

TEST(Shares, rows_of_neighbours_have_their_part) {
  for (const int64_t count : {1, 7, 14, 21, 100}) {
    for (const int64_t shares : {1, 2, 4, 6, 8}) {
      for (int64_t i = 0; i < shares; ++i) {
        const int64_t size = share_begin(count, shares, i + 1) - share_begin(count, shares, i);
        EXPECT_TRUE(size == count / shares || size == count / shares + 1) << count << " in " << shares;
      }
      EXPECT_EQ(share_begin(count, shares, 0), 0);
      EXPECT_EQ(share_begin(count, shares, shares), count);
      if (shares % 2 == 0) {
        EXPECT_EQ(share_begin(count, shares, shares / 2), count / 2) << count << " in " << shares;
      }
    }
  }
}

TEST(ThreadPool, threads_have_as_many_items_where_pieces_cannot_be_alike) {
  ThreadPool pool(with_threads(2));
  for (const int64_t count : {10, 18, 21, 27}) {
    std::vector<int64_t> begins;
    std::mutex mutex;
    pool.parallel_for(count, {.operations = 1e7}, [&](Range range) {
      std::lock_guard lock(mutex);
      begins.push_back(range.begin);
    });
    std::sort(begins.begin(), begins.end());
    EXPECT_GT(begins.size(), 2u) << count;
    EXPECT_EQ(begins[begins.size() / 2], count / 2) << count;
  }
}

TEST(ThreadPool, nested_loops_end) {
  ThreadPool pool(with_threads(3));
  for (int round = 0; round < 20; ++round) {
    std::atomic<int64_t> sum{0};
    pool.parallel_pieces(8, [&](int64_t) { pool.parallel_pieces(8, [&](int64_t) { sum += triangle(pool, 100); }); });
    ASSERT_EQ(sum, 64 * 4950);
  }
}

TEST(ThreadPool, concurrent_callers_each_get_their_answer) {
  ThreadPool pool(with_threads(3));
  std::vector<std::thread> callers;
  std::atomic<int> wrong{0};
  for (int caller = 0; caller < 4; ++caller) {
    callers.emplace_back([&, caller] {
      for (int round = 0; round < 200; ++round) {
        const int64_t count = 100 + caller * 37 + round;
        wrong += triangle(pool, count) != count * (count - 1) / 2;
      }
    });
  }
  for (std::thread& caller : callers) caller.join();
  EXPECT_EQ(wrong, 0);
}

TEST(ThreadPool, workers_wake_after_sleep) {
  ThreadPool pool(with_threads(2));
  for (int round = 0; round < 20; ++round) {
    ASSERT_EQ(triangle(pool, 1000), 499500);
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

TEST(ThreadPool, rethrows_the_exception_and_stays_usable) {
  ThreadPool pool(with_threads(3));
  for (int round = 0; round < 50; ++round) {
    std::atomic<int> running{0};
    try {
      pool.parallel_pieces(32, [&](int64_t i) {
        ++running;
        if (i == round % 32) {
          --running;
          throw std::runtime_error("piece " + std::to_string(i));
        }
        --running;
      });
      FAIL() << "no exception";
    } catch (const std::runtime_error& error) {
      EXPECT_EQ(error.what(), "piece " + std::to_string(round % 32));
      EXPECT_EQ(running, 0);
    }
    ASSERT_EQ(triangle(pool, 100), 4950);
  }
  EXPECT_THROW(pool.parallel_pieces(1, [](int64_t) { throw 5; }), int);
}

TEST(ThreadPool, pieces_treat_denormals_as_the_caller_does) {
  const auto denormal_survives = [] {
    volatile float tiny = FLT_MIN;
    volatile float half = 0.5f;
    return tiny * half != 0.0f;
  };
  ThreadPool pool(with_threads(3));
  for (const bool flush : {true, false, true}) {
    std::atomic<int> survivors{0};
    {
      const FlushDenormals scope(flush);
      pool.parallel_pieces(16, [&](int64_t) {
        survivors += denormal_survives();
        std::this_thread::sleep_for(std::chrono::microseconds(200));
      });
    }
    EXPECT_EQ(survivors, flush ? 0 : 16);
    EXPECT_TRUE(denormal_survives());
  }
}

TEST(ThreadPool, drops_the_pieces_that_are_left_when_cancelled) {
  for (const int threads : {1, 3}) {
    ThreadPool pool(with_threads(threads));
    std::atomic<bool> stop{false};
    std::atomic<int> begun{0};
    const Cancellation cancellation(&stop, ErrorCode::fail, "stopped by the test");
    const CancellationScope scope(&cancellation);
    const auto body = [&](int64_t) {
      if (++begun == 10) stop = true;
      while (begun < 10 && threads > 1) std::this_thread::yield();
    };
    for (const Parallel& parallel : {Parallel(&pool, threads), Parallel()}) {
      stop = false;
      begun = 9;
      EXPECT_THROW(parallel.for_pieces(1000, body), Error);
      EXPECT_LE(begun, 9 + threads);
    }
    stop = false;
    EXPECT_EQ(triangle(pool, 100), 4950);
  }
}

TEST(ThreadPool, a_loop_that_costs_much_is_cut_even_for_one_thread) {
  int pieces = 0;
  Parallel().for_range(1000, {.operations = 1e6}, [&](Range) { ++pieces; });
  EXPECT_GT(pieces, 10);
}

TEST(ThreadPool, dynamic_blocks_shrink_and_cover_each_item_once) {
  ThreadPool pool({.threads = 4});
  constexpr int64_t kCount = 100'000;
  for (const int base : {1, 2, 4}) {
    std::mutex mutex;
    std::vector<Range> ranges;
    {
      const DynamicBlocks blocks(base);
      pool.parallel_for(kCount, {.bytes = 100}, [&](Range range) {
        const std::lock_guard lock(mutex);
        ranges.push_back(range);
      });
    }
    std::sort(ranges.begin(), ranges.end(), [](Range a, Range b) { return a.begin < b.begin; });
    ASSERT_GT(ranges.size(), 4u * static_cast<size_t>(base));
    EXPECT_EQ(ranges.front().begin, 0);
    EXPECT_EQ(ranges.front().size(), kCount / (4 * base));
    EXPECT_EQ(ranges.back().end, kCount);
    for (size_t i = 1; i < ranges.size(); ++i) {
      EXPECT_EQ(ranges[i].begin, ranges[i - 1].end);
      EXPECT_LE(ranges[i].size(), ranges[i - 1].size());
    }
  }
}

TEST(ThreadPool, a_time_limit_stops_a_loop) {
  ThreadPool pool(with_threads(2));
  const Cancellation cancellation(nullptr, ErrorCode::fail, "", std::chrono::milliseconds(5));
  const CancellationScope scope(&cancellation);
  std::atomic<int> begun{0};
  try {
    pool.parallel_pieces(100'000, [&](int64_t) {
      ++begun;
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    });
    FAIL() << "not stopped";
  } catch (const Error& error) {
    EXPECT_NE(error.message().find("time limit of 5 ms"), std::string::npos) << error.message();
  }
  EXPECT_LT(begun, 100'000);
}

TEST(ThreadPool, uses_the_functions_that_make_threads) {
  struct Made {
    std::atomic<int> created{0}, joined{0};
  } made;
  ThreadPool::Options options = with_threads(4);
  options.functions.create = [&](void (*work)(void*), void* parameter) -> const void* {
    ++made.created;
    return new std::thread(work, parameter);
  };
  EXPECT_THROW(ThreadPool half(options), Error);
  options.functions.join = [&](const void* handle) {
    auto* thread = static_cast<std::thread*>(const_cast<void*>(handle));
    thread->join();
    delete thread;
    ++made.joined;
  };
  {
    ThreadPool pool(options);
    EXPECT_EQ(made.created, 3);
    EXPECT_EQ(triangle(pool, 1000), 499500);
  }
  EXPECT_EQ(made.joined, 3);
  options.functions.create = [&, create = options.functions.create](void (*work)(void*), void* parameter) -> const void* {
    return made.created == 5 ? nullptr : create(work, parameter);
  };
  EXPECT_THROW(ThreadPool failing(options), Error);
  EXPECT_EQ(made.created, 5);
  EXPECT_EQ(made.joined, 5);
}

#ifdef __linux__
TEST(ThreadPool, binds_workers_to_processors) {
  cpu_set_t own;
  ASSERT_EQ(sched_getaffinity(0, sizeof own, &own), 0);
  int processor = 0;
  while (!CPU_ISSET(processor, &own)) ++processor;
  ThreadPool::Options options = with_threads(3);
  options.affinities = {{processor}, {processor}};
  ThreadPool pool(options);
  const std::thread::id caller = std::this_thread::get_id();
  std::atomic<int> free{0}, bound{0};
  for (int round = 0; round < 200 && bound == 0; ++round) {
    pool.parallel_pieces(64, [&](int64_t) {
      std::this_thread::sleep_for(std::chrono::microseconds(100));
      if (std::this_thread::get_id() == caller) return;
      cpu_set_t set;
      sched_getaffinity(0, sizeof set, &set);
      ++(CPU_COUNT(&set) == 1 && CPU_ISSET(processor, &set) ? bound : free);
    });
  }
  EXPECT_GT(bound, 0);
  EXPECT_EQ(free, 0);
}

// Those that the kernel has let run, by /proc.
int threads_that_ran() {
  int count = 0;
  for (const auto& task : std::filesystem::directory_iterator("/proc/self/task")) {
    int64_t nanoseconds = 0;
    std::ifstream(task.path() / "schedstat") >> nanoseconds;
    count += nanoseconds > 0;
  }
  return count;
}

TEST(ThreadPool, workers_that_share_their_callers_processor_have_begun_when_the_first_loop_returns) {
  if (!std::filesystem::exists("/proc/self/schedstat")) GTEST_SKIP() << "the system does not count the time of threads";
  cpu_set_t before, one;
  ASSERT_EQ(sched_getaffinity(0, sizeof before, &before), 0);
  int processor = 0;
  while (!CPU_ISSET(processor, &before)) ++processor;
  CPU_ZERO(&one);
  CPU_SET(processor, &one);
  ASSERT_EQ(sched_setaffinity(0, sizeof one, &one), 0);
  int begun = 0;
  for (int attempt = 0; attempt < 10 && begun == 0; ++attempt) {  // an overloaded machine may keep threads waiting
    ThreadPool pool(with_threads(2));
    const int others = threads_that_ran();
    pool.parallel_pieces(2, [](int64_t) {});
    begun = threads_that_ran() - others;
  }
  ASSERT_EQ(sched_setaffinity(0, sizeof before, &before), 0);
  EXPECT_EQ(begun, 1);
}

TEST(ThreadPool, a_worker_leaves_the_processor_of_its_caller) {
  if (usable_processors() < 2) GTEST_SKIP() << "needs two processors";
  cpu_set_t all;
  ASSERT_EQ(sched_getaffinity(0, sizeof all, &all), 0);
  ThreadPool pool(with_threads(2));
  std::thread caller([&] {
    const std::thread::id self = std::this_thread::get_id();
    cpu_set_t one;
    CPU_ZERO(&one);
    const int processor = sched_getcpu();
    CPU_SET(processor, &one);
    sched_setaffinity(0, sizeof one, &one);
    const auto in_worker = [&](const auto& work) {  // once
      for (std::atomic<bool> done{false}; !done;) {
        pool.parallel_pieces(2, [&](int64_t i) {
          if (std::this_thread::get_id() != self && !done.exchange(true)) return work();
          if (i == 0) std::this_thread::sleep_for(std::chrono::microseconds(200));
        });
      }
    };
    in_worker([&] {
      cpu_set_t here;
      CPU_ZERO(&here);
      CPU_SET(processor, &here);
      sched_setaffinity(0, sizeof here, &here);
      sched_setaffinity(0, sizeof all, &all);
    });
    bool away = false;
    for (int round = 0; round < 500 && !away; ++round) {
      in_worker([&] {
        cpu_set_t now;
        sched_getaffinity(0, sizeof now, &now);
        EXPECT_TRUE(CPU_EQUAL(&now, &all));
        away = sched_getcpu() != processor;
      });
    }
    EXPECT_TRUE(away);
  });
  caller.join();
}
#endif

TEST(ThreadPool, reads_affinities) {
  using Sets = std::vector<std::vector<int>>;
  EXPECT_EQ(parse_affinities("1,2;3,4"), (Sets{{0, 1}, {2, 3}}));
  EXPECT_EQ(parse_affinities("2"), (Sets{{1}}));
  EXPECT_EQ(parse_affinities("1-3;5,7-8"), (Sets{{0, 1, 2}, {4, 6, 7}}));
  for (const char* spare : {"1;", ";1", "1,", ",1", ",;1,;,"}) EXPECT_EQ(parse_affinities(spare), (Sets{{0}})) << spare;
  EXPECT_EQ(parse_affinities("1,;,2;;3"), (Sets{{0}, {1}, {2}}));
  for (const char* wrong : {"", ";", ",;", "0", "x", "1;x", "1;0", "3-1", "1-", "-1", "1 2", "70000", "99999999999"}) {
    EXPECT_THROW(parse_affinities(wrong), Error) << wrong;
  }
}

TEST(ThreadPool, a_pool_that_never_ran_and_an_idle_one_end) {
  {
    ThreadPool unused(with_threads(4));
  }
  ThreadPool used(with_threads(4));
  triangle(used, 10);
}

TEST(Parallel, without_a_pool_runs_in_the_caller) {
  const Parallel serial;
  EXPECT_EQ(serial.threads(), 1);
  std::vector<int64_t> order;
  serial.for_pieces(5, [&](int64_t i) { order.push_back(i); });
  serial.for_range(3, {}, [&](Range range) { order.push_back(range.size()); });
  EXPECT_EQ(order, (std::vector<int64_t>{0, 1, 2, 3, 4, 3}));
}

TEST(UsableProcessors, is_positive_and_within_the_machine) {
  EXPECT_GE(usable_processors(), 1);
  EXPECT_LE(usable_processors(), std::max(1u, std::thread::hardware_concurrency()));
}

}  // namespace
}  // namespace rh
