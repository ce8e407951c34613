// The words of CUDA C++ that are no C++, and the state of the running thread.
#pragma once
#include "stand_abi.h"

#define RH_CUDA_STAND 1
#define __CUDA_EMU__ 1
#ifndef __HIPCC_RTC__
#define __CUDACC_RTC__ 1
#endif

// The stand-in compiler looks for the marks in the preprocessed text (nvrtc/rewrite.cc).
#define __global__ __attribute__((visibility("hidden"), annotate("stand_kernel")))
#define __launch_bounds__(...) stand_launch_bounds(__VA_ARGS__)
// Each worker has a copy of the image to itself and runs one block at a time, so a static variable is a block's own.
#define __shared__ static __attribute__((section("stand_shared")))
#define __device__
#define __host__
#define __constant__ static
#define __forceinline__ inline __attribute__((always_inline))
#define __noinline__ __attribute__((noinline))
#define __grid_constant__
#define __align__(n) __attribute__((aligned(n)))
#define __builtin_align__(n) __attribute__((aligned(n)))

#if defined(__clang__)
#define STAND_AT_ONE_PLACE \
  __attribute__((noinline, convergent))  // a call stays one place in the machine code (with noduplicate it is inlined)
#else
#define STAND_AT_ONE_PLACE __attribute__((noinline))
#endif
#define STAND_SITE __builtin_return_address(0)

extern "C" __attribute__((visibility("hidden"))) StandState stand_state;
extern "C" __attribute__((visibility("hidden"))) const StandApi* stand_api;

using dim3 = StandDim;
using uint3 = StandDim;
using size_t = decltype(sizeof 0);
using cudaStream_t = struct CUstream_st*;
#define threadIdx stand_state.thread
#define blockIdx stand_state.block
#define blockDim stand_state.block_dim
#define gridDim stand_state.grid_dim
#define warpSize (static_cast<int>(stand_state.warp_size))
