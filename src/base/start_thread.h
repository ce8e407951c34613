#pragma once

#include <functional>
#include <thread>

namespace rh {

/// Starts a thread; throws std::system_error. No fork comes between: what the C library has of a thread that is being started is not whole
/// in the child, which would free memory twice.
std::thread start_thread(std::function<void()> work);

}  // namespace rh
