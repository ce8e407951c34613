// What stands for the kernels with AVX-512 in a build that leaves them out (RH_KERNELS=avx2): tables that no processor's features lead to.
#ifdef RH_WITHOUT_AVX512
#include "compute/conv/blocked/conv_blocked_micro.h"
#include "compute/conv/conv_micro.h"
#include "compute/conv/nhwc/nhwc_depthwise_micro.h"
#include "compute/conv/parts/conv_parts_micro.h"
#include "compute/gemm/compact_panel.h"
#include "compute/gemm/gemm_amx.h"
#include "compute/gemm/gemm_fip_kernels.h"
#include "compute/gemm/gemm_micro.h"
#include "compute/quant/int8_depthwise_micro.h"
#include "compute/quant/int8_micro.h"
#include "compute/quant/nbits_int16_micro.h"
#include "compute/quant/nbits_int8_micro.h"

namespace rh::compute {

const MicroKernels<float> kAvx512Float{};
const MicroKernels<double> kAvx512Double{};
const FipKernels kAvx512Fip{}, kAvx512FipHalves{};
const CompactKernels kAvx512Bits28{}, kAvx512Bits28Halves{}, kAvx512Bits16{};
const AmxKernels kAmxKernels{};
const ConvTable kAvx512Conv{};
const WinogradKernels kAvx512Winograd{};
const BlockedKernels kAvx512Blocked{};
const PartsKernels kAvx512Parts{};
const NhwcDepthwiseKernels kAvx512NhwcDepthwise{};
const Int8Kernels kAvx512Int8{}, kAvx512VnniInt8{};
const Int8DepthwiseKernels kAvx512Int8Depthwise{}, kAvx512VnniInt8Depthwise{};
const NBitsInt8Kernels kAvx512VnniNBitsInt8{};
const NBitsInt16Kernels kAvx512VnniNBits{};

}  // namespace rh::compute
#endif
