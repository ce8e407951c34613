#pragma once

#include <cstddef>

#include "base/thread_pool.h"
#include "session/frame.h"

namespace rh {

/// Has the system give, while the session is made, memory that its first run would be the first to touch, as far as sizes are known: the
/// arena, the large pages that each thread's scratch memory begins with, and large outputs, in this order, as long as all together takes no
/// more than the weights do (or 16 MiB); where sizes are not known, a page of the arena. What cannot be had is left to the run.
void prepare_memory(Frame& frame, const Parallel& parallel);

/// The same as without `parallel`, by all threads.
void touch_pages(void* memory, size_t bytes, const Parallel& parallel);

}  // namespace rh
