#include "session/threads.h"

#include <algorithm>

#include "base/error.h"
#include "settings/keys.h"

namespace rh {

namespace {

bool own_pool_asked(const SessionOptions& options) {
  const Settings& settings = options.settings;
  return !settings.spins || options.thread_functions.create || !settings.thread_affinities.empty() || settings.spin_duration_us;
}

int spin_microseconds(const Settings& settings) {
  return settings.spins ? settings.spin_duration_us.value_or(ThreadPool::Options().spin_microseconds) : 0;
}

// One set for each thread but the caller's.
ProcessorSets affinities_of(const SessionOptions& options) {
  const ProcessorSets& sets = options.settings.thread_affinities;
  const size_t workers = static_cast<size_t>(options.intra_op_threads) - 1;
  if (!sets.empty() && options.intra_op_threads > 0 && sets.size() != workers) {
    fail(ErrorCode::fail,
         "config entry '{}' names processors for {} threads, expected {}: one less than the {} threads of the session, for the calling "
         "thread is left where it is",
         kKeyOf<&Settings::thread_affinities>, sets.size(), workers, options.intra_op_threads);
  }
  return sets;
}

// Zero: as many as the process has. Nodes run one after the other, so in parallel mode they share the threads that are meant for several.
int wanted_threads(const SessionOptions& options) {
  const int within = options.intra_op_threads, among = options.inter_op_threads;
  if (options.execution_mode == ExecutionMode::sequential || !options.settings.thread_affinities.empty()) {
    return within;
  }
  return within == 0 || among == 0 ? 0 : std::max(within, among);
}

std::shared_ptr<ThreadPool> choose_pool(const SessionOptions& options, int threads) {
  if (options.shared_pool) return options.shared_pool;
  if (threads == 1) return nullptr;
  const auto& shared = ThreadPool::process_wide();
  if (threads <= shared->threads() && !own_pool_asked(options)) return shared;
  ThreadPool::Options pool{.threads = threads,
                           .spin_microseconds = spin_microseconds(options.settings),
                           .affinities = affinities_of(options),
                           .functions = options.thread_functions};
  if (pool.threads == 0 && !pool.affinities.empty()) pool.threads = static_cast<int>(pool.affinities.size()) + 1;
  return std::make_shared<ThreadPool>(pool);
}

}  // namespace

SessionThreads::SessionThreads(const SessionOptions& options)
    : pool(choose_pool(options, wanted_threads(options))),
      flush_denormals(options.settings.flush_denormals),
      dynamic_block_base(options.settings.dynamic_block_base) {
  if (!pool) return;
  const int threads = wanted_threads(options);
  parallel = Parallel(pool.get(), threads > 0 ? threads : pool->threads());
  parallel.for_pieces(parallel.threads(), [](int64_t) {});  // starts the threads, so that the first run need not
}

}  // namespace rh
