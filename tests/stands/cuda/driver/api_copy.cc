// Copies and memsets. As the driver has it: a copy to memory that is not pinned ends before the call returns; one from it has read its
// source by then; with pinned memory both happen when the stream comes to it.

#include <cstring>
#include <vector>

#include "stands/cuda/driver/capture.h"
#include "stands/cuda/driver/current.h"
#include "stands/cuda/driver/host_memory.h"
#include "stands/cuda/driver/operation.h"

using namespace rh::stand;

namespace {

// Waits for what was put into the stream until here; the error that stuck, if one did.
CUresult wait_for(CUstream stream) {
  Moment now = stream->queue->now();
  now.wait();
  host_has_seen(now);
  return stream->device->sticky;
}

// Decides the direction by the addresses, and holds it against what the function's name says.
bool describe(Copy& copy, Device& device, bool to_device, bool from_device) {
  Device *target = device_with_memory(copy.to), *source = device_with_memory(copy.from);
  if ((target != nullptr) != to_device || (source != nullptr) != from_device) return false;
  if (target && target != &device) return false;
  if (target && !target->memory.inside(copy.to, copy.bytes)) return false;
  if (source && !source->memory.inside(copy.from, copy.bytes)) return false;
  if (source && source != &device) copy.other = source;
  copy.direction = target ? (source ? Direction::kOnDevice : Direction::kToDevice) : source ? Direction::kToHost : Direction::kOnHost;
  return true;
}

// The source's bytes as they are now, which live as long as the operation.
Operation from_bytes_of_now(Copy copy) {
  auto bytes = std::make_shared<std::vector<char>>(static_cast<const char*>(copy.from), static_cast<const char*>(copy.from) + copy.bytes);
  copy.from = bytes->data();
  Operation operation = copy_operation(copy);
  operation.run = [bytes, run = operation.run](Device& device, const WorkPlace& place) { run(device, place); };
  return operation;
}

CUresult copy(void* to, const void* from, size_t bytes, CUstream handle, bool to_device, bool from_device, bool wait) {
  CUstream stream = nullptr;
  RH_STAND_TRY(find_stream(handle, &stream));
  if (bytes == 0) return CUDA_SUCCESS;
  Copy wanted{to, from, bytes};
  if (!to || !from || !describe(wanted, *stream->device, to_device, from_device)) return CUDA_ERROR_INVALID_VALUE;
  if (wait) RH_STAND_TRY(refuse_in_capture());
  bool host_is_pinned =
      (to_device && from_device) || (is_pinned(to_device ? from : to, bytes) && (to_device || from_device || is_pinned(from, bytes)));
  if (!host_is_pinned && !wait) RH_STAND_TRY(refuse_if_captured(stream));
  bool reads_now = to_device && !from_device && !host_is_pinned && !wait;
  RH_STAND_TRY(enqueue(stream, reads_now ? from_bytes_of_now(wanted) : copy_operation(wanted)));
  bool ends_now = wait ? !(to_device && from_device) : !to_device && !host_is_pinned;
  return ends_now ? wait_for(stream) : CUDA_SUCCESS;
}

void* address(CUdeviceptr p) { return reinterpret_cast<void*>(p); }
bool is_device(CUdeviceptr p) { return device_with_memory(address(p)) != nullptr; }

CUresult fill(CUdeviceptr p, uint32_t value, size_t element, size_t count, CUstream handle, bool wait) {
  CUstream stream = nullptr;
  RH_STAND_TRY(find_stream(handle, &stream));
  if (count == 0) return CUDA_SUCCESS;
  if (p % element || !stream->device->memory.inside(address(p), element * count)) return CUDA_ERROR_INVALID_VALUE;
  if (wait) RH_STAND_TRY(refuse_in_capture());
  return enqueue(stream, set_operation(address(p), value, element, count));
}

}  // namespace

RH_STAND_DRIVER(cuMemcpyHtoD_v2, (CUdeviceptr to, const void* from, size_t bytes), (to, from, bytes)) {
  return copy(address(to), from, bytes, nullptr, true, false, true);
}
RH_STAND_DRIVER(cuMemcpyDtoH_v2, (void* to, CUdeviceptr from, size_t bytes), (to, from, bytes)) {
  return copy(to, address(from), bytes, nullptr, false, true, true);
}
RH_STAND_DRIVER(cuMemcpyDtoD_v2, (CUdeviceptr to, CUdeviceptr from, size_t bytes), (to, from, bytes)) {
  return copy(address(to), address(from), bytes, nullptr, true, true, true);
}
RH_STAND_DRIVER(cuMemcpyHtoDAsync_v2, (CUdeviceptr to, const void* from, size_t bytes, CUstream stream), (to, from, bytes, stream)) {
  return copy(address(to), from, bytes, stream, true, false, false);
}
RH_STAND_DRIVER(cuMemcpyDtoHAsync_v2, (void* to, CUdeviceptr from, size_t bytes, CUstream stream), (to, from, bytes, stream)) {
  return copy(to, address(from), bytes, stream, false, true, false);
}
RH_STAND_DRIVER(cuMemcpyDtoDAsync_v2, (CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream stream), (to, from, bytes, stream)) {
  return copy(address(to), address(from), bytes, stream, true, true, false);
}
RH_STAND_DRIVER(cuMemcpy, (CUdeviceptr to, CUdeviceptr from, size_t bytes), (to, from, bytes)) {
  return copy(address(to), address(from), bytes, nullptr, is_device(to), is_device(from), true);
}
RH_STAND_DRIVER(cuMemcpyAsync, (CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream stream), (to, from, bytes, stream)) {
  return copy(address(to), address(from), bytes, stream, is_device(to), is_device(from), false);
}
RH_STAND_DRIVER(cuMemcpyPeerAsync,
                (CUdeviceptr to, CUcontext to_context, CUdeviceptr from, CUcontext from_context, size_t bytes, CUstream stream),
                (to, to_context, from, from_context, bytes, stream)) {
  return copy(address(to), address(from), bytes, stream, true, true, false);
}

RH_STAND_DRIVER(cuMemsetD8_v2, (CUdeviceptr p, unsigned char value, size_t count), (p, value, count)) {
  return fill(p, value, 1, count, nullptr, true);
}
RH_STAND_DRIVER(cuMemsetD16_v2, (CUdeviceptr p, unsigned short value, size_t count), (p, value, count)) {
  return fill(p, value, 2, count, nullptr, true);
}
RH_STAND_DRIVER(cuMemsetD32_v2, (CUdeviceptr p, unsigned value, size_t count), (p, value, count)) {
  return fill(p, value, 4, count, nullptr, true);
}
RH_STAND_DRIVER(cuMemsetD8Async, (CUdeviceptr p, unsigned char value, size_t count, CUstream stream), (p, value, count, stream)) {
  return fill(p, value, 1, count, stream, false);
}
RH_STAND_DRIVER(cuMemsetD16Async, (CUdeviceptr p, unsigned short value, size_t count, CUstream stream), (p, value, count, stream)) {
  return fill(p, value, 2, count, stream, false);
}
RH_STAND_DRIVER(cuMemsetD32Async, (CUdeviceptr p, unsigned value, size_t count, CUstream stream), (p, value, count, stream)) {
  return fill(p, value, 4, count, stream, false);
}
