#pragma once

#include <memory>

#include "base/thread_pool.h"
#include "session/options.h"

namespace rh {

/// The threads that a session's runs work on, as its options ask for them.
struct SessionThreads {
  explicit SessionThreads(const SessionOptions& options);

  std::shared_ptr<ThreadPool> pool;  ///< null: the calling thread alone
  Parallel parallel;
  bool flush_denormals = true;
  int dynamic_block_base = 0;  ///< of DynamicBlocks
};

}  // namespace rh
