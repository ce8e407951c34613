#include "stands/cuda/driver/device.h"

#include <algorithm>
#include <cstdio>
#include <cstring>

#include "stands/cuda/common/kind.h"
#include "stands/cuda/common/settings.h"
#include "stands/cuda/driver/handles.h"
#include "stands/cuda/driver/pool.h"

namespace rh::stand {
namespace {

struct LastMessage {
  std::mutex mutex;
  std::string text;
};
LastMessage& message() {
  static auto* last = new LastMessage;
  return *last;
}

CUuuid uuid_of(int physical) {
  CUuuid uuid{};
  std::memcpy(uuid.bytes, "Roundhouse CPU ", 15);
  uuid.bytes[15] = static_cast<unsigned char>(physical);
  return uuid;
}

std::string uuid_text(int physical) {
  CUuuid uuid = uuid_of(physical);
  std::string text = "GPU-";
  for (int i = 0; i < 16; ++i) {
    char digits[3];
    std::snprintf(digits, sizeof digits, "%02x", uuid.bytes[i]);
    text += (i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "") + std::string(digits);
  }
  return text;
}

// The device that an entry of such a list names by number or by the beginning of its UUID; -1: none.
int named_device(const std::string& entry, int count) {
  if (entry.starts_with("GPU-")) {
    for (int i = 0; i < count; ++i)
      if (uuid_text(i).starts_with(entry)) return i;
    return -1;
  }
  if (entry.empty() || entry.find_first_not_of("0123456789") != std::string::npos) return -1;
  long number = std::atol(entry.c_str());
  return number < count ? static_cast<int>(number) : -1;
}

// The list ends at the first entry that names no device, as the driver's does.
std::vector<int> visible_devices() {
  int count = static_cast<int>(setting("RH_STAND_DEVICES", 1));
  std::vector<int> visible;
  const char* list = nullptr;
  for (const char* variable : visible_devices_variables())
    if (!list) list = std::getenv(variable);
  if (!list) {
    for (int i = 0; i < count; ++i) visible.push_back(i);
    return visible;
  }
  std::string text = list;
  for (size_t at = 0; at <= text.size();) {
    size_t end = std::min(text.find(',', at), text.size());
    int device = named_device(text.substr(at, end - at), count);
    if (device < 0) break;
    visible.push_back(device);
    at = end + 1;
  }
  return visible;
}

}  // namespace

Device::Device(int ordinal_seen, int number)
    : ordinal(ordinal_seen),
      physical(number),
      compute_capability(device_architecture()),
      memory(static_cast<size_t>(setting("RH_STAND_MEMORY_MB", 4096)) << 20),
      executor(*this, checked_setting() ? 1 : static_cast<int>(std::clamp(setting("RH_STAND_WORKERS", 1), 1l, 64l))) {
  context.device = this;
  if (checked_setting()) check_ = std::make_unique<MemoryCheck>(memory);
}

std::string Device::name() const { return device_name(); }
int Device::shared_memory_at_most() const {
  switch (compute_capability) {
    case 75: return 64 << 10;
    case 80:
    case 87: return 163 << 10;
    case 86:
    case 89:
    case 120:
    case 121: return 99 << 10;
    default: return 227 << 10;
  }
}
CUuuid Device::uuid() const { return uuid_of(physical); }

CUstream Device::null_stream() {
  std::lock_guard lock(mutex);
  if (!null_stream_) {
    null_stream_ = new CUstream_st;
    null_stream_->device = this;
    null_stream_->queue = std::make_shared<StreamQueue>(*this, setting("RH_STAND_DELAY_US", 0));
    null_stream_->queue->start();
  }
  return null_stream_;
}

bool Device::null_stream_is_used() {
  std::lock_guard lock(mutex);
  return null_stream_ != nullptr;
}

void Device::wait() {
  std::vector<Moment> moments;
  {
    std::lock_guard lock(mutex);
    for (CUstream s : streams) moments.push_back(s->queue->now());
    if (null_stream_) moments.push_back(null_stream_->queue->now());
  }
  for (const auto& m : moments) {
    m.wait();
    host_has_seen(m);
  }
}

void Device::reset() {
  wait();
  drop_handles_of(*this);
  drop_pools_of(*this);
  for (char* block : memory.blocks()) memory.release(block);
  sticky = 0;
}

void Device::fail(int error, const std::string& what) {
  std::fprintf(stderr, "stand: %s\n", what.c_str());
  {
    std::lock_guard lock(message().mutex);
    message().text = what;
  }
  sticky = error;
}

std::vector<Device*>& devices() {
  static auto* all = [] {
    auto* made = new std::vector<Device*>;
    for (int physical : visible_devices()) made->push_back(new Device(static_cast<int>(made->size()), physical));
    return made;
  }();
  return *all;
}

Device* device_of(int ordinal) {
  return ordinal < 0 || static_cast<size_t>(ordinal) >= devices().size() ? nullptr : devices()[static_cast<size_t>(ordinal)];
}

Device* device_with_memory(const void* p) {
  for (Device* d : devices())
    if (d->memory.has(p)) return d;
  return nullptr;
}

Counters& counters() {
  static auto* all = new Counters;
  return *all;
}

std::string last_message() {
  std::lock_guard lock(message().mutex);
  return message().text;
}

}  // namespace rh::stand
