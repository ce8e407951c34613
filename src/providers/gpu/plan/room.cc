#include <algorithm>
#include <bit>

#include "providers/gpu/plan/class_plan.h"
#include "providers/kit/host/profiling.h"

namespace rh::gpu {

namespace {

constexpr size_t kLeastArguments = 4096;
constexpr int kCaptureAtRun = 3;
constexpr size_t kLeastCaptured = 4;  ///< launches; fewer are as fast one by one

/// Events of the device that tell times.
class TimedEvents {
 public:
  TimedEvents(Driver& driver, size_t count) : driver_(driver) {
    events_.reserve(count);
    try {
      while (events_.size() < count) events_.push_back(driver_.make_timed_event());
    } catch (...) {
      destroy();
      throw;
    }
  }
  ~TimedEvents() { destroy(); }
  TimedEvents(const TimedEvents&) = delete;
  TimedEvents& operator=(const TimedEvents&) = delete;
  kit::EventHandle operator[](size_t i) const { return events_[i]; }

 private:
  void destroy() noexcept {
    for (const kit::EventHandle event : events_) driver_.destroy_event(event);
  }

  Driver& driver_;
  std::vector<kit::EventHandle> events_;
};

}  // namespace

Room::Room(std::shared_ptr<Driver> driver, size_t block_bytes) : driver_(std::move(driver)) {
  if (block_bytes > 0) block_ = std::make_unique<kit::DeviceBlock>(driver_, block_bytes);
  try {
    copied_ = driver_->make_event();
    done_ = driver_->make_event();
  } catch (...) {
    driver_->destroy_event(copied_);
    throw;
  }
}

Room::~Room() {
  driver_->destroy_graph(graph_);
  if (staging_) driver_->free_pinned(staging_);
  driver_->destroy_event(copied_);
  driver_->destroy_event(done_);
}

// The captured launches have the block's address.
void Room::resize(size_t bytes) {
  driver_->destroy_graph(graph_);
  graph_ = nullptr;
  runs_ = 0;
  arguments_.reset();
  if (staging_) driver_->free_pinned(staging_);
  staging_ = nullptr;
  written_.clear();
  capacity_ = 0;
  const size_t room = std::max(kLeastArguments, std::bit_ceil(bytes));
  arguments_ = std::make_unique<kit::DeviceBlock>(driver_, room);
  staging_ = driver_->allocate_pinned(room);
  capacity_ = room;
}

// In the steady state addresses and sizes are those of the last run, and nothing is copied.
void Room::write_arguments(const Binding& binding, std::span<const TensorView> inputs, std::span<void* const> outputs,
                           kit::StreamHandle stream) {
  std::vector<std::byte> bytes = binding.arguments;
  for (const Binding::Patch& patch : binding.patches) {
    using Kind = Binding::Patch::Kind;
    const void* base = patch.kind == Kind::input    ? inputs[patch.number].raw()
                       : patch.kind == Kind::output ? outputs[patch.number]
                       : patch.kind == Kind::block  ? block_->memory()
                                                    : arguments_->memory();
    const char* address = static_cast<const char*>(base) + patch.offset;
    std::memcpy(bytes.data() + patch.at, &address, sizeof address);
  }
  if (bytes == written_) return;
  if (!written_.empty()) driver_->wait_for(copied_);
  std::ranges::copy(bytes, static_cast<std::byte*>(staging_));
  written_.clear();  // should the copy fail
  driver_->copy(arguments_->memory(), staging_, bytes.size(), kit::CopyKind::to_device, stream);
  driver_->record(copied_, stream);
  written_ = std::move(bytes);
}

void Room::launch_one(const Binding& binding, std::span<const Handle> functions, size_t step, kit::StreamHandle stream) {
  const Binding::Step& at = binding.steps[step];
  driver_->launch(functions[step], at.size.grid, at.size.threads, at.size.shared_bytes, stream,
                  static_cast<const char*>(arguments_->memory()) + at.at, at.stride);
}

void Room::launch(const Binding& binding, std::span<const Handle> functions, kit::StreamHandle stream) {
  for (size_t i = 0; i < binding.steps.size(); ++i) launch_one(binding, functions, i, stream);
}

void Room::launch_timed(const Binding& binding, std::span<const Handle> functions, kit::StreamHandle stream) {
  using Clock = kit::ProfileEvent::Clock;
  TimedEvents events(*driver_, binding.steps.size() + 1);
  const Clock::time_point began = Clock::now();
  driver_->record(events[0], stream);
  for (size_t i = 0; i < binding.steps.size(); ++i) {
    launch_one(binding, functions, i, stream);
    driver_->record(events[i + 1], stream);
  }
  driver_->wait_for(events[binding.steps.size()]);
  const auto at = [&](size_t event) {
    const std::chrono::duration<double, std::milli> since(driver_->milliseconds_between(events[0], events[event]));
    return began + std::chrono::duration_cast<Clock::duration>(since);
  };
  for (size_t i = 0; i < binding.steps.size(); ++i) {
    const std::string& call = binding.kernels[i].call;
    kit::record_kernel(call.substr(0, call.find('<')), binding.steps[i].nodes, at(i), at(i + 1));
  }
}

void Room::run(const Binding& binding, std::span<const Handle> functions, std::span<const TensorView> inputs,
               std::span<void* const> outputs, kit::StreamHandle stream, bool captures) {
  if (binding.steps.empty()) return;
  if (binding.arguments.size() > capacity_) resize(binding.arguments.size());
  if (has_run_ && stream != last_stream_) driver_->make_wait(stream, done_);
  write_arguments(binding, inputs, outputs, stream);
  ++runs_;
  const bool is_timed = kit::is_profiled() && driver_->has_times() && !(stream && driver_->is_capturing(stream));
  const bool may_capture = captures && !is_timed && driver_->has_graphs() && binding.steps.size() >= kLeastCaptured && stream;
  if (may_capture && !graph_ && runs_ == kCaptureAtRun && !driver_->is_capturing(stream)) {
    driver_->begin_capture(stream);
    try {
      launch(binding, functions, stream);
    } catch (...) {
      driver_->destroy_graph(driver_->end_capture(stream));
      throw;
    }
    graph_ = driver_->end_capture(stream);
  }
  if (is_timed) {
    launch_timed(binding, functions, stream);
  } else if (may_capture && graph_) {
    driver_->launch_graph(graph_, stream);
  } else {
    launch(binding, functions, stream);
  }
  driver_->record(done_, stream);
  last_stream_ = stream;
  has_run_ = true;
}

}  // namespace rh::gpu
