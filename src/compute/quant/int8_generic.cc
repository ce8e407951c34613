#include "compute/quant/int8_micro.h"

namespace rh::compute {
namespace {

constexpr int kPanelColumns = 16;

/// The plain kernel, for any processor.
template <int kRows, int kColumns>
void micro_kernel(const Int8MicroArgs& p) {
  uint32_t sum[kRows][kColumns];
  for (int i = 0; i < kRows; ++i) {
    for (int j = 0; j < kColumns; ++j) sum[i][j] = static_cast<uint32_t>(p.column_start[j]) + static_cast<uint32_t>(p.row_start[i]);
  }
  const int8_t* b = static_cast<const int8_t*>(p.b);
  for (int64_t s = 0; s < p.segments; ++s) {
    const uint8_t* a = static_cast<const uint8_t*>(p.a) + p.segment_offset[s];
    for (int64_t g = 0; g < p.groups; ++g, a += kInt8Group, b += kPanelColumns * kInt8Group) {
      for (int i = 0; i < kRows; ++i) {
        const uint8_t* left = a + p.row_offset[i];
        for (int j = 0; j < kColumns; ++j) {
          const int8_t* right = b + j * kInt8Group;
          sum[i][j] += static_cast<uint32_t>(left[0] * right[0] + left[1] * right[1] + left[2] * right[2] + left[3] * right[3]);
        }
      }
    }
  }
  for (int i = 0; i < kRows; ++i) {
    for (int j = 0; j < kColumns; ++j) p.c[i * p.c_row + j] = static_cast<int32_t>(sum[i][j]);
  }
}

template <int kColumns>
struct Table {
  static constexpr Int8Kernels::Kernel rows[] = {nullptr, micro_kernel<1, kColumns>, micro_kernel<2, kColumns>, micro_kernel<3, kColumns>,
                                                 micro_kernel<4, kColumns>};
};

}  // namespace

extern const Int8Kernels kGenericInt8 = {4, kPanelColumns, 1, Table<kPanelColumns>::rows, Table<kPanelColumns / 2>::rows};

}  // namespace rh::compute
