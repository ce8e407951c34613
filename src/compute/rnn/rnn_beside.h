#pragma once

#include <cstdint>

#include "base/thread_pool.h"
#include "compute/gemm/gemm.h"
#include "compute/gemm/gemm_kernels.h"

namespace rh::compute {

/// The products of a recurrent layer with one batch row, w and r as run_cell takes them: x has a row a step, in the order in which the
/// layer takes them.
struct RowProducts {
  const PackedMatrix<float>& w;
  const PackedMatrix<float>& r;
  const float* x = nullptr;
  int64_t x_stride = 0;  ///< in elements; negative where a layer goes backwards
  int64_t steps = 0;
  const float* bias = nullptr;  ///< of both products
};

/// Input products of a block of steps worked out beside the recurrent ones of the block before it, for one reads the caches and the other
/// multiplies: each step's recurrent panel goes with a part of the input product's sums of that panel.
class ProductsBeside {
 public:
  /// Whether these products may go so: their kernel is there, and sums stay as short as those of gemm().
  static bool fits(const RowProducts& products);
  /// Floats of scratch memory, of the steps' gates together.
  static int64_t scratch_floats(int64_t gates);

  ProductsBeside(const RowProducts& products, float* scratch, const Parallel& parallel);

  /// The gates of the next step, x W^T + h R^T + bias, which may be overwritten.
  float* next(const float* h);

 private:
  void project_first();
  BesideArgs<float> step_args(const float* h) const;  ///< of the first panel

  const RowProducts p_;
  const Parallel& parallel_;
  const MicroKernels<float>& kernels_;
  const int64_t width_, panels_, blocks_;
  const Grid grid_;
  float *now_, *later_;  ///< input products of this block of steps and the next one: [panels, steps, panel width]
  float *gates_, *bias_;
  int64_t block_ = 0, step_ = 0;
  bool backwards_ = false;
};

}  // namespace rh::compute
