#pragma once

namespace rh {

/// Whether the processor has instructions that add products of bytes in 32 bits (VNNI on x86), whichever kernels this build has. Without
/// them other libraries add in 16 bits, where sums end at the largest number.
bool has_byte_products();

}  // namespace rh
