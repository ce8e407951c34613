#include "stands/cuda/driver/current.h"

#include <vector>

#include "stands/cuda/common/settings.h"

namespace rh::stand {
namespace {

thread_local std::vector<CUcontext> context_stack;
std::atomic<bool> is_initialized{false};

bool sticks(int error) { return error == CUDA_ERROR_ILLEGAL_ADDRESS || error == CUDA_ERROR_LAUNCH_FAILED; }

}  // namespace

bool initialized() { return is_initialized; }
void set_initialized() { is_initialized = true; }

CUcontext current_context() { return context_stack.empty() ? nullptr : context_stack.back(); }
void push_context(CUcontext context) { context_stack.push_back(context); }
void set_current_context(CUcontext context) {
  if (!context_stack.empty()) context_stack.pop_back();
  if (context) context_stack.push_back(context);
}
CUcontext pop_context() {
  CUcontext context = current_context();
  if (context) context_stack.pop_back();
  return context;
}

CUresult current_device(Device** device) {
  if (!initialized()) return CUDA_ERROR_NOT_INITIALIZED;
  CUcontext context = current_context();
  if (!context || context->retained == 0) return CUDA_ERROR_INVALID_CONTEXT;
  *device = context->device;
  return context->device->sticky;
}

CUresult find_stream(CUstream handle, CUstream* stream) {
  Device* device = nullptr;
  RH_STAND_TRY(current_device(&device));
  const auto number = reinterpret_cast<uintptr_t>(handle);
  if (number <= 2) {  // CU_STREAM_PER_THREAD (2) is the null stream here too
    *stream = device->null_stream();
    return CUDA_SUCCESS;
  }
  if (!handles<CUstream_st>().has(handle)) return CUDA_ERROR_INVALID_HANDLE;
  *stream = handle;
  return handle->device->sticky;
}

CUresult find_event(CUevent event) {
  Device* device = nullptr;
  RH_STAND_TRY(current_device(&device));
  return handles<CUevent_st>().has(event) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}

// A planned error of those that stick is the device's from then on, as a kernel's would be.
int planned(int error) {
  CUcontext context = current_context();
  if (context && sticks(error)) context->device->sticky = error;
  return error;
}

}  // namespace rh::stand
