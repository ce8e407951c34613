#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "base/function_ref.h"
#include "base/thread_pool.h"

namespace rh::compute {

struct Int8Kernels;
struct Int8Rests;

/// A matrix of bytes, signed or not.
struct Int8Matrix {
  const void* data = nullptr;
  bool is_signed = false;
  int64_t stride = 0;  ///< between rows, 0: they are contiguous
};

/// One zero point for all, or one a row (of A) or a column (of B).
struct ZeroPoints {
  const int32_t* values = nullptr;  ///< null: 0
  bool many = false;
  int32_t at(int64_t i) const { return values ? values[many ? i : 0] : 0; }
};

/// A right operand [k, n] in the order in which the kernels read it, and the sums of its columns. Equal ones share their memory.
class PackedInt8Matrix {
 public:
  PackedInt8Matrix() = default;
  /// From [k, n], or from [n, k] when transposed. One that `may_split` has int8_split_kernels() where few groups of it have rests; of
  /// others the kernels are int8_kernels().
  PackedInt8Matrix(const Int8Matrix& b, int64_t k, int64_t n, bool transposed, const Parallel& parallel = {}, bool may_split = true);
  /// The same for one run: into memory_bytes(k, n) of the caller's, 64-byte aligned, which outlive the matrix. Nothing is shared.
  PackedInt8Matrix(const Int8Matrix& b, int64_t k, int64_t n, bool transposed, void* memory, const Parallel& parallel);
  static size_t memory_bytes(int64_t k, int64_t n);

  bool empty() const { return !data_; }
  int64_t k() const { return k_; }
  int64_t n() const { return n_; }
  size_t bytes() const;
  bool is_signed() const { return is_signed_; }  ///< what was packed
  const Int8Kernels& kernels() const { return *kernels_; }
  const uint8_t* panel(int64_t i) const;
  Int8Rests rests(int64_t panel) const;
  /// Sums of the bytes as the kernels see them, signed.
  const int32_t* column_sums() const { return sums_.get(); }

 private:
  struct Rests;
  PackedInt8Matrix(int64_t k, int64_t n, bool is_signed);
  int64_t panels() const;
  size_t panel_bytes() const;
  /// Panels [first, end), with the sums of their columns.
  void pack_panels(const Int8Matrix& b, bool transposed, int64_t first, int64_t end, uint8_t* out);
  /// Whether rests are so few that taking them by themselves pays; they are kept then.
  bool find_rests(const Int8Matrix& b, bool transposed);
  void pack_turned(const uint8_t* columns, int64_t stride, int64_t count, uint8_t flip, uint8_t* out) const;

  const Int8Kernels* kernels_ = nullptr;
  int64_t k_ = 0, n_ = 0;
  bool is_signed_ = false;
  std::shared_ptr<const uint8_t[]> data_;
  std::shared_ptr<int32_t[]> sums_;
  std::shared_ptr<const Rests> rests_;  ///< null: there are none
};

/// Finished sums of a part of the product: sums[i * stride + j] belongs to row + i, column + j. To be changed at will.
struct Int8Tile {
  int64_t row, column, rows, columns;
  int32_t* sums;
  int64_t stride;
};
/// Takes each part of a product once, from several threads.
using Int8Epilogue = FunctionRef<void(const Int8Tile&)>;

/// sums[i, j] = bias[j] + sum over k of (a[i, k] - a_zero[i]) (b[k, j] - b_zero[j]), exact modulo 2^32 on every instruction set.
struct Int8GemmArgs {
  int64_t m = 0;
  Int8Matrix a;
  ZeroPoints a_zero;
  ZeroPoints b_zero;
  const int32_t* bias = nullptr;  ///< n values or null
};
void int8_gemm(const Int8GemmArgs& args, const PackedInt8Matrix& b, Int8Epilogue epilogue, const Parallel& parallel);

/// The same by a right operand [k, n] that lies as it came, for so few rows that packing it would take longer. False, with nothing done,
/// where that is not so or the processor has no kernel for it.
bool int8_gemm_unpacked(const Int8GemmArgs& args, const Int8Matrix& b, int64_t k, int64_t n, Int8Epilogue epilogue,
                        const Parallel& parallel);

/// The plain product into c [m, n]: the oracle.
void int8_gemm_reference(const Int8GemmArgs& args, const Int8Matrix& b, int64_t k, int64_t n, int32_t* c);

}  // namespace rh::compute
