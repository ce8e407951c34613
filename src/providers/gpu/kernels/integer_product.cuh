// MatMulInteger, and MatMulNBits, whose weights are unpacked as tiles are loaded.
namespace rh {

template <class A, class B>
__device__ void integer_gemm(const IntegerProductArguments& arguments) {
  const GemmArguments& a = arguments.product;
  const long long down = (a.m + kTile - 1) / kTile, across = (a.n + kTile - 1) / kTile;
  const auto zero = [](const auto* zeros, long long at) { return zeros ? (int)zeros[at] : 0; };
  const A* a_zero = static_cast<const A*>(arguments.a_zero);
  const B* b_zero = static_cast<const B*>(arguments.b_zero);
  for (long long tile = blockIdx.x; tile < down * across * a.batches; tile += gridDim.x) {
    const long long batch = tile / (down * across), within = tile % (down * across);
    const A* left = static_cast<const A*>(a.a) + place_of(batch, a.batch_rank, a.batch_sizes, a.a_batch);
    const B* right = static_cast<const B*>(a.b) + place_of(batch, a.batch_rank, a.batch_sizes, a.b_batch);
    gemm_tile<int>(
        a.m, a.n, a.k, within / across * kTile, within % across * kTile,
        [&](long long row, long long k) { return (int)left[row * a.a_row + k * a.a_column] - zero(a_zero, row * arguments.a_zero_step); },
        [&](long long k, long long column) {
          return (int)right[k * a.b_row + column * a.b_column] - zero(b_zero, column * arguments.b_zero_step);
        },
        [&](long long row, long long column, int sum) { static_cast<int*>(a.c)[(batch * a.m + row) * a.n + column] = sum; });
  }
}

/// The code of this number, of codes that fill bytes from their low bits on.
template <int kBits>
__device__ inline int code_at(const unsigned char* bytes, long long number) {
  constexpr int kEach = 8 / kBits;
  return bytes[number / kEach] >> (number % kEach * kBits) & ((1 << kBits) - 1);
}

/// One that is not there is brought among those that are.
__device__ inline long long bounded_group(long long group, long long blocks) { return group < 0 ? 0 : group < blocks ? group : blocks - 1; }

/// kZeros: 0 none, 1 codes, 2 of T.
template <class T, int kBits, int kZeros, class Epilogue>
__device__ void codes_gemm(const CodesProductArguments& a) {
  using C = compute_t<T>;
  const unsigned char* codes = static_cast<const unsigned char*>(a.codes);
  const unsigned char* zeros = static_cast<const unsigned char*>(a.zeros);
  const int* groups = static_cast<const int*>(a.groups);
  const long long down = (a.m + kTile - 1) / kTile, across = (a.n + kTile - 1) / kTile;
  const long long zero_row = (a.blocks * kBits + 7) / 8, block_bytes = a.block * kBits / 8;
  for (long long tile = blockIdx.x; tile < down * across; tile += gridDim.x) {
    gemm_tile<C>(
        a.m, a.n, a.k, tile / across * kTile, tile % across * kTile, [&](long long row, long long k) { return load<T>(a.a, row * a.k + k); },
        [&](long long k, long long column) {
          const long long block = k / a.block, group = groups ? bounded_group(groups[k], a.blocks) : block;
          const long long number = column * a.blocks + group;
          C zero = (C)(1 << (kBits - 1));
          if (kZeros == 1) zero = (C)code_at<kBits>(zeros + column * zero_row, group);
          if (kZeros == 2) zero = load<T>(a.zeros, number);
          return ((C)code_at<kBits>(codes + (column * a.blocks + block) * block_bytes, k % a.block) - zero) * load<T>(a.scales, number);
        },
        [&](long long row, long long column, C sum) {
          if (a.bias) sum += load<T>(a.bias, column);
          Epilogue::template put<T>(a.c, behind(a), row * a.n + column, sum);
        });
  }
}

}  // namespace rh
