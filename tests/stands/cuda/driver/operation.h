// Work for a device: done at once in a stream, or kept as a node of a graph.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "stands/cuda/api/driver_api.h"
#include "stands/cuda/driver/device.h"

namespace rh::stand {

// With the numbers of CUgraphNodeType.
enum class NodeKind { kKernel = 0, kCopy = 1, kSet = 2, kHost = 3, kEmpty = 5, kAllocate = 10, kFree = 11 };

struct Operation {
  NodeKind kind = NodeKind::kEmpty;
  std::function<void(Device&, const WorkPlace&)> run;
  std::shared_ptr<void> kept;  // as long as the operation may run
};

Operation kernel_operation(std::shared_ptr<const Launch> launch);

// A copy between addresses of the device and of the host, or within the device.
enum class Direction { kToDevice, kToHost, kOnDevice, kOnHost };
struct Copy {
  void* to = nullptr;
  const void* from = nullptr;
  size_t bytes = 0;
  Direction direction = Direction::kOnHost;
  Device* other = nullptr;  // whose memory is read, if not that of the stream's device
};
Operation copy_operation(const Copy& copy);
// Fills `count` elements of 1, 2 or 4 bytes.
Operation set_operation(void* to, uint32_t value, size_t element, size_t count);
Operation host_operation(CUhostFn function, void* data);

// Puts it into the stream, or into the graph that the stream captures. The handle is one that is alive.
CUresult enqueue(CUstream stream, Operation operation);
// The moments for which the next work of a stream waits because of the null stream.
std::vector<Moment> implied_waits(CUstream stream);

}  // namespace rh::stand
