#include "compute/quant/int8_depthwise_vector512.h"

namespace rh::compute {
namespace {

struct Pairs : Words512 {
  static constexpr int kTaps = 2;
  static Words add_products(Words sum, Words x, Words w) { return _mm512_add_epi32(sum, _mm512_madd_epi16(x, w)); }
};

}  // namespace

extern const Int8DepthwiseKernels kAvx512Int8Depthwise = int8_depthwise_kernels<Pairs>();

}  // namespace rh::compute
