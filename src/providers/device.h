#pragma once

#include <memory>
#include <span>

#include "base/error.h"
#include "tensor/tensor.h"

namespace rh {

class Stream;

/// A point in the work of a stream that others can wait for.
class Notification {
 public:
  virtual ~Notification() = default;
  /// Work submitted to `stream` from here on begins after this point. False where that stream cannot wait by itself.
  virtual bool wait_on(Stream& stream) = 0;
  /// Returns when the point is reached.
  virtual Status wait_on_host() = 0;
};

/// Work of a device, one piece after the other, beside what the host does. Used by one thread at a time.
class Stream {
 public:
  virtual ~Stream() = default;
  virtual Device device() const = 0;
  /// A point after all that was submitted up to here.
  virtual std::unique_ptr<Notification> record() = 0;
  /// Sends what was submitted to the device.
  virtual Status flush() = 0;
  /// The run that used the stream is over.
  virtual Status end_run() = 0;
};

/// Copies tensors between memories. Thread-safe.
class DataTransfer {
 public:
  virtual ~DataTransfer() = default;
  virtual bool can_copy(Device from, Device to) const = 0;
  /// Elements of equal type and number. With a stream it may return before the copy is done; both tensors then stay until it is.
  virtual Status copy(const Tensor& from, Tensor& to, Stream* stream) = 0;
};

}  // namespace rh
