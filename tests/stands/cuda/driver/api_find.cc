// How a program finds the functions, the names of errors, and the stand's own functions for tests.

#include <dlfcn.h>

#include <cstring>
#include <map>
#include <string>

#include "stands/cuda/driver/current.h"
#include "stands/cuda/driver/graph.h"
#include "stands/cuda/driver/host_memory.h"
#include "stands/cuda/driver/module.h"
#include "stands/cuda/driver/pool.h"

using namespace rh::stand;

namespace {

struct ErrorName {
  CUresult error;
  const char *name, *text;
};
constexpr ErrorName kErrors[] = {
    {CUDA_SUCCESS, "CUDA_SUCCESS", "no error"},
    {CUDA_ERROR_INVALID_VALUE, "CUDA_ERROR_INVALID_VALUE", "invalid argument"},
    {CUDA_ERROR_OUT_OF_MEMORY, "CUDA_ERROR_OUT_OF_MEMORY", "out of memory"},
    {CUDA_ERROR_NOT_INITIALIZED, "CUDA_ERROR_NOT_INITIALIZED", "initialization error"},
    {CUDA_ERROR_NO_DEVICE, "CUDA_ERROR_NO_DEVICE", "no CUDA-capable device is detected"},
    {CUDA_ERROR_INVALID_DEVICE, "CUDA_ERROR_INVALID_DEVICE", "invalid device ordinal"},
    {CUDA_ERROR_INVALID_IMAGE, "CUDA_ERROR_INVALID_IMAGE", "device kernel image is invalid"},
    {CUDA_ERROR_INVALID_CONTEXT, "CUDA_ERROR_INVALID_CONTEXT", "invalid device context"},
    {CUDA_ERROR_NO_BINARY_FOR_GPU, "CUDA_ERROR_NO_BINARY_FOR_GPU", "no kernel image is available for execution on the device"},
    {CUDA_ERROR_INVALID_PTX, "CUDA_ERROR_INVALID_PTX", "a PTX JIT compilation failed"},
    {CUDA_ERROR_UNSUPPORTED_PTX_VERSION, "CUDA_ERROR_UNSUPPORTED_PTX_VERSION",
     "the provided PTX was compiled with an unsupported toolchain."},
    {CUDA_ERROR_INVALID_HANDLE, "CUDA_ERROR_INVALID_HANDLE", "invalid resource handle"},
    {CUDA_ERROR_NOT_FOUND, "CUDA_ERROR_NOT_FOUND", "named symbol not found"},
    {CUDA_ERROR_NOT_READY, "CUDA_ERROR_NOT_READY", "device not ready"},
    {CUDA_ERROR_ILLEGAL_ADDRESS, "CUDA_ERROR_ILLEGAL_ADDRESS", "an illegal memory access was encountered"},
    {CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES, "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES", "too many resources requested for launch"},
    {CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED, "CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED",
     "part or all of the requested memory range is already mapped"},
    {CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED, "CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED",
     "pointer does not correspond to a registered memory region"},
    {CUDA_ERROR_LAUNCH_FAILED, "CUDA_ERROR_LAUNCH_FAILED", "unspecified launch failure"},
    {CUDA_ERROR_NOT_SUPPORTED, "CUDA_ERROR_NOT_SUPPORTED", "operation not supported"},
    {CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, "CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED", "operation not permitted when stream is capturing"},
    {CUDA_ERROR_STREAM_CAPTURE_INVALIDATED, "CUDA_ERROR_STREAM_CAPTURE_INVALIDATED",
     "operation failed due to a previous error during capture"},
    {CUDA_ERROR_STREAM_CAPTURE_MERGE, "CUDA_ERROR_STREAM_CAPTURE_MERGE", "operation would result in a merge of separate capture sequences"},
    {CUDA_ERROR_STREAM_CAPTURE_UNMATCHED, "CUDA_ERROR_STREAM_CAPTURE_UNMATCHED", "capture was not ended in the same stream as it began"},
    {CUDA_ERROR_STREAM_CAPTURE_UNJOINED, "CUDA_ERROR_STREAM_CAPTURE_UNJOINED", "capturing stream has unjoined work"},
    {CUDA_ERROR_STREAM_CAPTURE_ISOLATION, "CUDA_ERROR_STREAM_CAPTURE_ISOLATION", "dependency created on uncaptured work in another stream"},
    {CUDA_ERROR_STREAM_CAPTURE_IMPLICIT, "CUDA_ERROR_STREAM_CAPTURE_IMPLICIT",
     "operation would make the legacy stream depend on a capturing blocking stream"},
    {CUDA_ERROR_CAPTURED_EVENT, "CUDA_ERROR_CAPTURED_EVENT", "operation not permitted on an event last recorded in a capturing stream"},
    {CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD, "CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD",
     "attempt to terminate a thread-local capture sequence from another thread"},
    {CUDA_ERROR_UNKNOWN, "CUDA_ERROR_UNKNOWN", "unknown error"},
};

const ErrorName* find_error(CUresult error) {
  for (const auto& e : kErrors)
    if (e.error == error) return &e;
  return nullptr;
}

}  // namespace

RH_STAND_EXPORT CUresult cuGetErrorName(CUresult error, const char** name) {
  const ErrorName* found = find_error(error);
  if (!name) return CUDA_ERROR_INVALID_VALUE;
  *name = found ? found->name : nullptr;
  return found ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}
RH_STAND_EXPORT CUresult cuGetErrorString(CUresult error, const char** text) {
  const ErrorName* found = find_error(error);
  if (!text) return CUDA_ERROR_INVALID_VALUE;
  *text = found ? found->text : nullptr;
  return found ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

// The newest form of a function that the library has.
static void* find_function_of_library(const std::string& name) {
  static void* self = [] {
    Dl_info found{};
    dladdr(reinterpret_cast<const void*>(&cuGetErrorName), &found);
    return dlopen(found.dli_fname, RTLD_NOW | RTLD_NOLOAD);
  }();
  for (const char* suffix : {"_v4", "_v3", "_v2", ""})
    if (void* function = dlsym(self, (name + suffix).c_str())) return function;
  return nullptr;
}

RH_STAND_DRIVER(cuGetProcAddress_v2, (const char* name, void** function, int version, uint64_t flags, int* status),
                (name, function, version, flags, status)) {
  if (!name || !function) return CUDA_ERROR_INVALID_VALUE;
  *function = find_function_of_library(name);
  if (status) *status = *function ? 0 : 1;  // CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND
  return *function ? CUDA_SUCCESS : CUDA_ERROR_NOT_FOUND;
}
RH_STAND_DRIVER(cuGetProcAddress, (const char* name, void** function, int version, uint64_t flags), (name, function, version, flags)) {
  return cuGetProcAddress_v2_body(name, function, version, flags, nullptr);
}
// NVIDIA's own NVRTC asks for it, and dies where it is missing.
RH_STAND_EXPORT CUresult cuGetExportTable(const void** table, const void*) {
  if (table) *table = nullptr;
  return CUDA_ERROR_NOT_FOUND;
}

// What is alive, or was counted since the last rh_stand_clear_counts. -1: no such thing.
RH_STAND_EXPORT long rh_stand_live(const char* kind) {
  std::string k = kind;
  long blocks = 0, bytes = 0, peak = 0, retained = 0;
  for (Device* d : devices()) {
    blocks += static_cast<long>(d->memory.count());
    bytes += static_cast<long>(d->memory.used());
    peak += static_cast<long>(d->memory.peak());
    retained += d->context.retained;
  }
  const std::map<std::string, long> values = {
      {"memory", blocks},
      {"bytes", bytes},
      {"peak_bytes", peak},
      {"context", retained},
      {"pinned", static_cast<long>(pinned_blocks())},
      {"stream", static_cast<long>(handles<CUstream_st>().count())},
      {"event", static_cast<long>(handles<CUevent_st>().count())},
      {"module", static_cast<long>(handles<CUmod_st>().count())},
      {"graph", static_cast<long>(handles<CUgraph_st>().count())},
      {"graph_exec", static_cast<long>(handles<CUgraphExec_st>().count())},
      {"pool", static_cast<long>(handles<CUmemPoolHandle_st>().count())},
      {"kernels", counters().kernels},
      {"graph_launches", counters().graph_launches},
      {"copies_to_device", counters().copies_to_device},
      {"copies_to_host", counters().copies_to_host},
      {"copies_on_device", counters().copies_on_device},
      {"bytes_to_device", counters().bytes_to_device},
      {"bytes_to_host", counters().bytes_to_host},
      {"bytes_on_device", counters().bytes_on_device},
  };
  auto found = values.find(k);
  return found == values.end() ? -1 : found->second;
}

RH_STAND_EXPORT void rh_stand_clear_counts(void) {
  Counters& all = counters();
  for (auto* counter : {&all.kernels, &all.graph_launches, &all.copies_to_device, &all.copies_to_host, &all.copies_on_device,
                        &all.bytes_to_device, &all.bytes_to_host, &all.bytes_on_device})
    *counter = 0;
  for (Device* d : devices()) d->memory.forget_peak();
}

RH_STAND_EXPORT const char* rh_stand_message(void) {
  static thread_local std::string text;
  text = last_message();
  return text.c_str();
}
