// Which instruction sets the portable vector code is compiled for; include this instead of hwy/highway.h. No include guard: it is read once
// a target. RH_ONLY_AVX2 and RH_ONLY_AVX512 (the build's RH_KERNELS) leave that one, and the plain code of machines that lack it.
#undef HWY_DISABLED_TARGETS
#define RH_UNUSED_TARGETS (HWY_SSSE3 | HWY_AVX3_DL | HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128)
#ifdef RH_BASE_AVX2
#define HWY_DISABLED_TARGETS (RH_UNUSED_TARGETS | HWY_SSE4 | HWY_AVX3 | HWY_SCALAR | HWY_EMU128)
#elif defined(RH_ONLY_AVX2)
#define HWY_DISABLED_TARGETS (RH_UNUSED_TARGETS | HWY_SSE4 | HWY_AVX3)
#elif defined(RH_ONLY_AVX512)
#define HWY_DISABLED_TARGETS (RH_UNUSED_TARGETS | HWY_SSE4 | HWY_AVX2)
#else
#define HWY_DISABLED_TARGETS RH_UNUSED_TARGETS
#endif
#ifndef HWY_COMPILE_ALL_ATTAINABLE
#define HWY_COMPILE_ALL_ATTAINABLE
#endif
#ifndef HWY_DISABLE_PCLMUL_AES
#define HWY_DISABLE_PCLMUL_AES
#endif
