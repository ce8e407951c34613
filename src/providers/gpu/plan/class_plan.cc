#include "providers/gpu/plan/class_plan.h"

#include <utility>

namespace rh::gpu {

namespace {

constexpr size_t kRooms = 4;          ///< runs of a plan that go side by side
constexpr size_t kMostBindings = 64;  ///< of a plan; sizes that come again are bound once

}  // namespace

ClassPlan::ClassPlan(std::shared_ptr<const Shared> shared, std::shared_ptr<const RegionSource> source, std::span<const Shape> largest,
                     std::vector<Tensor> host_values)
    : shared_(std::move(shared)),
      source_(std::move(source)),
      host_values_(std::move(host_values)),
      rooms_(kRooms, [this] { return std::make_unique<Room>(shared_->driver, memory_.bytes); }) {
  const StaticRegion region = source_->at(largest, host_values_);
  Lowering lowering(region, shared_->driver->facts());
  lowering.run();
  memory_ = plan_memory(lowering);
  if (shared_->most_bytes > 0 && memory_.bytes > shared_->most_bytes) {
    fail(ErrorCode::ep_fail,
         "a region needs {} bytes of the device between its inputs and outputs, gpu_mem_limit is {}: its largest values "
         "are {}: raise the limit, or give smaller inputs",
         memory_.bytes, shared_->most_bytes, largest_values(memory_, lowering.graph()));
  }
  for (const Launch& launch : lowering.launches()) {
    if (!launch.joins) kernels_.push_back(launch.kernel);
  }
  functions_ = shared_->programs->functions(kernels_);
}

Binding ClassPlan::bind_to(std::span<const Shape> shapes) const {
  const StaticRegion region = source_->at(shapes, host_values_);
  Lowering lowering(region, shared_->driver->facts());
  lowering.run();
  Binding made = gpu::bind(lowering, memory_, source_->inputs(), region.constants);
  if (made.kernels != kernels_) fail(ErrorCode::ep_fail, "a run has other launches than its class");
  return made;
}

std::shared_ptr<const Binding> ClassPlan::binding(const std::vector<Shape>& shapes) const {
  std::vector<int64_t> key;
  for (const Shape& shape : shapes) {
    key.push_back(shape.rank());
    key.insert(key.end(), shape.begin(), shape.end());
  }
  {
    const std::lock_guard lock(mutex_);
    if (const auto known = bindings_.find(key); known != bindings_.end()) return known->second;
  }
  auto made = std::make_shared<const Binding>(bind_to(shapes));
  const std::lock_guard lock(mutex_);
  if (bindings_.size() >= kMostBindings) bindings_.clear();
  return bindings_[key] = std::move(made);
}

void ClassPlan::run(const Binding& binding, std::span<const TensorView> inputs, std::span<void* const> outputs,
                    kit::StreamHandle stream) const {
  auto room = rooms_.take();
  try {
    room->run(binding, functions_, inputs, outputs, stream, shared_->captures);
  } catch (...) {
    room.set_broken();
    throw;
  }
}

}  // namespace rh::gpu
