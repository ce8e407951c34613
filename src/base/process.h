#pragma once

#include <cstdint>

namespace rh {

/// The system's number of this process; differs in the child of a fork.
int process_number();

/// The system's number of the calling thread, as traces show it.
uint64_t thread_number();

/// The processor that the calling thread is on; -1 where that cannot be told.
int this_processor();

}  // namespace rh
