#include "session/threads.h"

#include <algorithm>
#include <charconv>

#include "base/error.h"

namespace rh {

namespace {

bool spins(const SessionOptions& options) { return options.config_entry("session.intra_op.allow_spinning") != "0"; }
bool flushes_denormals(const SessionOptions& options) { return options.config_entry("session.set_denormal_as_zero") != "0"; }

bool own_pool_asked(const SessionOptions& options) {
  return !spins(options) || options.thread_functions.create || !options.config_entry("session.intra_op_thread_affinities").empty() ||
         !options.config_entry("session.intra_op.spin_duration_us").empty();
}

int block_base(const SessionOptions& options) {
  const std::string_view text = options.config_entry("session.dynamic_block_base");
  int value = 0;
  if (text.empty()) return value;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < 0 || value > 1'000'000) {
    fail(ErrorCode::invalid_argument, "config entry 'session.dynamic_block_base' is '{}', expected a number from 0 to 1000000", text);
  }
  return value;
}

int spin_microseconds(const SessionOptions& options) {
  if (!spins(options)) return 0;
  const std::string_view text = options.config_entry("session.intra_op.spin_duration_us");
  int value = ThreadPool::Options().spin_microseconds;
  if (text.empty()) return value;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < 0) {
    fail(ErrorCode::invalid_argument, "config entry 'session.intra_op.spin_duration_us' is '{}', expected a number of microseconds", text);
  }
  return value;
}

// One set for each thread but the caller's.
std::vector<std::vector<int>> affinities_of(const SessionOptions& options) {
  const std::string_view text = options.config_entry("session.intra_op_thread_affinities");
  if (text.empty()) return {};
  std::vector<std::vector<int>> sets = parse_affinities(text);
  const size_t workers = static_cast<size_t>(options.intra_op_threads) - 1;
  if (options.intra_op_threads > 0 && sets.size() != workers) {
    fail(ErrorCode::invalid_argument,
         "config entry 'session.intra_op_thread_affinities' names processors for {} threads, expected {}: one less than the {} threads of "
         "the session, for the calling thread is left where it is",
         sets.size(), workers, options.intra_op_threads);
  }
  return sets;
}

// Zero: as many as the process has. Nodes run one after the other, so in parallel mode they share the threads that are meant for several.
int wanted_threads(const SessionOptions& options) {
  const int within = options.intra_op_threads, among = options.inter_op_threads;
  if (options.execution_mode == ExecutionMode::sequential || !options.config_entry("session.intra_op_thread_affinities").empty()) {
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
                           .spin_microseconds = spin_microseconds(options),
                           .affinities = affinities_of(options),
                           .functions = options.thread_functions};
  if (pool.threads == 0 && !pool.affinities.empty()) pool.threads = static_cast<int>(pool.affinities.size()) + 1;
  return std::make_shared<ThreadPool>(pool);
}

}  // namespace

SessionThreads::SessionThreads(const SessionOptions& options)
    : pool(choose_pool(options, wanted_threads(options))),
      flush_denormals(flushes_denormals(options)),
      dynamic_block_base(block_base(options)) {
  if (!pool) return;
  const int threads = wanted_threads(options);
  parallel = Parallel(pool.get(), threads > 0 ? threads : pool->threads());
  parallel.for_pieces(parallel.threads(), [](int64_t) {});  // starts the threads, so that the first run need not
}

}  // namespace rh
