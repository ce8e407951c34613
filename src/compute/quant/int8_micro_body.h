#pragma once

#include "compute/quant/int8_micro.h"

// The micro-kernel of instruction sets that multiply pairs of int16, written against a type V that each file defines in its own anonymous
// namespace. Products of 8-bit values are exact there; those of the instructions for bytes saturate.
namespace rh::compute {
namespace {

/// A is int16. Each vector of sums holds V::kColumns columns, each as two partial sums; kVectors is even.
template <typename V, int kRows, int kVectors>
void int16_micro_kernel(const Int8MicroArgs& p) {
  using R = typename V::Register;
  R sum[kRows][kVectors];
#pragma GCC unroll 8
  for (int i = 0; i < kRows; ++i) {
#pragma GCC unroll 4
    for (int j = 0; j < kVectors; ++j) sum[i][j] = V::zero();
  }
  const uint8_t* b = static_cast<const uint8_t*>(p.b);
  const int64_t elements = p.groups * kInt8Group;
  for (int64_t s = 0; s < p.segments; ++s) {
    const uint8_t* a = static_cast<const uint8_t*>(p.a) + p.segment_offset[s];
    const int16_t* row[kRows];
#pragma GCC unroll 8
    for (int i = 0; i < kRows; ++i) row[i] = reinterpret_cast<const int16_t*>(a + p.row_offset[i]);
    for (int64_t k = 0; k < elements; k += kInt8Group, b += V::kPanelColumns * kInt8Group) {
      R right[kVectors];
#pragma GCC unroll 4
      for (int j = 0; j < kVectors; ++j) right[j] = V::widen(b + j * V::kColumns * kInt8Group);
#pragma GCC unroll 8
      for (int i = 0; i < kRows; ++i) {
        const R left = V::repeat4(row[i] + k);
#pragma GCC unroll 4
        for (int j = 0; j < kVectors; ++j) sum[i][j] = V::add(sum[i][j], V::multiply_pairs(left, right[j]));
      }
    }
  }
  const auto* starts = p.column_start;
#pragma GCC unroll 8
  for (int i = 0; i < kRows; ++i) {
    int32_t* const c = p.c + i * p.c_row;
    const R row_start = V::repeat(p.row_start[i]);
#pragma GCC unroll 4
    for (int j = 0; j < kVectors; j += 2) {
      const R columns = V::add_parts(sum[i][j], sum[i][j + 1]);
      V::store(c + j * V::kColumns, V::add(V::add(columns, row_start), V::load(starts + j * V::kColumns)));
    }
  }
}

/// All columns of a panel by two times half of them, for few registers.
template <Int8Kernels::Kernel half, int kPanelColumns>
void both_halves(const Int8MicroArgs& p) {
  half(p);
  Int8MicroArgs second = p;
  second.b = static_cast<const uint8_t*>(p.b) + kPanelColumns / 2 * kInt8Group;
  second.c += kPanelColumns / 2;
  second.column_start += kPanelColumns / 2;
  half(second);
}

}  // namespace
}  // namespace rh::compute
