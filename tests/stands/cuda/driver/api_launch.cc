// Modules and launches.

#include <algorithm>
#include <cstdio>
#include <cstring>

#include "stands/cuda/common/kind.h"
#include "stands/cuda/common/settings.h"
#include "stands/cuda/driver/capture.h"
#include "stands/cuda/driver/current.h"
#include "stands/cuda/driver/host_memory.h"
#include "stands/cuda/driver/module.h"
#include "stands/cuda/driver/operation.h"

using namespace rh::stand;

RH_STAND_DRIVER(cuModuleLoadData, (CUmodule * module, const void* image), (module, image)) {
  Device* device = nullptr;
  RH_STAND_TRY(current_device(&device));
  if (!module || !image) return CUDA_ERROR_INVALID_VALUE;
  RH_STAND_TRY(refuse_in_capture());
  std::unique_ptr<CUmod_st> made;
  RH_STAND_TRY(load_module(*device, image, &made));
  *module = handles<CUmod_st>().add(made.release());
  return CUDA_SUCCESS;
}
RH_STAND_DRIVER(cuModuleLoadDataEx, (CUmodule * module, const void* image, unsigned count, int* options, void** values),
                (module, image, count, options, values)) {
  return cuModuleLoadData_body(module, image);
}
RH_STAND_DRIVER(cuModuleUnload, (CUmodule module), (module)) {
  Device* device = nullptr;
  RH_STAND_TRY(current_device(&device));
  RH_STAND_TRY(refuse_in_capture());
  if (!handles<CUmod_st>().remove(module)) return CUDA_ERROR_INVALID_HANDLE;
  module->device->wait();
  destroy_module(module);
  return CUDA_SUCCESS;
}
RH_STAND_DRIVER(cuModuleGetFunction, (CUfunction * function, CUmodule module, const char* name), (function, module, name)) {
  Device* device = nullptr;
  RH_STAND_TRY(current_device(&device));
  if (!function || !name) return CUDA_ERROR_INVALID_VALUE;
  if (!handles<CUmod_st>().has(module)) return CUDA_ERROR_INVALID_HANDLE;
  std::lock_guard lock(module->device->mutex);
  return find_function(*module, name, function);
}

RH_STAND_DRIVER(cuFuncSetAttribute, (CUfunction function, int attribute, int value), (function, attribute, value)) {
  Device* device = nullptr;
  RH_STAND_TRY(current_device(&device));
  if (!function) return CUDA_ERROR_INVALID_HANDLE;
  if (attribute != CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES) return CUDA_SUCCESS;
  if (value < 0 || value + static_cast<int>(function->static_shared()) > device->shared_memory_at_most()) return CUDA_ERROR_INVALID_VALUE;
  function->dynamic_limit = static_cast<unsigned>(value);
  return CUDA_SUCCESS;
}
RH_STAND_DRIVER(cuFuncGetAttribute, (int* value, int attribute, CUfunction function), (value, attribute, function)) {
  Device* device = nullptr;
  RH_STAND_TRY(current_device(&device));
  if (!value || !function) return CUDA_ERROR_INVALID_VALUE;
  const StandKernel& kernel = *function->kernels[0];
  switch (attribute) {
    case CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK: *value = kernel.max_threads ? static_cast<int>(kernel.max_threads) : 1024; break;
    case CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES: *value = static_cast<int>(function->static_shared()); break;
    case CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES: *value = static_cast<int>(function->dynamic_limit); break;
    default: *value = 0;
  }
  return CUDA_SUCCESS;
}
RH_STAND_DRIVER(cuOccupancyMaxActiveBlocksPerMultiprocessor, (int* blocks, CUfunction function, int threads, size_t dynamic_shared),
                (blocks, function, threads, dynamic_shared)) {
  Device* device = nullptr;
  RH_STAND_TRY(current_device(&device));
  if (!blocks || !function || threads <= 0) return CUDA_ERROR_INVALID_VALUE;
  size_t shared = dynamic_shared + function->static_shared();
  int by_threads = 1536 / threads,
      by_shared = shared ? static_cast<int>(static_cast<size_t>(device->shared_memory_at_most()) / shared) : 16;
  *blocks = std::min({by_threads, by_shared, 16});
  return CUDA_SUCCESS;
}

namespace {

CUresult check_shape(const CUfunc_st& function, const Device& device, const Launch& launch) {
  const StandDim &g = launch.grid, &b = launch.block;
  unsigned long long threads = 1ull * b.x * b.y * b.z;
  if (!g.x || !g.y || !g.z || !threads || threads > kMaxThreads || b.z > 64 || g.x > 2147483647u || g.y > 65535 || g.z > 65535)
    return CUDA_ERROR_INVALID_VALUE;
  unsigned bound = function.kernels[0]->max_threads;
  if (bound && threads > bound) return CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES;
  size_t shared = launch.dynamic_shared + function.static_shared();
  if (launch.dynamic_shared > function.dynamic_limit || (function.dynamic_limit <= 48 << 10 && shared > 48 << 10))
    return CUDA_ERROR_INVALID_VALUE;
  return shared > static_cast<size_t>(device.shared_memory_at_most()) ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
}

// A pointer that a kernel could not follow. (Pointers within structures are found where they are followed, in checked images.)
const char* wrong_pointer(Device& device, const void* p) {
  if (!p || device.memory.has(p) || pinned_block_of(p).start) return nullptr;
  return device_with_memory(p) ? "an address of another device" : "a host address";
}

CUresult take_parameters(const CUfunc_st& function, Device& device, void** given, Launch& launch) {
  const StandKernel& kernel = *function.kernels[0];
  size_t end = 0;
  for (unsigned i = 0; i < kernel.parameters; ++i) {
    end = (end + 63) / 64 * 64;
    launch.places.push_back(end);
    end += kernel.sizes[i];
  }
  launch.bytes.resize(end + 64);
  size_t skipped = (64 - reinterpret_cast<uintptr_t>(launch.bytes.data()) % 64) % 64;
  for (unsigned i = 0; i < kernel.parameters; ++i) {
    launch.places[i] += skipped;
    if (!given || !given[i]) return CUDA_ERROR_INVALID_VALUE;
    std::memcpy(launch.bytes.data() + launch.places[i], given[i], kernel.sizes[i]);
    if (!(kernel.pointers >> i & 1)) continue;
    void* p = nullptr;
    std::memcpy(&p, given[i], sizeof p);
    if (const char* what = wrong_pointer(device, p)) {
      char text[160];
      std::snprintf(text, sizeof text, "kernel %s: parameter %u is %s (%p)", function.name.c_str(), i, what, p);
      device.fail(CUDA_ERROR_ILLEGAL_ADDRESS, text);
      return CUDA_ERROR_ILLEGAL_ADDRESS;
    }
  }
  return CUDA_SUCCESS;
}

CUresult launch_kernel(CUfunction function, StandDim grid, StandDim block, unsigned dynamic_shared, CUstream handle, void** parameters) {
  CUstream stream = nullptr;
  RH_STAND_TRY(find_stream(handle, &stream));
  if (!function || !handles<CUmod_st>().has(function->module)) return CUDA_ERROR_INVALID_HANDLE;
  Device& device = *stream->device;
  if (function->module->device != &device) return CUDA_ERROR_INVALID_HANDLE;
  auto launch = std::make_shared<Launch>();
  launch->function = function;
  launch->grid = grid;
  launch->block = block;
  launch->dynamic_shared = dynamic_shared;
  launch->settings = {order_setting(), warp_size(), function->module->copies[0].image->checked != 0};
  RH_STAND_TRY(check_shape(*function, device, *launch));
  RH_STAND_TRY(take_parameters(*function, device, parameters, *launch));
  return enqueue(stream, kernel_operation(launch));
}

}  // namespace

RH_STAND_DRIVER(cuLaunchKernel,
                (CUfunction function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz, unsigned dynamic_shared,
                 CUstream stream, void** parameters, void** extra),
                (function, gx, gy, gz, bx, by, bz, dynamic_shared, stream, parameters, extra)) {
  if (extra) return CUDA_ERROR_NOT_SUPPORTED;
  return launch_kernel(function, {gx, gy, gz}, {bx, by, bz}, dynamic_shared, stream, parameters);
}
RH_STAND_DRIVER(cuLaunchKernelEx, (const CUlaunchConfig* config, CUfunction function, void** parameters, void** extra),
                (config, function, parameters, extra)) {
  if (!config || extra) return config ? CUDA_ERROR_NOT_SUPPORTED : CUDA_ERROR_INVALID_VALUE;
  return launch_kernel(function, {config->gridDimX, config->gridDimY, config->gridDimZ},
                       {config->blockDimX, config->blockDimY, config->blockDimZ}, config->sharedMemBytes, config->hStream, parameters);
}
