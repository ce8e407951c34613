#include "providers/gpu/lower/math/product.h"

#include <array>

namespace rh::gpu {

size_t tile_bytes(DType dtype) {
  constexpr size_t kDepth = 16;
  return 2 * kDepth * kTileSize * (dtype == DType::float64 ? sizeof(double) : sizeof(float));
}

void lower_product(Lowering& lowering, const Product& product) {
  const int64_t batches = product.batch.elements();
  if (product.m * product.n * batches == 0) return;
  const DType dtype = lowering.dtype(product.c);
  const std::array strides = {product.a_batch, product.b_batch};
  const StridedDims dims = collapse(product.batch, strides);
  GemmArguments arguments{};
  arguments.m = product.m;
  arguments.n = product.n;
  arguments.k = product.k;
  arguments.batches = batches;
  arguments.a_row = product.a_row;
  arguments.a_column = product.a_column;
  arguments.b_row = product.b_row;
  arguments.b_column = product.b_column;
  arguments.alpha = product.alpha;
  arguments.beta = product.beta;
  arguments.batch_rank = dims.rank();
  fill(arguments.batch_sizes, dims.sizes);
  fill(arguments.a_batch, dims.strides[0]);
  fill(arguments.b_batch, dims.strides[1]);
  const int64_t tiles = (product.m + kTileSize - 1) / kTileSize * ((product.n + kTileSize - 1) / kTileSize) * batches;
  const Kernel kernel{"gemm", fmt::format("gemm<{}>", element_name(dtype))};
  const LaunchSize size = over_blocks(tiles, kTileThreads, tile_bytes(dtype));
  const Operand a{offsetof(GemmArguments, a), product.a}, b{offsetof(GemmArguments, b), product.b};
  const Operand c{offsetof(GemmArguments, c), product.c, true};
  if (product.bias == kNoValue) return lowering.launch(kernel, size, arguments, {a, b, c});
  arguments.bias_row = product.bias_strides[0];
  arguments.bias_column = product.bias_strides[1];
  lowering.launch(kernel, size, arguments, {a, b, c, {offsetof(GemmArguments, bias), product.bias}});
}

}  // namespace rh::gpu
