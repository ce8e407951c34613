#pragma once

#include <vector>

namespace rh {

/// How many processors the system lets this process run on; 0 where it does not tell.
int allowed_processors();

/// Binds the calling thread to these processors, from 0. It stays free where none of them is there.
void bind_this_thread(const std::vector<int>& processors);

/// Moves the calling thread to another processor than `taken`, where it may; it is free to go anywhere afterwards.
void leave_processor(int taken);

}  // namespace rh
