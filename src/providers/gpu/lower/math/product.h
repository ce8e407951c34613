#pragma once

#include "providers/gpu/plan/lowering.h"
#include "providers/gpu/plan/strides.h"

namespace rh::gpu {

/// c = alpha a b + beta bias for each batch; strides are in elements.
struct Product {
  ValueId a, b, c;
  ValueId bias = kNoValue;
  int64_t m = 0, n = 0, k = 0;
  int64_t a_row = 0, a_column = 1, b_row = 0, b_column = 1;
  Shape bias_strides = {};  ///< row and column
  Shape batch = {}, a_batch = {}, b_batch = {};
  float alpha = 1, beta = 1;
};

/// a b as MatMul has it, of matrices that may be transposed.
Product product_of(const Lowering& lowering, ValueId a, ValueId b, ValueId c, bool transpose_a = false, bool transpose_b = false);
/// But for addresses and the bias.
GemmArguments arguments_of(const Product& product);
/// Adds the launch of a product.
void lower_product(Lowering& lowering, const Product& product);

/// How blocks make tiles of products of a type: by tensor cores (kernels/mma.cuh), or plainly (kernels/gemm.cuh).
struct Tiles {
  bool are_mma;
  LaunchSize size;
};
inline constexpr int64_t kTileSize = 64;
/// Of `problems` products of m rows and n columns.
Tiles tiles_of(const DeviceFacts& device, DType dtype, int64_t m, int64_t n, int64_t problems);

}  // namespace rh::gpu
