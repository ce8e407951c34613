#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "providers/gpu/device/program.h"
#include "providers/gpu/plan/binding.h"
#include "providers/gpu/plan/region_source.h"
#include "providers/kit/regions/leases.h"

namespace rh::gpu {

/// What the executables of a session share.
struct Shared {
  std::shared_ptr<Driver> driver;
  std::shared_ptr<Programs> programs;
  bool recognises = true;               ///< whether attention and the like that nodes spell out is one kernel
  bool captures = true;                 ///< whether launches that come again become one graph
  size_t most_bytes = 0;                ///< of a region's plan; 0: no bound
  size_t plan_bytes = size_t{4} << 30;  ///< of the plans of a region for other sizes, together
};

/// What a run needs alone: a block for what launches make for each other, the argument block, and a graph of the launches.
class Room {
 public:
  Room(std::shared_ptr<Driver> driver, size_t block_bytes);
  ~Room();
  Room(const Room&) = delete;
  Room& operator=(const Room&) = delete;

  /// Fills the addresses in and submits the launches.
  void run(const Binding& binding, std::span<const Handle> functions, std::span<const TensorView> inputs, std::span<void* const> outputs,
           kit::StreamHandle stream, bool captures);

 private:
  void resize(size_t bytes);
  void write_arguments(const Binding& binding, std::span<const TensorView> inputs, std::span<void* const> outputs,
                       kit::StreamHandle stream);
  void launch(const Binding& binding, std::span<const Handle> functions, kit::StreamHandle stream);
  void launch_one(const Binding& binding, std::span<const Handle> functions, size_t step, kit::StreamHandle stream);
  /// With the time of each launch for the host's profile, which waits for all of them.
  void launch_timed(const Binding& binding, std::span<const Handle> functions, kit::StreamHandle stream);

  std::shared_ptr<Driver> driver_;
  std::unique_ptr<kit::DeviceBlock> block_, arguments_;
  void* staging_ = nullptr;  ///< pinned
  size_t capacity_ = 0;
  std::vector<std::byte> written_;  ///< what the argument block has
  kit::EventHandle copied_ = nullptr, done_ = nullptr;
  kit::StreamHandle last_stream_ = nullptr;
  bool has_run_ = false;
  int runs_ = 0;
  Handle graph_ = nullptr;
};

/// A region, lowered for the largest sizes of a class, and bound to those of runs.
class ClassPlan final : public kit::Plan {
 public:
  /// Throws Error where the region cannot be lowered for these sizes.
  ClassPlan(std::shared_ptr<const Shared> shared, std::shared_ptr<const RegionSource> source, std::span<const Shape> largest,
            std::vector<Tensor> host_values);

  size_t bytes() const override { return memory_.bytes; }
  /// For the shapes of a run. Throws Error where it has other launches than the largest.
  std::shared_ptr<const Binding> binding(const std::vector<Shape>& shapes) const;
  void run(const Binding& binding, std::span<const TensorView> inputs, std::span<void* const> outputs, kit::StreamHandle stream) const;

 private:
  Binding bind_to(std::span<const Shape> shapes) const;

  std::shared_ptr<const Shared> shared_;
  std::shared_ptr<const RegionSource> source_;
  std::vector<Tensor> host_values_;
  MemoryPlan memory_;
  std::vector<Kernel> kernels_;
  std::vector<Handle> functions_;
  mutable std::mutex mutex_;
  mutable std::map<std::vector<int64_t>, std::shared_ptr<const Binding>> bindings_;
  mutable kit::LeasePool<Room> rooms_;
};

}  // namespace rh::gpu
