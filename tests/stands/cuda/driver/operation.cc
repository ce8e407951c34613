#include "stands/cuda/driver/operation.h"

#include <cstring>
#include <optional>

#include "stands/cuda/driver/capture.h"

namespace rh::stand {
namespace {

void count(const Copy& copy) {
  auto bytes = static_cast<long>(copy.bytes);
  switch (copy.direction) {
    case Direction::kToDevice: counters().bytes_to_device += bytes, ++counters().copies_to_device; break;
    case Direction::kToHost: counters().bytes_to_host += bytes, ++counters().copies_to_host; break;
    case Direction::kOnDevice: counters().bytes_on_device += bytes, ++counters().copies_on_device; break;
    case Direction::kOnHost: break;
  }
}

// Whether the memory is still there: a copy may run long after its call.
bool is_there(Device& device, const void* p, size_t bytes, const char* what) {
  if (device.memory.inside(p, bytes)) return true;
  device.fail(CUDA_ERROR_ILLEGAL_ADDRESS, std::string(what) + " device memory that was freed before it ran");
  return false;
}

// Marks a copy in the checks of a device; false: it is not ordered with other work, and the device has failed.
bool passes(Device& device, const WorkPlace& place, const void* read, const void* written, size_t bytes) {
  MemoryCheck* check = device.check();
  if (!check) return true;
  auto held = check->hold();
  uint32_t work = check->begin_work(place);
  std::string found;
  if (read) found = check->copy_reads(work, read, bytes);
  if (found.empty() && written) found = check->copy_writes(work, written, bytes);
  if (found.empty()) return true;
  device.fail(CUDA_ERROR_LAUNCH_FAILED, found);
  return false;
}

}  // namespace

Operation kernel_operation(std::shared_ptr<const Launch> launch) {
  return {NodeKind::kKernel, [launch](Device& device, const WorkPlace& place) { device.executor.run(*launch, place); }, {}};
}

Operation copy_operation(const Copy& copy) {
  return {NodeKind::kCopy,
          [copy](Device& device, const WorkPlace& place) {
            count(copy);
            bool reads_device = copy.direction == Direction::kToHost || copy.direction == Direction::kOnDevice;
            bool writes_device = copy.direction == Direction::kToDevice || copy.direction == Direction::kOnDevice;
            Device& source = copy.other ? *copy.other : device;
            if (reads_device && !is_there(source, copy.from, copy.bytes, "a copy reads")) return;
            if (writes_device && !is_there(device, copy.to, copy.bytes, "a copy writes")) return;
            const void* read = reads_device && !copy.other ? copy.from : nullptr;
            if (!passes(device, place, read, writes_device ? copy.to : nullptr, copy.bytes)) return;
            std::optional<DeviceAccess> access;
            if (copy.other) access.emplace(source.memory);
            std::memmove(copy.to, copy.from, copy.bytes);
          },
          {}};
}

Operation set_operation(void* to, uint32_t value, size_t element, size_t count_of_elements) {
  return {NodeKind::kSet,
          [=](Device& device, const WorkPlace& place) {
            size_t bytes = element * count_of_elements;
            if (!is_there(device, to, bytes, "a memset writes") || !passes(device, place, nullptr, to, bytes)) return;
            if (element == 1) {
              std::memset(to, static_cast<int>(value), bytes);
              return;
            }
            for (size_t i = 0; i < count_of_elements; ++i) std::memcpy(static_cast<char*>(to) + i * element, &value, element);
          },
          {}};
}

Operation host_operation(CUhostFn function, void* data) {
  return {NodeKind::kHost, [=](Device&, const WorkPlace&) { function(data); }, {}};
}

std::vector<Moment> implied_waits(CUstream stream) {
  Device& device = *stream->device;
  std::vector<Moment> moments;
  if (stream->flags & CU_STREAM_NON_BLOCKING) return moments;
  bool null_used = device.null_stream_is_used();
  CUstream null = null_used ? device.null_stream() : nullptr;
  if (stream != null) {
    if (null) moments.push_back(null->queue->now());
    return moments;
  }
  std::lock_guard lock(device.mutex);
  for (CUstream other : device.streams)
    if (!(other->flags & CU_STREAM_NON_BLOCKING)) moments.push_back(other->queue->now());
  return moments;
}

CUresult enqueue(CUstream stream, Operation operation) {
  bool captured = false;
  CUresult result = capture_operation(stream, operation, &captured);
  if (result || captured) return result;
  Device& device = *stream->device;
  stream->queue->submit(implied_waits(stream), [&device, operation = std::move(operation)](const WorkPlace& place) {
    if (!device.sticky) operation.run(device, place);
  });
  return CUDA_SUCCESS;
}

}  // namespace rh::stand
