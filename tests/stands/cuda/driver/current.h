// What nearly every function of the interface begins with.
#pragma once

#include "stands/cuda/api/driver_api.h"
#include "stands/cuda/common/calls.h"
#include "stands/cuda/driver/device.h"
#include "stands/cuda/driver/handles.h"

namespace rh::stand {

// The device of the calling thread's context. An error where nothing was initialised, no context is current, or the device's kernel failed.
CUresult current_device(Device** device);
CUcontext current_context();
void push_context(CUcontext context);
void set_current_context(CUcontext context);
CUcontext pop_context();
bool initialized();
void set_initialized();

// The stream that a handle means (0 and CU_STREAM_LEGACY: the null stream of the current device); an error where it is none that lives.
CUresult find_stream(CUstream handle, CUstream* stream);
CUresult find_event(CUevent event);

}  // namespace rh::stand

#define RH_STAND_DRIVER(name, parameters, arguments) RH_STAND_CALL(CUresult, name, parameters, arguments)

// Leaves the function with the error, if there is one.
#define RH_STAND_TRY(call) \
  if (CUresult error_of_call = (call)) return error_of_call
