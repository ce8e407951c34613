#include "providers/kit/device/device_tables.h"

#include <algorithm>
#include <charconv>
#include <string_view>

#include "base/out_of_memory.h"
#include "tensor/arena_report.h"

namespace rh::kit {

namespace {

bool is_host(const Host& host, const OrtMemoryDevice& device) {
  return host.ep->MemoryDevice_GetDeviceType(&device) == OrtMemoryInfoDeviceType_CPU ||
         host.ep->MemoryDevice_GetMemoryType(&device) == OrtDeviceMemoryType_HOST_ACCESSIBLE;
}

struct NotificationTable : OrtSyncNotificationImpl {
  NotificationTable(const Host& of, std::shared_ptr<DeviceDriver> device, StreamHandle on)
      : OrtSyncNotificationImpl{}, host(of), driver(std::move(device)), stream(on), event(driver->make_event()) {
    ort_version_supported = host.version;
    Release = [](OrtSyncNotificationImpl* self) { delete static_cast<NotificationTable*>(self); };
    Activate = [](OrtSyncNotificationImpl* self) {
      return with(self, [](NotificationTable& table) { table.driver->record(table.event, table.stream); });
    };
    WaitOnHost = [](OrtSyncNotificationImpl* self) {
      return with(self, [](NotificationTable& table) { table.driver->wait_for(table.event); });
    };
    WaitOnDevice = [](OrtSyncNotificationImpl* self, OrtSyncStream* consumer) {
      return with(self, [consumer](NotificationTable& table) {
        void* waiting = consumer ? table.host.api->SyncStream_GetHandle(consumer) : nullptr;
        waiting ? table.driver->make_wait(waiting, table.event) : table.driver->wait_for(table.event);  // without a stream it is the host
      });
    };
  }
  ~NotificationTable() { driver->destroy_event(event); }

  template <typename Body>
  static OrtStatus* with(OrtSyncNotificationImpl* self, Body&& body) {
    auto& table = *static_cast<NotificationTable*>(self);
    return guard(*table.host.api, [&] { body(table); });
  }

  Host host;
  std::shared_ptr<DeviceDriver> driver;
  StreamHandle stream;
  EventHandle event;
};

struct StreamTable : OrtSyncStreamImpl {
  StreamTable(const Host& of, std::shared_ptr<ListedDevice> on, StreamHandle made)
      : OrtSyncStreamImpl{}, host(of), device(std::move(on)), driver(device->driver()), stream(made) {
    ort_version_supported = host.version;
    Release = [](OrtSyncStreamImpl* self) { delete static_cast<StreamTable*>(self); };
    GetHandle = [](OrtSyncStreamImpl* self) -> void* { return static_cast<StreamTable*>(self)->stream; };
    CreateNotification = [](OrtSyncStreamImpl* self, OrtSyncNotificationImpl** out) {
      auto& table = *static_cast<StreamTable*>(self);
      return guard(*table.host.api, [&] { *out = new NotificationTable(table.host, table.driver, table.stream); });
    };
    Flush = [](OrtSyncStreamImpl*) -> OrtStatus* { return nullptr; };
    OnSessionRunEnd = [](OrtSyncStreamImpl* self) {
      auto& table = *static_cast<StreamTable*>(self);
      return guard(*table.host.api, [&] { table.end_run(); });
    };
  }
  ~StreamTable() {
    driver->destroy_stream(stream);
    device->settle(this, true);
  }

  void end_run() {
    try {
      driver->wait(stream);
    } catch (...) {
      device->settle(this, false);
      throw;
    }
    device->settle(this, false);
  }

  Host host;
  std::shared_ptr<ListedDevice> device;
  std::shared_ptr<DeviceDriver> driver;
  StreamHandle stream;
};

struct TransferTable : OrtDataTransferImpl {
  TransferTable(const Host& of, std::vector<std::shared_ptr<ListedDevice>> all) : OrtDataTransferImpl{}, host(of), devices(std::move(all)) {
    ort_version_supported = host.version;
    Release = [](OrtDataTransferImpl* self) { delete static_cast<TransferTable*>(self); };
    CanCopy = [](const OrtDataTransferImpl* self, const OrtMemoryDevice* from, const OrtMemoryDevice* to) {
      const auto& table = *static_cast<const TransferTable*>(self);
      ListedDevice* source = table.owner(*from);
      ListedDevice* target = table.owner(*to);
      if (source && target) return source == target;
      return (source && is_host(table.host, *to)) || (target && is_host(table.host, *from));
    };
    CopyTensors = [](OrtDataTransferImpl* self, const OrtValue** from, OrtValue** to, OrtSyncStream** streams, size_t count) {
      const auto& table = *static_cast<const TransferTable*>(self);
      return guard(*table.host.api, [&] {
        for (size_t i = 0; i < count; ++i) table.copy(*from[i], *to[i], streams ? streams[i] : nullptr);
        if (!table.host.is_roundhouse && streams) table.wait_for_feeds(from, to, {streams, count});
      });
    };
  }

  ListedDevice* owner(const OrtMemoryDevice& device) const {
    const auto at = std::ranges::find_if(devices, [&](const auto& one) { return one->owns(device); });
    return at == devices.end() ? nullptr : at->get();
  }

  void copy(const OrtValue& from, OrtValue& to, OrtSyncStream* stream) const {
    ListedDevice* source = owner(*host.ep->Value_GetMemoryDevice(&from));
    ListedDevice* target = owner(*host.ep->Value_GetMemoryDevice(&to));
    if (!source && !target) fail(ErrorCode::ep_fail, "a copy within the host's memory was asked of a device");
    if (source && target && source != target) fail(ErrorCode::not_implemented, "devices do not copy to each other");
    const void* read = nullptr;
    void* written = nullptr;
    size_t bytes = 0, room = 0;
    check(host, host.api->GetTensorData(&from, &read));
    check(host, host.api->GetTensorMutableData(&to, &written));
    check(host, host.api->GetTensorSizeInBytes(&from, &bytes));
    check(host, host.api->GetTensorSizeInBytes(&to, &room));
    if (bytes > room) fail(ErrorCode::invalid_argument, "a tensor of {} bytes is copied to one of {}", bytes, room);
    if (bytes == 0) return;
    if (!written) throw OutOfMemory(bytes);  // ONNX Runtime goes on where an allocator gave nothing
    const CopyKind kind = !source ? CopyKind::to_device : !target ? CopyKind::to_host : CopyKind::within_device;
    const auto driver = (source ? source : target)->driver();
    // Hosts copy without a stream what work of a stream may still be writing: such a copy comes after all of it.
    if (!stream) driver->wait_for_all();
    driver->copy(written, read, bytes, kind, stream ? host.api->SyncStream_GetHandle(stream) : nullptr);
  }

  // ONNX Runtime copies a model's inputs on the stream of the main graph. A body has a stream of its own there, which waits for values of
  // nodes alone: its nodes would read an input that is still under way.
  void wait_for_feeds(const OrtValue* const* from, const OrtValue* const* to, std::span<OrtSyncStream* const> streams) const {
    std::set<StreamHandle> waited;
    for (size_t i = 0; i < streams.size(); ++i) {
      ListedDevice* target = owner(*host.ep->Value_GetMemoryDevice(to[i]));
      if (!streams[i] || !target || owner(*host.ep->Value_GetMemoryDevice(from[i]))) continue;
      const StreamHandle stream = host.api->SyncStream_GetHandle(streams[i]);
      if (waited.insert(stream).second) target->driver()->wait(stream);
    }
  }

  Host host;
  std::vector<std::shared_ptr<ListedDevice>> devices;
};

}  // namespace

struct AllocatorTable : OrtAllocator {
  AllocatorTable(const Host& of, std::shared_ptr<ListedDevice> on, bool pinned, const std::optional<ArenaSettings>& settings)
      : OrtAllocator{},
        host(of),
        device(std::move(on)),
        info(pinned ? device->pinned_ : device->memory_),
        memory(std::make_shared<DriverMemory>(device->driver(), pinned), settings) {
    version = host.version;
    Alloc = [](OrtAllocator* self, size_t bytes) { return give([&] { return memory_of(self).allocate(bytes); }); };
    Reserve = [](OrtAllocator* self, size_t bytes) { return give([&] { return memory_of(self).reserve(bytes); }); };
    Free = [](OrtAllocator* self, void* piece) { memory_of(self).deallocate(piece); };
    Info = [](const OrtAllocator* self) { return static_cast<const AllocatorTable*>(self)->info; };
    GetStats = [](const OrtAllocator* self, OrtKeyValuePairs** out) {
      const auto& table = *static_cast<const AllocatorTable*>(self);
      return guard(*table.host.api, [&] { *out = table.statistics(); });
    };
    if (settings) {
      AllocOnStream = [](OrtAllocator* self, size_t bytes, OrtSyncStream* stream) {
        const Host& host = static_cast<AllocatorTable*>(self)->host;
        const void* key = stream ? host.ep->SyncStream_GetImpl(stream) : nullptr;
        return give([&] { return memory_of(self).allocate_on(key, bytes); });
      };
      Shrink = [](OrtAllocator* self) -> OrtStatus* {
        memory_of(self).shrink();
        return nullptr;
      };
    }
    const std::lock_guard lock(device->mutex_);
    device->allocators_.insert(this);
  }
  ~AllocatorTable() {
    const std::lock_guard lock(device->mutex_);
    device->allocators_.erase(this);
  }

  static StreamMemory& memory_of(OrtAllocator* self) { return static_cast<AllocatorTable*>(self)->memory; }

  /// Null is what the interface knows for want of memory.
  template <typename Body>
  static void* give(Body&& body) {
    try {
      return body();
    } catch (...) {
      return nullptr;
    }
  }

  OrtKeyValuePairs* statistics() const {
    OrtKeyValuePairs* pairs = nullptr;
    host.api->CreateKeyValuePairs(&pairs);
    for (const auto& [key, value] : arena_report(memory.statistics())) host.api->AddKeyValuePair(pairs, key, std::to_string(value).c_str());
    return pairs;
  }

  Host host;
  std::shared_ptr<ListedDevice> device;
  const OrtMemoryInfo* info;
  StreamMemory memory;
};

ListedDevice::ListedDevice(const Host& host, const DeviceSpec& spec, uint32_t vendor_id, std::shared_ptr<DeviceDriver> (*open)(int))
    : host_(host), spec_(spec), open_(open) {
  const auto make = [&](const std::string& name, OrtDeviceMemoryType type, OrtMemoryInfo** out) {
    check(host, host.api->CreateMemoryInfo_V2(name.c_str(), spec.type, vendor_id, spec.id, type, 0, OrtDeviceAllocator, out));
  };
  make(spec.memory_name, OrtDeviceMemoryType_DEFAULT, &memory_);
  make(spec.memory_name + "Host", OrtDeviceMemoryType_HOST_ACCESSIBLE, &pinned_);
}

ListedDevice::~ListedDevice() {
  if (memory_) host_.api->ReleaseMemoryInfo(memory_);
  if (pinned_) host_.api->ReleaseMemoryInfo(pinned_);
}

bool ListedDevice::owns(const OrtMemoryDevice& device) const {
  return host_.ep->MemoryDevice_AreEqual(host_.ep->MemoryInfo_GetMemoryDevice(memory_), &device);
}

bool ListedDevice::owns_pinned(const OrtMemoryDevice& device) const {
  return host_.ep->MemoryDevice_AreEqual(host_.ep->MemoryInfo_GetMemoryDevice(pinned_), &device);
}

std::shared_ptr<DeviceDriver> ListedDevice::driver() {
  const std::lock_guard lock(mutex_);
  if (!driver_) driver_ = open_(spec_.id);
  return driver_;
}

std::shared_ptr<DeviceDriver> ListedDevice::opened() {
  const std::lock_guard lock(mutex_);
  return driver_;
}

Allocator& ListedDevice::pinned_pool() {
  const std::shared_ptr<DeviceDriver> opened = driver();
  const std::lock_guard lock(mutex_);
  if (!pinned_pool_) {
    constexpr size_t kFirst = 4096;  // what steers regions is small
    pinned_pool_ = std::make_shared<Arena>(std::make_shared<DriverMemory>(opened, true), ArenaSettings{.initial_chunk_bytes = kFirst});
  }
  return *pinned_pool_;
}

Allocator& ListedDevice::blocks() {
  const std::shared_ptr<DeviceDriver> opened = driver();
  const std::lock_guard lock(mutex_);
  if (!blocks_) blocks_ = std::make_shared<DriverMemory>(opened, false);
  return *blocks_;
}

void ListedDevice::settle(const void* stream, bool is_gone) {
  const std::lock_guard lock(mutex_);
  for (AllocatorTable* allocator : allocators_) is_gone ? allocator->memory.forget(stream) : allocator->memory.settle(stream);
}

std::optional<ArenaSettings> arena_settings(const Host& host, const OrtKeyValuePairs* options) {
  if (!options) return std::nullopt;
  ArenaSettings settings;
  bool any = false;
  const auto read = [&](const char* key, auto set) {
    const char* text = host.api->GetKeyValue(options, key);
    if (!text) return;
    int64_t number = 0;
    const std::string_view view(text);
    const auto [end, error] = std::from_chars(view.data(), view.data() + view.size(), number);
    if (error != std::errc() || end != view.data() + view.size()) {
      fail(ErrorCode::invalid_argument, "'{}' is '{}', expected an integer", key, text);
    }
    any = true;
    if (number >= 0) set(static_cast<size_t>(number));  // -1: as it is
  };
  read("arena.max_mem", [&](size_t n) { settings.max_bytes = n; });
  read("arena.extend_strategy",
       [&](size_t n) { settings.growth = n == 1 ? ArenaSettings::Growth::same_as_requested : ArenaSettings::Growth::next_power_of_two; });
  read("arena.initial_chunk_size_bytes", [&](size_t n) { settings.initial_chunk_bytes = n; });
  read("arena.max_dead_bytes_per_chunk", [&](size_t n) { settings.max_dead_bytes = n; });
  read("arena.initial_growth_chunk_size_bytes", [&](size_t n) { settings.initial_growth_bytes = n; });
  read("arena.max_power_of_two_extend_bytes", [&](size_t n) { settings.max_power_of_two_bytes = n; });
  return any ? std::optional(settings) : std::nullopt;
}

OrtAllocator* make_allocator(const Host& host, std::shared_ptr<ListedDevice> device, bool pinned,
                             const std::optional<ArenaSettings>& settings) {
  return new AllocatorTable(host, std::move(device), pinned, settings);
}

void delete_allocator(OrtAllocator* allocator) { delete static_cast<AllocatorTable*>(allocator); }

OrtSyncStreamImpl* make_stream_table(const Host& host, std::shared_ptr<ListedDevice> device, StreamHandle stream) {
  return new StreamTable(host, std::move(device), stream);
}

OrtDataTransferImpl* make_transfer(const Host& host, std::vector<std::shared_ptr<ListedDevice>> devices) {
  return new TransferTable(host, std::move(devices));
}

}  // namespace rh::kit
