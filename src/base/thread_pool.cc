#include "base/thread_pool.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

#if defined(__unix__) || defined(__APPLE__)
#include <pthread.h>
#endif
#if defined(__SSE2__) || defined(_M_X64)
#include <emmintrin.h>
#endif

#include "base/affinity.h"
#include "base/cancellation.h"
#include "base/denormals.h"
#include "base/dynamic_blocks.h"
#include "base/error.h"
#include "base/fork_mutex.h"
#include "base/process.h"
#include "base/shares.h"
#include "base/start_thread.h"

namespace rh {
namespace {

using Clock = std::chrono::steady_clock;

void pause() {
#if defined(__SSE2__) || defined(_M_X64)
  _mm_pause();
#elif defined(__aarch64__)
  __asm__ volatile("yield");
#endif
}

/// Spins until done() or until `microseconds` have passed; says whether done() was seen.
template <typename Done>
bool spin_until(int microseconds, Done done) {
  if (done()) return true;
  if (microseconds <= 0) return false;
  const auto end = Clock::now() + std::chrono::microseconds(microseconds);
  do {
    for (int i = 0; i < 8; ++i) {
      pause();
      if (done()) return true;
    }
  } while (Clock::now() < end);
  return false;
}

thread_local int t_block_base = 0;

/// One loop under way; lives on its caller's stack. Fields that are not atomic belong to Workers::mutex, `exception` to whoever set
/// `failed`. Its pieces are dealt out in equal shares, one in a row for each thread, so that threads find in their caches what they wrote
/// in the loop before; who has no more helps with the shares of others.
struct Loop {
  Loop(FunctionRef<void(int64_t)> body, int64_t pieces, int seats) : body(body), seats(seats) {
    if (t_block_base == 0) share_count = std::min(seats + 1, kMostShares);
    int64_t begin = 0;
    for (int i = 0; i < share_count; ++i) {
      shares[i].next.store(begin, std::memory_order_relaxed);
      begin += pieces / share_count + (i < pieces % share_count ? 1 : 0);
      shares[i].end = begin;
    }
  }

  struct alignas(64) Share {
    std::atomic<int64_t> next;
    int64_t end;
  };
  static constexpr int kMostShares = 32;

  FunctionRef<void(int64_t)> body;
  const Cancellation* const cancellation = current_cancellation();
  const bool flush_denormals = FlushDenormals::active();
  std::atomic<int> helpers{0};
  std::atomic<bool> failed{false};
  std::exception_ptr exception;
  int seats;  // how many more workers may join
  int share_count = 1;
  bool owner_sleeps = false;
  bool listed = false;
  Loop* older = nullptr;
  Loop* newer = nullptr;
  Share shares[kMostShares];

  /// As thread `own` of the pool, 0 being the loop's caller.
  void work(size_t own) {
    for (int i = 0; i < share_count; ++i) work_off(shares[(own + static_cast<size_t>(i)) % static_cast<size_t>(share_count)]);
  }

 private:
  void work_off(Share& share) {
    if (share.next.load(std::memory_order_relaxed) >= share.end) return;
    for (int64_t i; (i = share.next.fetch_add(1, std::memory_order_relaxed)) < share.end;) {
      try {
        if (cancellation) cancellation->check();
        body(i);
      } catch (...) {
        if (!failed.exchange(true)) exception = std::current_exception();
        for (int k = 0; k < share_count; ++k) shares[k].next.store(shares[k].end, std::memory_order_relaxed);
      }
    }
  }
};

/// Takes a mutex that is held for less than going to sleep over it would take.
std::unique_lock<std::mutex> lock_soon(std::mutex& mutex) {
  for (int i = 0; i < 100; ++i) {
    if (mutex.try_lock()) return {mutex, std::adopt_lock};
    pause();
  }
  return std::unique_lock(mutex);
}

/// The threads of a pool and the list of loops that have seats free.
class Workers {
 public:
  /// `users`: ThreadPoolUse.
  Workers(int count, int spin_microseconds, const ThreadPool::Options& options, const std::atomic<int>& users)
      : spin_microseconds_(spin_microseconds), options_(options), users_(users), starts_(static_cast<size_t>(count)) {
    for (size_t i = 0; i < starts_.size(); ++i) starts_[i] = {this, i};
    if (options_.functions.create) {
      start_by_functions();
      return;
    }
    threads_.reserve(starts_.size());
    try {
      for (Start& start : starts_) threads_.push_back(start_thread([&start] { serve_from(&start); }));
      wait_for_arrivals();
    } catch (const std::exception&) {
      // Fewer workers than wished for (system_error, bad_alloc): loops still complete, for callers work on their own.
    }
  }

  ~Workers() { stop(); }

  /// Returns when no piece of `loop` is running or will run.
  void run(Loop& loop) {
    int sleepers;
    owner_processor_.store(this_processor(), std::memory_order_relaxed);
    {
      const auto lock = lock_soon(mutex_);
      list(loop);
      sleepers = std::min(sleepers_, loop.seats);
    }
    published_.fetch_add(1, std::memory_order_release);
    for (int i = 0; i < sleepers; ++i) wake_.notify_one();
    loop.work(0);
    {
      const auto lock = lock_soon(mutex_);
      unlist(loop);
    }
    const auto alone = [&] { return loop.helpers.load(std::memory_order_acquire) == 0; };
    if (spin_until(spin_microseconds_, alone)) return;
    std::unique_lock lock(mutex_);
    loop.owner_sleeps = true;
    left_.wait(lock, alone);
  }

 private:
  struct Start {
    Workers* workers = nullptr;
    size_t index = 0;
  };

  void start_by_functions() {
    handles_.reserve(starts_.size());
    for (Start& start : starts_) {
      const void* handle = options_.functions.create(serve_from, &start);
      if (handle) {
        handles_.push_back(handle);
        continue;
      }
      stop();
      fail(ErrorCode::fail, "thread {} of {}: the function that creates threads returned null", start.index + 1, starts_.size());
    }
  }

  void stop() {
    {
      std::lock_guard lock(mutex_);
      stop_.store(true, std::memory_order_relaxed);
    }
    wake_.notify_all();
    for (std::thread& thread : threads_) thread.get_id() == std::this_thread::get_id() ? thread.detach() : thread.join();
    for (const void* handle : handles_) options_.functions.join(handle);
  }

  static void serve_from(void* start) {
    const Start& from = *static_cast<Start*>(start);
    const auto& affinities = from.workers->options_.affinities;
    if (from.index < affinities.size()) bind_this_thread(affinities[from.index]);
    FlushDenormals::keep_in_this_thread();
    from.workers->serve(from.index + 1);
  }

  /// A new thread may be queued on this processor until this thread sleeps: the loops to come would have to do without it. What cannot
  /// start for want of processors is not waited for.
  void wait_for_arrivals() {
    constexpr auto kLongest = std::chrono::milliseconds(10);
    std::unique_lock lock(mutex_);
    arrived_.wait_for(lock, kLongest, [&] { return arrivals_ == threads_.size(); });
  }

  /// As thread `thread` of the pool.
  void serve(size_t thread) {
    Clock::time_point moved{};
    keep_clear_of_owner(moved);
    std::unique_lock lock(mutex_);
    ++arrivals_;
    arrived_.notify_one();
    while (!stop_.load(std::memory_order_relaxed)) {
      if (Loop* loop = newest_) {
        help(*loop, thread, lock);
        continue;
      }
      const uint64_t seen = published_.load(std::memory_order_relaxed);
      lock.unlock();
      const bool changed = spins_until_changed(seen);
      if (changed) keep_clear_of_owner(moved);
      lock = lock_soon(mutex_);
      if (changed || newest_) continue;
      ++sleepers_;
      wake_.wait(lock, [&] { return newest_ || stop_.load(std::memory_order_relaxed); });
      --sleepers_;
      lock.unlock();
      keep_clear_of_owner(moved);
      lock = lock_soon(mutex_);
    }
  }

  /// Spins until there is a new loop, or for some time: longer while somebody is about to begin others, and nobody else works.
  bool spins_until_changed(uint64_t seen) const {
    constexpr int kMostMicroseconds = 1000;
    const auto changed = [&] { return published_.load(std::memory_order_acquire) != seen || stop_.load(std::memory_order_relaxed); };
    for (int spun = 0;; spun += spin_microseconds_) {
      const bool used = users_.load(std::memory_order_relaxed) == 1;
      if (spin_until(spin_microseconds_, changed)) return true;
      if (spin_microseconds_ <= 0 || spun >= kMostMicroseconds || (!used && users_.load(std::memory_order_relaxed) != 1)) return false;
    }
  }

  /// A worker on the processor of the thread that it is to help only takes time from it, and the system may leave both there for long:
  /// one that spins or sleeps for microseconds looks idle. `moved`: when this worker last went away.
  void keep_clear_of_owner(Clock::time_point& moved) const {
    constexpr auto kLeastStay = std::chrono::microseconds(500);
    if (spin_microseconds_ <= 0 || this_processor() != owner_processor_.load(std::memory_order_relaxed)) return;
    const Clock::time_point now = Clock::now();
    if (now - moved < kLeastStay) return;
    moved = now;
    leave_processor(this_processor());
  }

  void help(Loop& loop, size_t thread, std::unique_lock<std::mutex>& lock) {
    if (--loop.seats == 0) unlist(loop);
    loop.helpers.fetch_add(1, std::memory_order_relaxed);
    lock.unlock();
    {
      const CancellationScope cancellation(loop.cancellation);
      const FlushDenormals flush(loop.flush_denormals);
      loop.work(thread);
    }
    lock = lock_soon(mutex_);
    unlist(loop);
    const bool owner_sleeps = loop.owner_sleeps;
    // The owner may be gone as soon as the count is zero: nothing of the loop is touched after this.
    if (loop.helpers.fetch_sub(1, std::memory_order_release) == 1 && owner_sleeps) left_.notify_all();
  }

  void list(Loop& loop) {
    loop.listed = true;
    loop.older = newest_;
    if (newest_) newest_->newer = &loop;
    newest_ = &loop;
  }

  void unlist(Loop& loop) {
    if (!loop.listed) return;
    loop.listed = false;
    (loop.newer ? loop.newer->older : newest_) = loop.older;
    if (loop.older) loop.older->newer = loop.newer;
  }

  const int spin_microseconds_;
  const ThreadPool::Options& options_;
  const std::atomic<int>& users_;
  std::vector<Start> starts_;
  std::mutex mutex_;
  std::condition_variable wake_;
  std::condition_variable left_;
  std::condition_variable arrived_;
  Loop* newest_ = nullptr;
  int sleepers_ = 0;
  size_t arrivals_ = 0;  // of workers in their loops
  std::atomic<bool> stop_{false};
  std::atomic<int> owner_processor_{this_processor()};  // of the thread that began the latest loop, or the threads
  alignas(64) std::atomic<uint64_t> published_{0};
  std::vector<std::thread> threads_;
  std::vector<const void*> handles_;  // of threads that the caller's functions made
};

/// What must be forgotten in the child of a fork: the threads of its parent do not exist there, and their locks may be held.
struct Lifeline {
  std::atomic<Workers*> workers{nullptr};
  std::atomic<bool> starting{false};
  Lifeline* next = nullptr;
  Lifeline* previous = nullptr;
};

constinit ForkMutex lifelines_mutex;
Lifeline* lifelines = nullptr;

#if defined(__unix__) || defined(__APPLE__)
// The child has no other thread, and the fork has waited for the mutex.
void after_fork_in_child() {
  for (Lifeline* line = lifelines; line; line = line->next) {
    line->workers.store(nullptr, std::memory_order_relaxed);
    line->starting.store(false, std::memory_order_relaxed);
  }
}
[[maybe_unused]] const int g_registered = pthread_atfork(nullptr, nullptr, after_fork_in_child);
#endif

void enrol(Lifeline& line) {
  std::lock_guard lock(lifelines_mutex);
  line.next = lifelines;
  if (lifelines) lifelines->previous = &line;
  lifelines = &line;
}

void strike(Lifeline& line) {
  std::lock_guard lock(lifelines_mutex);
  (line.previous ? line.previous->next : lifelines) = line.next;
  if (line.next) line.next->previous = line.previous;
}

constexpr double kNanosecondsPerByte = 0.1;
constexpr double kNanosecondsPerOperation = 0.1;
constexpr double kLeastNanosecondsPerThread = 5000;
constexpr int kPiecesPerThread = 4;
constexpr double kMostNanosecondsPerPiece = 4e6;  // between two looks at the cancellation

/// How many pieces of a loop are worth their hand-over.
int64_t pieces_for(int64_t count, const Cost& cost, int threads) {
  const double item = std::max(cost.bytes * kNanosecondsPerByte + cost.operations * kNanosecondsPerOperation, 0.05);
  const double total = item * static_cast<double>(count);
  const double affordable = total / kLeastNanosecondsPerThread, least = std::max(1.0, total / kMostNanosecondsPerPiece);
  double pieces = least;
  if (threads > 1 && affordable >= 2) {
    pieces = std::max(least, affordable < threads ? affordable : std::min<double>(affordable, threads * kPiecesPerThread));
    if (pieces > threads) pieces = std::ceil(std::floor(pieces) / threads) * threads;  // as many for each
  }
  return pieces >= static_cast<double>(count) ? count : static_cast<int64_t>(pieces);
}

/// Where the pieces of a loop end that shrink towards the end.
std::vector<int64_t> shrinking_ends(int64_t count, const Cost& cost, int threads, int base) {
  const double item = std::max(cost.bytes * kNanosecondsPerByte + cost.operations * kNanosecondsPerOperation, 0.05);
  constexpr int64_t kMostPieces = 4096;
  const double affordable = item * static_cast<double>(count) / kLeastNanosecondsPerThread;
  const int64_t pieces = static_cast<int64_t>(std::clamp<double>(affordable, 1, kMostPieces));
  const int64_t least = std::max<int64_t>(1, (count - 1) / pieces + 1);
  const int64_t shares = static_cast<int64_t>(threads) * base;
  std::vector<int64_t> ends;
  for (int64_t begin = 0; begin < count; begin = ends.back()) {
    ends.push_back(begin + std::min(count - begin, std::max(least, (count - begin) / shares)));
  }
  return ends;
}

/// Calls body for the pieces of a loop over `count` items; `run` gets their number and what each does.
template <typename Run>
void cut(int64_t count, const Cost& cost, int threads, FunctionRef<void(Range)> body, Run&& run) {
  if (count <= 0) return;
  if (t_block_base > 0 && threads > 1) {
    const std::vector<int64_t> ends = shrinking_ends(count, cost, threads, t_block_base);
    return run(static_cast<int64_t>(ends.size()), [&](int64_t i) {
      const size_t at = static_cast<size_t>(i);
      body({at == 0 ? 0 : ends[at - 1], ends[at]});
    });
  }
  const int64_t pieces = pieces_for(count, cost, threads), size = count / pieces;
  const int64_t step = pieces > 1 && size >= 256 ? 64 : 1;  // keeps pieces of an array on cache lines of their own
  const auto begin_of = [&](int64_t i) { return i == pieces ? count : share_begin(count, pieces, i) / step * step; };
  run(pieces, [&](int64_t i) { body({begin_of(i), begin_of(i + 1)}); });
}

void in_this_thread(int64_t pieces, FunctionRef<void(int64_t)> body) {
  for (int64_t i = 0; i < pieces; ++i) {
    if (pieces > 1) throw_if_cancelled();
    body(i);
  }
}

}  // namespace

DynamicBlocks::DynamicBlocks(int base) : before_(t_block_base) { t_block_base = base; }
DynamicBlocks::~DynamicBlocks() { t_block_base = before_; }

struct ThreadPool::Impl {
  explicit Impl(const Options& given) : options(given) {}

  const Options options;
  int threads = 1;
  int spin_microseconds = 0;
  std::atomic<int> users{0};
  Lifeline line;

  Workers& workers() {
    if (Workers* started = line.workers.load(std::memory_order_acquire)) return *started;
    while (line.starting.exchange(true, std::memory_order_acquire)) {
      std::this_thread::yield();
      if (Workers* started = line.workers.load(std::memory_order_acquire)) return *started;
    }
    Workers* started = line.workers.load(std::memory_order_acquire);
    if (!started) {
      try {
        started = new Workers(threads - 1, spin_microseconds, options, users);
      } catch (...) {
        line.starting.store(false, std::memory_order_release);
        throw;
      }
      line.workers.store(started, std::memory_order_release);
    }
    line.starting.store(false, std::memory_order_release);
    return *started;
  }
};

ThreadPool::ThreadPool(const Options& options) : impl_(new Impl(options)) {
  if (!options.functions.create != !options.functions.join) {
    fail(ErrorCode::invalid_argument, "of the functions that create and join threads only one is given, expected both or none");
  }
  const int processors = usable_processors();
  impl_->threads = options.threads > 0 ? options.threads : processors;
  impl_->spin_microseconds = impl_->threads <= processors ? options.spin_microseconds : 0;
  if (options.functions.create) impl_->workers();
  enrol(impl_->line);
}

ThreadPool::~ThreadPool() {
  strike(impl_->line);
  delete impl_->line.workers.load();
}

namespace {

// Not ForkOnce: its threads end with the process.
struct ProcessPool {
  ForkMutex mutex;
  std::atomic<bool> is_made{false};
  std::shared_ptr<ThreadPool> pool;
};
constinit ProcessPool g_process_pool;

}  // namespace

const std::shared_ptr<ThreadPool>& ThreadPool::process_wide() {
  auto& [mutex, is_made, pool] = g_process_pool;
  if (is_made.load(std::memory_order_acquire)) return pool;
  const std::lock_guard lock(mutex);
  if (!pool) pool = std::make_shared<ThreadPool>(Options{});
  is_made.store(true, std::memory_order_release);
  return pool;
}

int ThreadPool::threads() const { return impl_->threads; }

void ThreadPool::parallel_for(int64_t count, const Cost& cost_per_item, FunctionRef<void(Range)> body, int max_threads) {
  const int allowed = max_threads > 0 ? std::min(max_threads, threads()) : threads();
  cut(count, cost_per_item, allowed, body,
      [&](int64_t pieces, FunctionRef<void(int64_t)> piece) { parallel_pieces(pieces, piece, allowed); });
}

void ThreadPool::parallel_pieces(int64_t pieces, FunctionRef<void(int64_t)> body, int max_threads) {
  const int allowed = max_threads > 0 ? std::min(max_threads, threads()) : threads();
  const int helpers = static_cast<int>(std::min<int64_t>(allowed, pieces)) - 1;
  if (helpers <= 0) return in_this_thread(pieces, body);
  Loop loop(body, pieces, helpers);
  impl_->workers().run(loop);
  if (loop.exception) std::rethrow_exception(loop.exception);
}

ThreadPoolUse::ThreadPoolUse(ThreadPool* pool) : pool_(pool) {
  if (pool_) pool_->impl_->users.fetch_add(1, std::memory_order_relaxed);
}
ThreadPoolUse::~ThreadPoolUse() {
  if (pool_) pool_->impl_->users.fetch_sub(1, std::memory_order_relaxed);
}

void Parallel::for_range(int64_t count, const Cost& cost_per_item, FunctionRef<void(Range)> body) const {
  if (pool_) return pool_->parallel_for(count, cost_per_item, body, max_threads_);
  cut(count, cost_per_item, 1, body, in_this_thread);
}

void Parallel::for_pieces(int64_t pieces, FunctionRef<void(int64_t)> body) const {
  if (pool_) return pool_->parallel_pieces(pieces, body, max_threads_);
  in_this_thread(pieces, body);
}

}  // namespace rh
