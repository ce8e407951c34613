#include "compute/int8_micro.h"

namespace rh::compute {
namespace {

constexpr int kColumns = 16;

/// The plain kernel, for any processor.
template <int kRows, typename A, typename B>
void micro_kernel(const Int8MicroArgs& p) {
  uint32_t sum[kRows][kColumns];
  for (int i = 0; i < kRows; ++i) {
    for (int j = 0; j < kColumns; ++j) sum[i][j] = static_cast<uint32_t>(p.column_start[j]) + static_cast<uint32_t>(p.row_start[i]);
  }
  const A* a = static_cast<const A*>(p.a);
  const B* b = static_cast<const B*>(p.b);
  for (int64_t g = 0; g < p.groups; ++g, a += kInt8Group, b += kColumns * kInt8Group) {
    for (int i = 0; i < kRows; ++i) {
      const A* left = a + i * p.a_row;
      for (int j = 0; j < kColumns; ++j) {
        const B* right = b + j * kInt8Group;
        sum[i][j] += static_cast<uint32_t>(left[0] * right[0] + left[1] * right[1] + left[2] * right[2] + left[3] * right[3]);
      }
    }
  }
  for (int i = 0; i < kRows; ++i) {
    for (int j = 0; j < kColumns; ++j) p.c[i * p.c_row + j] = static_cast<int32_t>(sum[i][j]);
  }
}

template <typename A, typename B>
struct Table {
  static constexpr Int8Kernels::Kernel rows[] = {nullptr, micro_kernel<1, A, B>, micro_kernel<2, A, B>, micro_kernel<3, A, B>,
                                                 micro_kernel<4, A, B>};
};

}  // namespace

extern const Int8Kernels kGenericInt8 = {4, kColumns, 1, Table<uint8_t, int8_t>::rows, Table<int8_t, uint8_t>::rows};

}  // namespace rh::compute
