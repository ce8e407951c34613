#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/function_ref.h"

namespace rh {

/// A half-open range of work items.
struct Range {
  int64_t begin = 0;
  int64_t end = 0;
  int64_t size() const { return end - begin; }
  bool operator==(const Range&) const = default;
};

/// Rough price of one work item, from which parallel_for derives how many pieces are worth it.
struct Cost {
  double bytes = 0;       ///< read and written
  double operations = 0;  ///< arithmetic operations, vectorised ones counted as one a lane
};

/// How many processors this process may use: the lesser of its affinity mask and its cgroup CPU quota (rounded up), at least 1.
int usable_processors();

/// The CPU quota in processors that the control groups of this process allow (version 1 or 2, every ancestor counted); 0 where there
/// is none. `root` is put before /proc and before the mount points.
double cgroup_cpu_quota(const std::string& root = "");

/// Sets of processors, numbered from 0, out of "1,2;3-6": numbers from 1 and ranges of them, a set for each thread. Throws
/// Error{invalid_argument}.
std::vector<std::vector<int>> parse_affinities(std::string_view text);

/// How the threads of a pool are made: ours where empty.
struct ThreadFunctions {
  /// Starts a thread that calls work(parameter) once; what it returns goes to `join`. Null means failure.
  std::function<const void*(void (*work)(void*), void* parameter)> create;
  /// Returns when the thread has ended.
  std::function<void(const void*)> join;
};

/// Worker threads that run the pieces of loops. Any thread may start a loop, many at a time; a loop started inside another one runs
/// as far as idle workers allow and never deadlocks, for the caller works on its own loop. Workers spin briefly, then sleep. They start
/// with the first loop that needs them (at once where the caller's functions make them); after fork() the child gets workers of its own the
/// same way. A piece runs under its loop's caller's cancellation and treats denormals as he does; where the work is cancelled, pieces that
/// have not begun are dropped and the loop throws.
class ThreadPool {
 public:
  struct Options {
    int threads = 0;  ///< including the caller; 0: usable_processors()
    int spin_microseconds = 50;
    std::vector<std::vector<int>> affinities;  ///< by worker: the processors, from 0, that it is bound to; missing ones are ignored
    ThreadFunctions functions;
  };

  /// Throws Error{fail} where a thread made by `functions` does not start.
  explicit ThreadPool(const Options& options);
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  /// The pool that sessions share unless they ask for one of their own.
  static const std::shared_ptr<ThreadPool>& process_wide();

  /// Threads that may work on one loop, the caller included.
  int threads() const;

  /// Calls body for disjoint ranges that cover [0, count), from several threads; returns when all are done. `max_threads` 0 means
  /// threads(). The first exception thrown by a body is rethrown here after the pieces under way have ended; the others are not begun.
  void parallel_for(int64_t count, const Cost& cost_per_item, FunctionRef<void(Range)> body, int max_threads = 0);

  /// The same with a given number of pieces, body(i) for each i in [0, pieces): for work that is already cut into tiles.
  void parallel_pieces(int64_t pieces, FunctionRef<void(int64_t)> body, int max_threads = 0);

 private:
  friend class ThreadPoolUse;
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// While only one lives, idle workers of the pool go on spinning, for a millisecond at most, instead of falling asleep between loops: a run
/// begins many. A null pool has none.
class ThreadPoolUse {
 public:
  explicit ThreadPoolUse(ThreadPool* pool);
  ~ThreadPoolUse();
  ThreadPoolUse(const ThreadPoolUse&) = delete;
  ThreadPoolUse& operator=(const ThreadPoolUse&) = delete;

 private:
  ThreadPool* pool_;
};

/// A pool as one run sees it: capped to the session's thread count. Copyable, cheap; a null pool means "in the calling thread".
class Parallel {
 public:
  Parallel() = default;
  Parallel(ThreadPool* pool, int max_threads) : pool_(pool), max_threads_(max_threads) {}

  int threads() const { return pool_ ? (max_threads_ > 0 ? max_threads_ : pool_->threads()) : 1; }
  /// The threads that each of some loops side by side has.
  Parallel part_of(int loops) const { return threads() >= 2 * loops ? Parallel(pool_, threads() / loops) : Parallel(); }
  void for_range(int64_t count, const Cost& cost_per_item, FunctionRef<void(Range)> body) const;
  void for_pieces(int64_t pieces, FunctionRef<void(int64_t)> body) const;

 private:
  ThreadPool* pool_ = nullptr;
  int max_threads_ = 1;
};

}  // namespace rh
