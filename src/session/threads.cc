#include "session/threads.h"

namespace rh {

namespace {

bool spins(const SessionOptions& options) { return options.config_entry("session.intra_op.allow_spinning") != "0"; }
bool flushes_denormals(const SessionOptions& options) { return options.config_entry("session.set_denormal_as_zero") != "0"; }

bool own_pool_asked(const SessionOptions& options) {
  return !spins(options) || !flushes_denormals(options) || !options.config_entry("session.intra_op_thread_affinities").empty();
}

std::shared_ptr<ThreadPool> choose_pool(const SessionOptions& options) {
  if (options.shared_pool) return options.shared_pool;
  if (options.intra_op_threads == 1) return nullptr;
  const auto& shared = ThreadPool::process_wide();
  if (options.intra_op_threads <= shared->threads() && !own_pool_asked(options)) return shared;
  ThreadPool::Options pool{.threads = options.intra_op_threads, .flush_denormals = flushes_denormals(options)};
  if (!spins(options)) pool.spin_microseconds = 0;
  return std::make_shared<ThreadPool>(pool);
}

}  // namespace

SessionThreads::SessionThreads(const SessionOptions& options) : pool(choose_pool(options)), flush_denormals(flushes_denormals(options)) {
  if (pool) parallel = Parallel(pool.get(), options.intra_op_threads > 0 ? options.intra_op_threads : pool->threads());
}

}  // namespace rh
