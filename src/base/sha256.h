#pragma once

#include <cstddef>
#include <cstdint>

namespace rh {

/// The state of SHA-256 (FIPS 180-4) after blocks of 64 bytes, by the processor's own instructions where it has them.
void sha256_blocks(uint32_t state[8], const std::byte* blocks, size_t count);
/// The same by plain C++.
void sha256_blocks_plain(uint32_t state[8], const std::byte* blocks, size_t count);

}  // namespace rh
