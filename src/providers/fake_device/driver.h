#pragma once

#include <memory>
#include <set>

#include "providers/fake_device/memory.h"
#include "providers/fake_device/queue.h"
#include "providers/kit/device/device_driver.h"

namespace rh::fake_device {

/// Whether the environment's FAKE_DEVICE_FAULT makes the device wrong in this way.
bool is_wrong(std::string_view how);

/// The device: memory that the host cannot read, and streams, each a thread, whose work may be late. It is as strict as a real one and says
/// so: whatever it is given at addresses that are not its own is an Error.
class FakeDriver final : public kit::DeviceDriver {
 public:
  explicit FakeDriver(int device_id) : device_id_(device_id), memory_(counts_of(device_id)) {}

  void* allocate(size_t bytes) override;
  void free(void* memory) noexcept override;
  void* allocate_pinned(size_t bytes) override;
  void free_pinned(void* memory) noexcept override;
  void copy(void* to, const void* from, size_t bytes, kit::CopyKind kind, kit::StreamHandle stream) override;
  kit::StreamHandle make_stream() override { return make_late_stream(is_wrong("wait") ? 2000 : 0); }
  void destroy_stream(kit::StreamHandle stream) noexcept override;
  void wait(kit::StreamHandle stream) override;
  void wait_for_all() override;
  kit::EventHandle make_event() override;
  void destroy_event(kit::EventHandle event) noexcept override;
  void record(kit::EventHandle event, kit::StreamHandle stream) override;
  void wait_for(kit::EventHandle event) override;
  void make_wait(kit::StreamHandle stream, kit::EventHandle event) override;
  std::string leaks() const override;

  kit::StreamHandle make_late_stream(int64_t delay_us);
  /// Work of a kernel; without a stream it is done at the return.
  static void submit(kit::StreamHandle stream, std::function<void()> piece);
  /// Until the stream's work is done.
  void drain(kit::StreamHandle stream);
  DeviceMemory& memory() { return memory_; }
  Counts& counts() { return counts_of(device_id_); }

 private:
  int device_id_;
  DeviceMemory memory_;
};

}  // namespace rh::fake_device
