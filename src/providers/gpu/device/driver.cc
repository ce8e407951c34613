#include "providers/gpu/device/driver.h"

#include "base/error.h"
#include "base/out_of_memory.h"

namespace rh::gpu {

namespace {

constexpr size_t kLeastBytes = 256;  // drivers refuse to allocate nothing

uintptr_t number_of(const void* address) { return reinterpret_cast<uintptr_t>(address); }

const DeviceFacts& facts_of(const System& system, int number) {
  const size_t count = system.devices().size();
  if (number < 0 || static_cast<size_t>(number) >= count) {
    fail(ErrorCode::invalid_argument, "{}: there is no device {}, the driver has {}: give another device_id", system.vendor().provider,
         number, count);
  }
  return system.devices()[static_cast<size_t>(number)];
}

}  // namespace

Driver::Driver(const System& system, int number) : system_(system), facts_(facts_of(system, number)) {
  system_.check(system_.api().device(&device_, number), "device");
  system_.check(system_.api().retain_context(&context_, device_), "retain_context");
}

Driver::~Driver() { system_.api().release_context(device_); }

const DriverApi& Driver::enter() {
  system_.check(system_.api().set_context(context_), "set_context");
  return system_.api();
}

bool Driver::enter_quietly() noexcept { return system_.api().set_context(context_) == 0; }

void* Driver::allocate(size_t bytes) {
  const DriverApi& api = enter();
  void* memory = nullptr;
  const size_t size = bytes > 0 ? bytes : kLeastBytes;
  const Result result = api.allocate(&memory, size);
  if (result == system_.vendor().numbers.out_of_memory) throw OutOfMemory(bytes, "memory of the device");
  system_.check(result, "allocate");
  const std::lock_guard lock(mutex_);
  blocks_.emplace(number_of(memory), size);
  return memory;
}

void Driver::free(void* memory) noexcept {
  if (!memory) return;
  {
    const std::lock_guard lock(mutex_);
    blocks_.erase(number_of(memory));
  }
  if (enter_quietly()) system_.api().free(memory);  // waits for what uses it
}

void* Driver::allocate_pinned(size_t bytes) {
  const DriverApi& api = enter();
  void* memory = nullptr;
  const size_t size = bytes > 0 ? bytes : kLeastBytes;
  const Result result = api.allocate_pinned(&memory, size, 0);
  if (result == system_.vendor().numbers.out_of_memory) throw OutOfMemory(bytes, "pinned memory");
  system_.check(result, "allocate_pinned");
  const std::lock_guard lock(mutex_);
  pinned_.emplace(number_of(memory), size);
  return memory;
}

void Driver::free_pinned(void* memory) noexcept {
  if (!memory) return;
  {
    const std::lock_guard lock(mutex_);
    pinned_.erase(number_of(memory));
  }
  if (enter_quietly()) system_.api().wait_for_all();
  system_.api().free_pinned(memory);
}

// Of memory that is not pinned the driver reads, or writes, all before the call returns.
void Driver::copy(void* to, const void* from, size_t bytes, kit::CopyKind kind, kit::StreamHandle stream) {
  if (bytes == 0) return;
  const DriverApi& api = enter();
  switch (kind) {
    case kit::CopyKind::to_device:
      return system_.check(stream ? api.copy_in_on(to, from, bytes, stream) : api.copy_in(to, from, bytes), "copy to the device");
    case kit::CopyKind::to_host:
      return system_.check(stream ? api.copy_out_on(to, from, bytes, stream) : api.copy_out(to, from, bytes), "copy to the host");
    case kit::CopyKind::within_device:
      system_.check(api.copy_within_on(to, from, bytes, stream), "copy within the device");
      if (!stream) system_.check(api.wait_stream(nullptr), "wait_stream");
  }
}

kit::StreamHandle Driver::make_stream() {
  Handle stream = nullptr;
  system_.check(enter().make_stream(&stream, system_.vendor().numbers.non_blocking_stream), "make_stream");
  const std::lock_guard lock(mutex_);
  streams_.insert(stream);
  return stream;
}

void Driver::destroy_stream(kit::StreamHandle stream) noexcept {
  {
    const std::lock_guard lock(mutex_);
    if (streams_.erase(stream) == 0) return;
  }
  if (enter_quietly()) system_.api().destroy_stream(stream);
}

void Driver::wait(kit::StreamHandle stream) { system_.check(enter().wait_stream(stream), "wait_stream"); }

void Driver::wait_for_all() { system_.check(enter().wait_for_all(), "wait_for_all"); }

kit::EventHandle Driver::make_event() {
  Handle event = nullptr;
  system_.check(enter().make_event(&event, system_.vendor().numbers.no_timing_event), "make_event");
  return event;
}

void Driver::destroy_event(kit::EventHandle event) noexcept {
  if (event && enter_quietly()) system_.api().destroy_event(event);
}

void Driver::record(kit::EventHandle event, kit::StreamHandle stream) { system_.check(enter().record(event, stream), "record"); }

void Driver::wait_for(kit::EventHandle event) { system_.check(enter().wait_event(event), "wait_event"); }

void Driver::make_wait(kit::StreamHandle stream, kit::EventHandle event) {
  system_.check(enter().stream_wait(stream, event, 0), "stream_wait");
}

std::string Driver::leaks() const {
  const std::lock_guard lock(mutex_);
  return blocks_.empty() && pinned_.empty()
             ? std::string()
             : fmt::format("{} blocks of the device and {} pinned ones were not freed", blocks_.size(), pinned_.size());
}

Handle Driver::load(const std::string& image) {
  Handle module = nullptr;
  system_.check(enter().load_module(&module, image.data()), "load_module");
  return module;
}

void Driver::unload(Handle module) noexcept {
  if (module && enter_quietly()) system_.api().unload_module(module);
}

Handle Driver::function(Handle module, const char* name) {
  Handle function = nullptr;
  system_.check(enter().function(&function, module, name), name);
  return function;
}

void Driver::launch(Handle function, Grid grid, unsigned threads, unsigned shared_bytes, kit::StreamHandle stream, const void* argument,
                    unsigned stride) {
  void* arguments[] = {&argument, &stride};
  system_.check(enter().launch(function, grid.x, grid.y, grid.z, threads, 1, 1, shared_bytes, stream, arguments, nullptr), "launch");
}

kit::EventHandle Driver::make_timed_event() {
  Handle event = nullptr;
  system_.check(enter().make_event(&event, 0), "make_event");
  return event;
}

double Driver::milliseconds_between(kit::EventHandle first, kit::EventHandle last) {
  float milliseconds = 0;
  system_.check(enter().elapsed(&milliseconds, first, last), "elapsed");
  return static_cast<double>(milliseconds);
}

bool Driver::has_graphs() const {
  const DriverApi& api = system_.api();
  return api.begin_capture && api.end_capture && api.instantiate && api.launch_graph && api.destroy_graph && api.destroy_instance &&
         api.is_capturing;
}

bool Driver::is_capturing(kit::StreamHandle stream) {
  int state = 0;
  if (!system_.api().is_capturing) return false;
  system_.check(enter().is_capturing(stream, &state), "is_capturing");
  return state != 0;
}

void Driver::begin_capture(kit::StreamHandle stream) {
  system_.check(enter().begin_capture(stream, system_.vendor().numbers.relaxed_capture), "begin_capture");
}

Handle Driver::end_capture(kit::StreamHandle stream) {
  const DriverApi& api = enter();
  Handle graph = nullptr, instance = nullptr;
  if (api.end_capture(stream, &graph) != 0 || !graph) return nullptr;
  const Result result = api.instantiate(&instance, graph, 0);
  api.destroy_graph(graph);
  return result == 0 ? instance : nullptr;
}

void Driver::launch_graph(Handle instance, kit::StreamHandle stream) {
  system_.check(enter().launch_graph(instance, stream), "launch_graph");
}

void Driver::destroy_graph(Handle instance) noexcept {
  if (instance && enter_quietly()) system_.api().destroy_instance(instance);
}

}  // namespace rh::gpu
