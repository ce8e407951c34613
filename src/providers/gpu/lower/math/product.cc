#include "providers/gpu/lower/math/product.h"

#include <array>

namespace rh::gpu {

namespace {

constexpr unsigned kMmaThreads = 128, kPlainThreads = 256;
constexpr size_t kDepth = 16;                                                  // of k, that tiles in shared memory have
constexpr size_t kMmaBytes = 2 * kTileSize * (kDepth + 8) * sizeof(uint16_t);  // rows are eight elements longer

}  // namespace

Tiles tiles_of(const DeviceFacts& device, DType dtype, int64_t m, int64_t n, int64_t problems) {
  const int64_t tiles = (m + kTileSize - 1) / kTileSize * ((n + kTileSize - 1) / kTileSize) * problems;
  if (device.has_matrix_cores && (dtype == DType::float16 || dtype == DType::bfloat16)) {
    return {true, over_blocks(tiles, kMmaThreads, kMmaBytes)};
  }
  const size_t element = dtype == DType::float64 ? sizeof(double) : sizeof(float);
  return {false, over_blocks(tiles, kPlainThreads, 2 * kDepth * kTileSize * element)};
}

// Vectors are matrices of one row or one column; batch dimensions are broadcast.
Product product_of(const Lowering& lowering, ValueId a, ValueId b, ValueId c, bool transpose_a, bool transpose_b) {
  Shape left = lowering.shape(a), right = lowering.shape(b);
  if (left.rank() == 1) left = {1, left[0]};
  if (right.rank() == 1) right = {right[0], 1};
  const int left_rank = left.rank(), right_rank = right.rank();
  Product product{.a = a, .b = b, .c = c};
  product.m = left[left_rank - (transpose_a ? 1 : 2)];
  product.k = left[left_rank - (transpose_a ? 2 : 1)];
  product.n = right[right_rank - (transpose_b ? 2 : 1)];
  const Shape left_batch(left.begin(), left.end() - 2), right_batch(right.begin(), right.end() - 2);
  product.batch = broadcast(left_batch, right_batch);
  product.a_batch = broadcast_strides(left_batch, product.batch);
  product.b_batch = broadcast_strides(right_batch, product.batch);
  for (int64_t& stride : product.a_batch) stride *= product.m * product.k;
  for (int64_t& stride : product.b_batch) stride *= product.k * product.n;
  product.a_row = transpose_a ? 1 : product.k;
  product.a_column = transpose_a ? product.m : 1;
  product.b_row = transpose_b ? 1 : product.n;
  product.b_column = transpose_b ? product.k : 1;
  return product;
}

GemmArguments arguments_of(const Product& product) {
  const std::array strides = {product.a_batch, product.b_batch};
  const StridedDims dims = collapse(product.batch, strides);
  GemmArguments arguments{};
  arguments.m = product.m;
  arguments.n = product.n;
  arguments.k = product.k;
  arguments.batches = product.batch.elements();
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
  return arguments;
}

void lower_product(Lowering& lowering, const Product& product) {
  const int64_t batches = product.batch.elements();
  if (product.m * product.n * batches == 0) return;
  const DType dtype = lowering.dtype(product.c);
  GemmArguments arguments = arguments_of(product);
  const auto [are_mma, size] = tiles_of(lowering.device(), dtype, product.m, product.n, batches);
  const Kernel kernel{are_mma ? "mma" : "gemm",
                      fmt::format("{}<{}, {}", are_mma ? "mma_gemm" : "gemm", element_name(dtype), kPlainEpilogue)};
  const Operand a{offsetof(GemmArguments, a), product.a}, b{offsetof(GemmArguments, b), product.b};
  const Operand c{offsetof(GemmArguments, c), product.c, true};
  if (product.bias == kNoValue) return lowering.launch_open(kernel, size, arguments, {a, b, c}, product.c);
  arguments.bias_row = product.bias_strides[0];
  arguments.bias_column = product.bias_strides[1];
  lowering.launch_open(kernel, size, arguments, {a, b, c, {offsetof(GemmArguments, bias), product.bias}}, product.c);
}

}  // namespace rh::gpu
