#include "compute/quant/int8_depthwise_vector512.h"

namespace rh::compute {
namespace {

/// Four unsigned by four signed bytes.
struct Quads : Words512 {
  static constexpr int kTaps = 4;
  static Words add_products(Words sum, Words x, Words w) { return _mm512_dpbusd_epi32(sum, x, w); }
};

}  // namespace

extern const Int8DepthwiseKernels kAvx512VnniInt8Depthwise = int8_depthwise_kernels<Quads>();

}  // namespace rh::compute
