#pragma once

#include "tensor/packed_format.h"

namespace rh::compute {

/// Widens `blocks` blocks of one format that lie one after the other, at any address.
void unpack_blocks(PackedFormat format, const uint8_t* from, int64_t blocks, float* to);

}  // namespace rh::compute
