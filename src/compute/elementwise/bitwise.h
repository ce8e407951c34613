#pragma once

#include <cstdint>

/// Bitwise functions of contiguous integers of 1, 2, 4 or 8 bytes: serial loops, vectorised for the processor at hand.
namespace rh::compute {

/// Shifts are of unsigned numbers; by as many bits as a number has, or more, they give 0.
enum class Bitwise : uint8_t { bit_and, bit_or, bit_xor, shift_left, shift_right };

/// y[i] = a[i * step_a] op b[i * step_b], steps 0 or 1; y may be an operand with step 1.
void bitwise(Bitwise op, int bytes, const void* a, int64_t step_a, const void* b, int64_t step_b, void* y, int64_t count);

/// All bits of so many bytes turned; y may be x.
void complement(const void* x, void* y, int64_t bytes);

}  // namespace rh::compute
