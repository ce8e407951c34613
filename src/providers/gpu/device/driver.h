#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "providers/gpu/device/system.h"
#include "providers/kit/device/device_driver.h"

namespace rh::gpu {

/// Memory, streams and launches of one device, on its primary context, which other libraries of the process share.
class Driver final : public kit::DeviceDriver {
 public:
  /// Throws Error where the device has no such number.
  Driver(const System& system, int number);
  ~Driver() override;
  Driver(const Driver&) = delete;
  Driver& operator=(const Driver&) = delete;

  const System& system() const { return system_; }
  const DeviceFacts& facts() const { return facts_; }

  void* allocate(size_t bytes) override;
  void free(void* memory) noexcept override;
  void* allocate_pinned(size_t bytes) override;
  void free_pinned(void* memory) noexcept override;
  void copy(void* to, const void* from, size_t bytes, kit::CopyKind kind, kit::StreamHandle stream) override;
  kit::StreamHandle make_stream() override;
  void destroy_stream(kit::StreamHandle stream) noexcept override;
  void wait(kit::StreamHandle stream) override;
  void wait_for_all() override;
  kit::EventHandle make_event() override;
  void destroy_event(kit::EventHandle event) noexcept override;
  void record(kit::EventHandle event, kit::StreamHandle stream) override;
  void wait_for(kit::EventHandle event) override;
  void make_wait(kit::StreamHandle stream, kit::EventHandle event) override;
  std::string leaks() const override;

  Handle load(const std::string& image);
  void unload(Handle module) noexcept;
  Handle function(Handle module, const char* name);
  /// A kernel that takes the address of its arguments, and how far apart those of its parts are.
  struct Grid {
    unsigned x = 1, y = 1, z = 1;
  };
  void launch(Handle function, Grid grid, unsigned threads, unsigned shared_bytes, kit::StreamHandle stream, const void* argument,
              unsigned stride);

  // Times of what is submitted between two events, where the driver tells them.
  bool has_times() const { return system_.api().elapsed != nullptr; }
  kit::EventHandle make_timed_event();
  double milliseconds_between(kit::EventHandle first, kit::EventHandle last);

  // Graphs of launches, where the driver has them.
  bool has_graphs() const;
  bool is_capturing(kit::StreamHandle stream);
  void begin_capture(kit::StreamHandle stream);
  /// An instance of what was submitted since; null where it could not be captured.
  Handle end_capture(kit::StreamHandle stream);
  void launch_graph(Handle instance, kit::StreamHandle stream);
  void destroy_graph(Handle instance) noexcept;

 private:
  /// Makes the device's context the calling thread's. Throws Error.
  const DriverApi& enter();
  bool enter_quietly() noexcept;

  const System& system_;
  const DeviceFacts& facts_;
  int device_ = 0;
  Handle context_ = nullptr;
  mutable std::mutex mutex_;
  std::map<uintptr_t, size_t> blocks_, pinned_;  // by address, those that live
  std::set<Handle> streams_;                     // of our own; a caller's is not destroyed
};

}  // namespace rh::gpu
