// For the tests of the CUDA stand: a program that knows only the driver's and NVRTC's interface, run in a process of its own for each
// environment.
#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "stands/cuda/api/driver_api.h"
#include "stands/cuda/api/nvrtc_api.h"

namespace rh::stand {

#define RH_STAND_TESTED_FUNCTIONS(X)                                                                                              \
  X(cuInit, (unsigned))                                                                                                           \
  X(cuDriverGetVersion, (int*))                                                                                                   \
  X(cuGetProcAddress_v2, (const char*, void**, int, uint64_t, int*))                                                              \
  X(cuGetErrorString, (CUresult, const char**))                                                                                   \
  X(cuDeviceGetCount, (int*))                                                                                                     \
  X(cuDeviceGet, (CUdevice*, int))                                                                                                \
  X(cuDeviceGetName, (char*, int, CUdevice))                                                                                      \
  X(cuDeviceGetUuid_v2, (CUuuid*, CUdevice))                                                                                      \
  X(cuDeviceGetPCIBusId, (char*, int, CUdevice))                                                                                  \
  X(cuDeviceGetByPCIBusId, (CUdevice*, const char*))                                                                              \
  X(cuDeviceTotalMem_v2, (size_t*, CUdevice))                                                                                     \
  X(cuDeviceGetAttribute, (int*, int, CUdevice))                                                                                  \
  X(cuDevicePrimaryCtxRetain, (CUcontext*, CUdevice))                                                                             \
  X(cuDevicePrimaryCtxRelease_v2, (CUdevice))                                                                                     \
  X(cuDevicePrimaryCtxReset_v2, (CUdevice))                                                                                       \
  X(cuCtxSetCurrent, (CUcontext))                                                                                                 \
  X(cuCtxSynchronize, ())                                                                                                         \
  X(cuModuleLoadData, (CUmodule*, const void*))                                                                                   \
  X(cuModuleUnload, (CUmodule))                                                                                                   \
  X(cuModuleGetFunction, (CUfunction*, CUmodule, const char*))                                                                    \
  X(cuFuncSetAttribute, (CUfunction, int, int))                                                                                   \
  X(cuFuncGetAttribute, (int*, int, CUfunction))                                                                                  \
  X(cuLaunchKernel, (CUfunction, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, CUstream, void**, void**)) \
  X(cuMemAlloc_v2, (CUdeviceptr*, size_t))                                                                                        \
  X(cuMemFree_v2, (CUdeviceptr))                                                                                                  \
  X(cuMemGetInfo_v2, (size_t*, size_t*))                                                                                          \
  X(cuMemHostAlloc, (void**, size_t, unsigned))                                                                                   \
  X(cuMemFreeHost, (void*))                                                                                                       \
  X(cuPointerGetAttribute, (void*, int, CUdeviceptr))                                                                             \
  X(cuMemcpyHtoD_v2, (CUdeviceptr, const void*, size_t))                                                                          \
  X(cuMemcpyDtoH_v2, (void*, CUdeviceptr, size_t))                                                                                \
  X(cuMemcpyHtoDAsync_v2, (CUdeviceptr, const void*, size_t, CUstream))                                                           \
  X(cuMemcpyDtoHAsync_v2, (void*, CUdeviceptr, size_t, CUstream))                                                                 \
  X(cuMemcpyDtoDAsync_v2, (CUdeviceptr, CUdeviceptr, size_t, CUstream))                                                           \
  X(cuMemcpyAsync, (CUdeviceptr, CUdeviceptr, size_t, CUstream))                                                                  \
  X(cuMemsetD8Async, (CUdeviceptr, unsigned char, size_t, CUstream))                                                              \
  X(cuMemsetD32Async, (CUdeviceptr, unsigned, size_t, CUstream))                                                                  \
  X(cuStreamCreate, (CUstream*, unsigned))                                                                                        \
  X(cuStreamDestroy_v2, (CUstream))                                                                                               \
  X(cuStreamSynchronize, (CUstream))                                                                                              \
  X(cuStreamQuery, (CUstream))                                                                                                    \
  X(cuStreamWaitEvent, (CUstream, CUevent, unsigned))                                                                             \
  X(cuLaunchHostFunc, (CUstream, CUhostFn, void*))                                                                                \
  X(cuEventCreate, (CUevent*, unsigned))                                                                                          \
  X(cuEventDestroy_v2, (CUevent))                                                                                                 \
  X(cuEventRecord, (CUevent, CUstream))                                                                                           \
  X(cuEventQuery, (CUevent))                                                                                                      \
  X(cuEventSynchronize, (CUevent))                                                                                                \
  X(cuEventElapsedTime, (float*, CUevent, CUevent))                                                                               \
  X(cuStreamBeginCapture_v2, (CUstream, unsigned))                                                                                \
  X(cuStreamEndCapture, (CUstream, CUgraph*))                                                                                     \
  X(cuStreamIsCapturing, (CUstream, unsigned*))                                                                                   \
  X(cuGraphInstantiateWithFlags, (CUgraphExec*, CUgraph, uint64_t))                                                               \
  X(cuGraphLaunch, (CUgraphExec, CUstream))                                                                                       \
  X(cuGraphExecDestroy, (CUgraphExec))                                                                                            \
  X(cuGraphDestroy, (CUgraph))                                                                                                    \
  X(cuGraphGetNodes, (CUgraph, CUgraphNode*, size_t*))                                                                            \
  X(cuDeviceGetDefaultMemPool, (CUmemoryPool*, CUdevice))                                                                         \
  X(cuMemPoolGetAttribute, (CUmemoryPool, int, void*))                                                                            \
  X(cuMemAllocAsync, (CUdeviceptr*, size_t, CUstream))                                                                            \
  X(cuMemFreeAsync, (CUdeviceptr, CUstream))

// The driver of the calling process.
struct Driver {
#define RH_STAND_MEMBER(name, parameters) CUresult(*name) parameters = nullptr;
  RH_STAND_TESTED_FUNCTIONS(RH_STAND_MEMBER)
#undef RH_STAND_MEMBER
  long (*calls)(const char*) = nullptr;
  long (*live)(const char*) = nullptr;
  void (*fail)(const char*, long, int) = nullptr;
  void (*clear)() = nullptr;
  const char* (*message)() = nullptr;
};

// What a child wrote by say(), what it wrote to stderr, and how it ended.
struct Outcome {
  std::string said, errors;
  int signal = 0;
  bool failed = false;
};
using Environment = std::vector<std::pair<std::string, std::string>>;

// In a child of this process, which has the driver loaded but nothing initialised. Checks that fail there end it, and `failed` is set.
Outcome in_child(const Environment& environment, const std::function<void(Driver&)>& body);
void say(const std::string& text);
void require(bool holds, const std::string& what);
// Requires that the driver's answer is that error.
void expect_result(CUresult expected, CUresult result, const std::string& what);

// An image of tests/stands/cuda/kernels/FILE, compiled once for this process.
struct Image {
  std::string bytes, log, lowered;
  int result = 0;
};
const Image& image_of(const std::string& file, bool checked, const std::string& architecture = "sm_80", const std::string& expression = "");
Image compile_text(const std::string& text, const std::vector<std::string>& options);

// A context with a module and a stream; for children.
class Session {
 public:
  Session(Driver& driver, const std::string& image);
  CUfunction function(const std::string& name);
  CUdeviceptr allocate(size_t bytes);
  template <class T>
  CUdeviceptr put(const std::vector<T>& values) {
    CUdeviceptr p = allocate(values.size() * sizeof(T));
    expect_result(0, driver.cuMemcpyHtoD_v2(p, values.data(), values.size() * sizeof(T)), "cuMemcpyHtoD");
    return p;
  }
  template <class T>
  std::vector<T> get(CUdeviceptr p, size_t count) {
    std::vector<T> values(count);
    expect_result(0, driver.cuMemcpyDtoH_v2(values.data(), p, count * sizeof(T)), "cuMemcpyDtoH");
    return values;
  }
  template <class... A>
  CUresult launch_on(CUstream on, const std::string& name, unsigned gx, unsigned gy, unsigned threads, unsigned dynamic_shared,
                     A... arguments) {
    void* parameters[] = {&arguments...};
    return driver.cuLaunchKernel(function(name), gx, gy, 1, threads, 1, 1, dynamic_shared, on, parameters, nullptr);
  }
  // Launches and waits; what the wait says.
  template <class... A>
  CUresult run(const std::string& name, unsigned gx, unsigned gy, unsigned threads, unsigned dynamic_shared, A... arguments) {
    CUresult result = launch_on(stream, name, gx, gy, threads, dynamic_shared, arguments...);
    return result ? result : driver.cuStreamSynchronize(stream);
  }

  Driver& driver;
  CUcontext context = nullptr;
  CUmodule module = nullptr;
  CUstream stream = nullptr;
};

}  // namespace rh::stand
