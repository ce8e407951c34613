// Streams and events.

#include "stands/cuda/common/settings.h"
#include "stands/cuda/driver/capture.h"
#include "stands/cuda/driver/current.h"
#include "stands/cuda/driver/operation.h"

using namespace rh::stand;

RH_STAND_DRIVER(cuStreamCreateWithPriority, (CUstream * stream, unsigned flags, int priority), (stream, flags, priority)) {
  Device* device = nullptr;
  RH_STAND_TRY(current_device(&device));
  if (!stream || flags > CU_STREAM_NON_BLOCKING) return CUDA_ERROR_INVALID_VALUE;
  auto made = std::make_unique<CUstream_st>();
  made->device = device;
  made->flags = flags;
  made->priority = priority;
  made->queue = std::make_shared<StreamQueue>(*device, setting("RH_STAND_DELAY_US", 0));
  made->queue->start();
  *stream = handles<CUstream_st>().add(made.release());
  std::lock_guard lock(device->mutex);
  device->streams.push_back(*stream);
  return CUDA_SUCCESS;
}
RH_STAND_DRIVER(cuStreamCreate, (CUstream * stream, unsigned flags), (stream, flags)) {
  return cuStreamCreateWithPriority_body(stream, flags, 0);
}

RH_STAND_DRIVER(cuStreamDestroy_v2, (CUstream stream), (stream)) {
  Device* device = nullptr;
  RH_STAND_TRY(current_device(&device));
  if (!handles<CUstream_st>().remove(stream)) return CUDA_ERROR_INVALID_HANDLE;
  forget_stream(stream);
  destroy_stream(stream);
  return CUDA_SUCCESS;
}

RH_STAND_DRIVER(cuStreamSynchronize, (CUstream handle), (handle)) {
  CUstream stream = nullptr;
  RH_STAND_TRY(find_stream(handle, &stream));
  RH_STAND_TRY(refuse_if_captured(stream));
  for (const auto& before : implied_waits(stream)) before.wait();
  Moment now = stream->queue->now();
  now.wait();
  host_has_seen(now);
  return stream->device->sticky;
}
RH_STAND_DRIVER(cuStreamQuery, (CUstream handle), (handle)) {
  CUstream stream = nullptr;
  RH_STAND_TRY(find_stream(handle, &stream));
  RH_STAND_TRY(refuse_if_captured(stream));
  Moment now = stream->queue->now();
  if (!now.reached()) return CUDA_ERROR_NOT_READY;
  host_has_seen(now);
  return stream->device->sticky;
}
RH_STAND_DRIVER(cuStreamGetCtx, (CUstream handle, CUcontext* context), (handle, context)) {
  CUstream stream = nullptr;
  RH_STAND_TRY(find_stream(handle, &stream));
  *context = &stream->device->context;
  return CUDA_SUCCESS;
}
RH_STAND_DRIVER(cuStreamGetFlags, (CUstream handle, unsigned* flags), (handle, flags)) {
  CUstream stream = nullptr;
  RH_STAND_TRY(find_stream(handle, &stream));
  *flags = stream->flags;
  return CUDA_SUCCESS;
}
RH_STAND_DRIVER(cuStreamGetPriority, (CUstream handle, int* priority), (handle, priority)) {
  CUstream stream = nullptr;
  RH_STAND_TRY(find_stream(handle, &stream));
  *priority = stream->priority;
  return CUDA_SUCCESS;
}
RH_STAND_DRIVER(cuLaunchHostFunc, (CUstream handle, CUhostFn function, void* data), (handle, function, data)) {
  CUstream stream = nullptr;
  RH_STAND_TRY(find_stream(handle, &stream));
  if (!function) return CUDA_ERROR_INVALID_VALUE;
  return enqueue(stream, host_operation(function, data));
}

RH_STAND_DRIVER(cuEventCreate, (CUevent * event, unsigned flags), (event, flags)) {
  Device* device = nullptr;
  RH_STAND_TRY(current_device(&device));
  if (!event) return CUDA_ERROR_INVALID_VALUE;
  auto made = std::make_unique<CUevent_st>();
  made->device = device;
  made->flags = flags;
  *event = handles<CUevent_st>().add(made.release());
  return CUDA_SUCCESS;
}
RH_STAND_DRIVER(cuEventDestroy_v2, (CUevent event), (event)) {
  Device* device = nullptr;
  RH_STAND_TRY(current_device(&device));
  if (!handles<CUevent_st>().remove(event)) return CUDA_ERROR_INVALID_HANDLE;
  delete event;
  return CUDA_SUCCESS;
}

RH_STAND_DRIVER(cuEventRecord, (CUevent event, CUstream handle), (event, handle)) {
  CUstream stream = nullptr;
  RH_STAND_TRY(find_event(event));
  RH_STAND_TRY(find_stream(handle, &stream));
  if (event->device != stream->device) return CUDA_ERROR_INVALID_HANDLE;
  bool captured = false;
  CUresult result = capture_record(event, stream, &captured);
  if (result || captured) return result;
  auto mark = std::make_shared<EventMark>();
  mark->time = std::make_shared<Clock::time_point>();
  stream->queue->submit(implied_waits(stream), [time = mark->time](const WorkPlace&) { *time = Clock::now(); });
  mark->moment = stream->queue->now();
  event->mark = mark;
  return CUDA_SUCCESS;
}
RH_STAND_DRIVER(cuEventRecordWithFlags, (CUevent event, CUstream handle, unsigned flags), (event, handle, flags)) {
  return cuEventRecord_body(event, handle);
}
RH_STAND_DRIVER(cuStreamWaitEvent, (CUstream handle, CUevent event, unsigned flags), (handle, event, flags)) {
  CUstream stream = nullptr;
  RH_STAND_TRY(find_event(event));
  RH_STAND_TRY(find_stream(handle, &stream));
  bool captured = false;
  CUresult result = capture_wait(stream, event, &captured);
  if (result || captured || !event->mark) return result;
  auto after = implied_waits(stream);
  after.push_back(event->mark->moment);
  stream->queue->submit(std::move(after), [](const WorkPlace&) {});
  return CUDA_SUCCESS;
}
RH_STAND_DRIVER(cuEventQuery, (CUevent event), (event)) {
  RH_STAND_TRY(find_event(event));
  RH_STAND_TRY(refuse_if_captured(event));
  if (!event->mark) return CUDA_SUCCESS;
  if (!event->mark->moment.reached()) return CUDA_ERROR_NOT_READY;
  host_has_seen(event->mark->moment);
  return event->device->sticky;
}
RH_STAND_DRIVER(cuEventSynchronize, (CUevent event), (event)) {
  RH_STAND_TRY(find_event(event));
  RH_STAND_TRY(refuse_if_captured(event));
  if (!event->mark) return CUDA_SUCCESS;
  event->mark->moment.wait();
  host_has_seen(event->mark->moment);
  return event->device->sticky;
}
RH_STAND_DRIVER(cuEventElapsedTime, (float* ms, CUevent first, CUevent last), (ms, first, last)) {
  RH_STAND_TRY(find_event(first));
  RH_STAND_TRY(find_event(last));
  if (!ms) return CUDA_ERROR_INVALID_VALUE;
  if (!first->mark || !last->mark || ((first->flags | last->flags) & CU_EVENT_DISABLE_TIMING)) return CUDA_ERROR_INVALID_HANDLE;
  if (!first->mark->moment.reached() || !last->mark->moment.reached()) return CUDA_ERROR_NOT_READY;
  *ms = std::chrono::duration<float, std::milli>(*last->mark->time - *first->mark->time).count();
  return CUDA_SUCCESS;
}
RH_STAND_DRIVER(cuEventElapsedTime_v2, (float* ms, CUevent first, CUevent last), (ms, first, last)) {
  return cuEventElapsedTime_body(ms, first, last);
}
