#include <algorithm>
#include <cstring>

#include "compute/quant/int8_gemm.h"
#include "compute/quant/int8_kernels.h"
#include "compute/scratch.h"

namespace rh::compute {
namespace {

constexpr int64_t kFewRows = 24;
constexpr int64_t kSumBytes = 48 << 10;  // of the sums of a block of columns, which are read and written for every 64 rows of B
constexpr int64_t kMostColumns = 1024;   // of a block

int64_t rounded_up(int64_t value, int64_t to) { return (value + to - 1) / to * to; }

/// One product; what all blocks of columns read lies in memory of the calling thread.
class UnpackedProduct {
 public:
  UnpackedProduct(const Int8GemmArgs& args, const Int8Matrix& b, int64_t k, int64_t n) : args_(args), b_(b), k_(k), n_(n) {
    const int64_t m = args.m, padded = int8_groups(k) * kInt8Group, stride = args.a.stride ? args.a.stride : k;
    auto* const memory = static_cast<int32_t*>(
        thread_scratch(ScratchSlot::packed_left, static_cast<size_t>(2 * m + n) * sizeof(int32_t) + static_cast<size_t>(m * padded)));
    a_zero_ = memory;
    weight_ = memory + m;
    b_zero_ = memory + 2 * m;
    rows_ = reinterpret_cast<uint8_t*>(memory + 2 * m + n);
    for (int64_t i = 0; i < m; ++i) {
      const int32_t sum = int8_pack_left(static_cast<const uint8_t*>(args.a.data) + i * stride, k, padded,
                                         int8_flip(args.a.is_signed, false), false, 1, rows_ + i * padded);
      a_zero_[i] = args.a_zero.at(i) + int8_shift(args.a.is_signed, false);
      weight_[i] = static_cast<int32_t>(static_cast<uint32_t>(sum) - static_cast<uint32_t>(k) * static_cast<uint32_t>(a_zero_[i]));
    }
    for (int64_t j = 0; j < n; ++j) b_zero_[j] = args.b_zero.at(j) + int8_shift(b.is_signed, true);
  }

  void run(Int8Epilogue epilogue, const Parallel& parallel) const {
    const int64_t share = rounded_up((n_ + parallel.threads() - 1) / parallel.threads(), kInt8Chunk);
    const int64_t most = kSumBytes / (args_.m * static_cast<int64_t>(sizeof(int32_t))) / kInt8Chunk * kInt8Chunk;
    const int64_t block = std::min(share, std::clamp(most, kInt8Chunk, kMostColumns));
    const double bytes = static_cast<double>(k_) * static_cast<double>(block);
    parallel.for_range((n_ + block - 1) / block, {.bytes = bytes, .operations = 0.3 * bytes * static_cast<double>(args_.m)},
                       [&](Range range) {
                         for (int64_t i = range.begin; i < range.end; ++i) run_block(i * block, std::min(block, n_ - i * block), epilogue);
                       });
  }

 private:
  void run_block(int64_t column, int64_t columns, Int8Epilogue epilogue) const {
    const int64_t width = rounded_up(columns, kInt8Chunk);
    auto* const sums = static_cast<int32_t*>(
        thread_scratch(ScratchSlot::row, static_cast<size_t>((args_.m + 1) * width) * sizeof(int32_t) + static_cast<size_t>(width)));
    auto* const zeros = reinterpret_cast<uint8_t*>(sums + (args_.m + 1) * width);
    Int8UnpackedArgs p{.rows = args_.m, .k = k_, .columns = columns, .a = rows_, .a_row = int8_groups(k_) * kInt8Group};
    p.b_row = b_.stride ? b_.stride : n_;
    p.b = static_cast<const uint8_t*>(b_.data) + column;
    p.flip = int8_flip(b_.is_signed, true);
    std::memset(zeros, p.flip, static_cast<size_t>(width));
    p.zeros = zeros;
    p.a_zero = a_zero_;
    p.weight = weight_;
    p.b_zero = b_zero_ + column;
    p.bias = args_.bias ? args_.bias + column : nullptr;
    p.c = sums;
    p.c_row = width;
    p.column_sums = sums + args_.m * width;
    int8_kernels().unpacked(p);
    epilogue({0, column, args_.m, columns, sums, width});
  }

  const Int8GemmArgs& args_;
  const Int8Matrix b_;
  const int64_t k_, n_;
  int32_t *a_zero_, *weight_, *b_zero_;
  uint8_t* rows_;
};

}  // namespace

bool int8_gemm_unpacked(const Int8GemmArgs& args, const Int8Matrix& b, int64_t k, int64_t n, Int8Epilogue epilogue,
                        const Parallel& parallel) {
  if (!int8_kernels().unpacked || args.m > kFewRows) return false;
  if (args.m > 0 && n > 0) UnpackedProduct(args, b, k, n).run(epilogue, parallel);
  return true;
}

}  // namespace rh::compute
