#pragma once

#include "compute/elementwise/narrow_floats.h"
#include "compute/elementwise/vector_math.h"
#include "compute/gemm/gemm_product.h"

namespace rh::compute {

/// One product of a half type. Panels of B and strips of rows of A are widened into memory of the thread, multiplied by the kernels of
/// float, and the sums are narrowed into C: no operand is ever held in float as a whole.
template <typename S>
class NarrowProduct {
 public:
  /// `packed`: panels of S as PackedMatrix lays them out, or null: B lies at b.
  NarrowProduct(const GemmArgs<S>& given, const S* a, const S* b, const S* packed, S* c, const MicroKernels<float>& kernels)
      : args_(given), a_(a), b_(b), packed_(packed), c_(c), kernels_(kernels) {
    if (args_.lda == 0) args_.lda = args_.transpose_a ? args_.m : args_.k;
    if (args_.ldb == 0) args_.ldb = args_.transpose_b ? args_.k : args_.n;
    if (args_.ldc == 0) args_.ldc = args_.n;
    Epilogue<S>& e = args_.epilogue;
    if (e.bias_kind == BiasKind::none) e.bias = nullptr;
    if (e.residual_stride == 0) e.residual_stride = args_.n;
    row_chunks_ = (args_.m + kernels.rows - 1) / kernels.rows;
    panels_ = (args_.n + kernels.columns - 1) / kernels.columns;
    group_panels_ = std::clamp<int64_t>(kBlockFloats / std::max<int64_t>(1, args_.k * kernels.columns), 1, kGroupPanels);
    strip_chunks_ = std::clamp<int64_t>(kBlockFloats / std::max<int64_t>(1, args_.k * kernels.rows), 1, kRowBlock / kernels.rows);
  }

  /// The same with other operands, laid out alike.
  NarrowProduct at(const S* a, const S* b, S* c, int64_t c_offset) const {
    NarrowProduct moved = *this;
    moved.a_ = a;
    moved.b_ = b;
    moved.c_ = c;
    if (moved.args_.epilogue.residual) moved.args_.epilogue.residual += c_offset;
    return moved;
  }

  Grid grid(int threads) const {
    const double m = static_cast<double>(args_.m), n = static_cast<double>(args_.n), k = static_cast<double>(args_.k);
    return choose_grid(row_chunks_, panels_, m * n * k, m * k * sizeof(S), 2 * n * k * sizeof(S), threads);
  }

  void run_piece(const Grid& grid, int64_t index) const {
    const Part chunks = share_of(row_chunks_, grid.rows, index / grid.columns);
    const Part panels = share_of(panels_, grid.columns, index % grid.columns);
    if (chunks.size == 0) return;
    for (int64_t done = 0; done < panels.size; done += group_panels_) {
      const int64_t first = (panels.begin + done) * kernels_.columns;
      const int64_t end = std::min(args_.n, (panels.begin + std::min(done + group_panels_, panels.size)) * kernels_.columns);
      const float* right = widen_right(first, end);
      for (int64_t chunk = 0; chunk < chunks.size; chunk += strip_chunks_) {
        const Part top = part_of(args_.m, row_chunks_, chunks.begin + chunk);
        const Part bottom = part_of(args_.m, row_chunks_, chunks.begin + std::min(chunk + strip_chunks_, chunks.size) - 1);
        run_strip(top.begin, bottom.begin + bottom.size - top.begin, first, end - first, right);
      }
    }
  }

 private:
  static constexpr int64_t kBlockFloats = 96 * 1024;  // of a widened operand: two of them share a second-level cache

  static float* floats(ScratchSlot slot, int64_t count) {
    return static_cast<float*>(thread_scratch(slot, static_cast<size_t>(count) * sizeof(float) + 64));
  }

  /// Columns [first, end) of B as panels of float.
  const float* widen_right(int64_t first, int64_t end) const {
    const int64_t width = kernels_.columns, k = args_.k, count = (end - first + width - 1) / width;
    float* panels = floats(ScratchSlot::packed_right, count * width * k);
    if (packed_) {
      widen(packed_ + first * k, panels, count * width * k);
      return panels;
    }
    const int64_t rows = args_.transpose_b ? end - first : k, columns = args_.transpose_b ? k : end - first;
    const S* from = args_.transpose_b ? b_ + first * args_.ldb : b_ + first;
    float* wide = floats(ScratchSlot::row, rows * columns);
    for (int64_t i = 0; i < rows; ++i) widen(from + i * args_.ldb, wide + i * columns, columns);
    for (int64_t panel = 0; panel < count; ++panel) {
      const float* block = wide + panel * width * (args_.transpose_b ? columns : 1);
      pack_panel(block, columns, args_.transpose_b, k, std::min(width, end - first - panel * width), width, panels + panel * width * k);
    }
    return panels;
  }

  void run_strip(int64_t row, int64_t rows, int64_t column, int64_t columns, const float* right) const {
    const int64_t k = args_.k;
    float* left = floats(ScratchSlot::packed_left, rows * k);
    if (args_.transpose_a) {
      for (int64_t i = 0; i < k; ++i) widen(a_ + i * args_.lda + row, left + i * rows, rows);
    } else {
      for (int64_t i = 0; i < rows; ++i) widen(a_ + (row + i) * args_.lda, left + i * k, k);
    }
    float* sums = floats(ScratchSlot::row, rows * columns + 2 * columns + rows);
    float* bias = sums + rows * columns;
    GemmArgs<float> product{.m = rows, .n = columns, .k = k, .transpose_a = args_.transpose_a, .alpha = static_cast<float>(args_.alpha)};
    product.beta = start_sums(row, rows, column, columns, sums, bias);
    const Epilogue<S>& e = args_.epilogue;
    if (e.bias) {
      const bool by_row = e.bias_kind == BiasKind::per_row;
      widen(e.bias + (by_row ? row : column), bias, by_row ? rows : columns);
      product.epilogue.bias_kind = e.bias_kind;
      product.epilogue.bias = bias;
    }
    product.epilogue.activation = e.activation;
    GemmProduct<float>(product, left, nullptr, right, sums, kernels_).run_piece({}, 0);
    for (int64_t i = 0; i < rows; ++i) narrow(sums + i * columns, c_ + (row + i) * args_.ldc + column, columns);
  }

  /// What is added to the product, beta C + residual_scale residual, goes where the sums will lie; returns the beta that adds it.
  float start_sums(int64_t row, int64_t rows, int64_t column, int64_t columns, float* sums, float* other) const {
    const Epilogue<S>& e = args_.epilogue;
    const float beta = static_cast<float>(args_.beta), scale = static_cast<float>(e.residual_scale);
    if (beta == 0 && !e.residual) return 0;
    for (int64_t i = 0; i < rows; ++i) {
      float* to = sums + i * columns;
      const S* residual = e.residual ? e.residual + (row + i) * e.residual_stride + column : nullptr;
      widen(beta != 0 ? c_ + (row + i) * args_.ldc + column : residual, to, columns);
      if (beta == 0 || !residual) continue;
      if (beta != 1) scale_shift(to, beta, 0, to, columns);
      widen(residual, other, columns);
      add_scaled(other, scale, to, columns);
    }
    return beta != 0 && e.residual ? 1 : beta != 0 ? beta : scale;
  }

  GemmArgs<S> args_;
  const S* a_;
  const S* b_;
  const S* packed_;
  S* c_;
  const MicroKernels<float>& kernels_;
  int64_t row_chunks_, panels_, group_panels_, strip_chunks_;
};

}  // namespace rh::compute
