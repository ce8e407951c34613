#include "providers/fake_device/driver.h"

#include <cstdlib>
#include <cstring>
#include <new>
#include <utility>
#include <vector>

#include "base/error.h"
#include "providers/fake_device/fault.h"

namespace rh::fake_device {

namespace {

/// A point in a stream's work.
struct Event {
  std::shared_ptr<Queue> queue;
  int64_t count = 0;
};

/// Streams are shared, since an event may be waited for when its stream is gone.
using Stream = std::shared_ptr<Queue>;

Stream& stream_of(kit::StreamHandle handle) { return *static_cast<Stream*>(handle); }

}  // namespace

bool is_wrong(std::string_view how) {
  const char* wanted = std::getenv("FAKE_DEVICE_FAULT");
  return wanted && how == wanted;
}

void* FakeDriver::allocate(size_t bytes) {
  Fault::at_device("alloc");
  void* block = memory_.allocate(bytes, is_wrong("memory") ? size_t{1} << 20 : bytes);
  if (!block) throw std::bad_alloc();
  return block;
}

void FakeDriver::free(void* memory) noexcept {
  Queue::drain_all();
  memory_.free(memory);
}

void* FakeDriver::allocate_pinned(size_t bytes) {
  void* block = memory_.allocate_pinned(bytes);
  if (!block) throw std::bad_alloc();
  return block;
}

void FakeDriver::free_pinned(void* memory) noexcept {
  Queue::drain_all();
  memory_.free_pinned(memory);
}

void FakeDriver::copy(void* to, const void* from, size_t bytes, kit::CopyKind kind, kit::StreamHandle stream) {
  const bool from_device = kind != kit::CopyKind::to_device, to_device = kind != kit::CopyKind::to_host;
  Fault::at_device(from_device ? "copy_out" : "copy_in");
  const void* source = from_device ? memory_.at(from, bytes, "the source of a copy") : from;
  void* target = to_device ? memory_.at(to, bytes, "the target of a copy") : to;
  if (!from_device) DeviceMemory::check_host(from, "the source of a copy");
  if (!to_device) DeviceMemory::check_host(to, "the target of a copy");
  ++(kind == kit::CopyKind::to_device ? counts().copies_in : to_device ? counts().copies_within : counts().copies_out);
  const size_t size = bytes - (is_wrong("copy") && bytes > 0 ? 1 : 0);
  if (!from_device && stream && !memory_.is_pinned(from, bytes)) {
    const auto* read = static_cast<const char*>(from);
    submit(stream, [staged = std::vector<char>(read, read + size), target] { std::memcpy(target, staged.data(), staged.size()); });
    return;
  }
  submit(stream, [source, target, size] { std::memmove(target, source, size); });
  if (!to_device && stream && !memory_.is_pinned(to, bytes) && !is_wrong("wait")) drain(stream);
}

kit::StreamHandle FakeDriver::make_late_stream(int64_t delay_us) { return new Stream(std::make_shared<Queue>(delay_us)); }

void FakeDriver::destroy_stream(kit::StreamHandle stream) noexcept { delete static_cast<Stream*>(stream); }

void FakeDriver::drain(kit::StreamHandle stream) {
  ++counts().waits;
  stream_of(stream)->wait(stream_of(stream)->submitted());
}

void FakeDriver::wait(kit::StreamHandle stream) {
  drain(stream);
  Fault::at_device("end_run");
}

void FakeDriver::wait_for_all() {
  ++counts().waits;
  Queue::drain_all();
}

kit::EventHandle FakeDriver::make_event() {
  Fault::at_device("record");
  return new Event;
}

void FakeDriver::destroy_event(kit::EventHandle event) noexcept { delete static_cast<Event*>(event); }

void FakeDriver::record(kit::EventHandle event, kit::StreamHandle stream) {
  *static_cast<Event*>(event) = {stream_of(stream), stream_of(stream)->submitted()};
}

void FakeDriver::wait_for(kit::EventHandle event) {
  Fault::at_device("wait");
  ++counts().waits;
  if (const auto& [queue, count] = *static_cast<Event*>(event); queue) queue->wait(count);
}

void FakeDriver::make_wait(kit::StreamHandle stream, kit::EventHandle event) {
  const auto& [queue, count] = *static_cast<Event*>(event);
  if (queue && queue != stream_of(stream)) submit(stream, [queue, count] { queue->wait(count); });
}

std::string FakeDriver::leaks() const {
  const size_t blocks = memory_.blocks();
  return blocks == 0 ? std::string() : fmt::format("{} blocks of the device were not freed", blocks);
}

void FakeDriver::submit(kit::StreamHandle stream, std::function<void()> piece) {
  if (stream) {
    stream_of(stream)->submit(std::move(piece));
  } else {
    piece();
  }
}

}  // namespace rh::fake_device
