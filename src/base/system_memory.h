#pragma once

#include <cstddef>

namespace rh {

/// Bytes of memory that this process can have at most: the machine's, or its control group's limit where that is less.
size_t system_memory_bytes();

}  // namespace rh
