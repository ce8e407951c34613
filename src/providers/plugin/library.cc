#include "providers/plugin/library.h"

#include <algorithm>
#include <filesystem>

#include "abi/allocator.h"
#include "abi/arena_allocator.h"
#include "base/paths.h"
#include "providers/plugin/call.h"
#include "providers/plugin/time_limit.h"
#include "settings/settings.h"

namespace rh::plugin {

namespace {

constexpr size_t kMaxFactories = 16, kMaxDevices = 64;

/// What to do about a library that the system does not load.
std::string_view remedy_for(std::string_view reason) {
  if (reason.find("cannot open shared object file") != std::string_view::npos) {
    return "install the library that it needs, or name its folder in LD_LIBRARY_PATH";
  }
  if (reason.find("undefined symbol") != std::string_view::npos) return "install the version of the libraries that it was built with";
  return "give the path of a shared library built for this system";
}

/// Of which memory it is, whatever its name and alignment.
bool is_memory(const OrtMemoryDevice& a, const OrtMemoryDevice& b) {
  return a.type == b.type && a.memory == b.memory && a.vendor_id == b.vendor_id && a.device_id == b.device_id;
}

const char* text_or(const char* text, const char* otherwise) { return text && *text ? text : otherwise; }

}  // namespace

Library::Library(std::string name, const PathChar* path, const OrtApiBase& api, const OrtLogger& logger,
                 std::span<const OrtHardwareDevice* const> hardware, std::chrono::milliseconds limit)
    : name_(std::move(name)), file_(utf8(path)), logger_(std::make_shared<const OrtLogger>(logger)) {
  std::error_code ignored;
  if (std::filesystem::path(path).has_parent_path() && !std::filesystem::exists(path, ignored)) {
    fail(ErrorCode::fail, "provider library '{}': there is no file '{}': give the path of the library that was built or installed", name_,
         file_);
  }
  open(path, limit);
  try {
    create_factories(api, limit);
    check_factories();
    for (Factory& factory : factories_) {
      list_devices(factory, hardware, limit);
      make_transfer(factory);
    }
  } catch (...) {
    release_factories();
    if (!left_behind_) close_library(handle_);
    throw;
  }
}

// On a thread of its own, since its initializers may hang.
void Library::open(const PathChar* path, std::chrono::milliseconds limit) {
  struct Opened {
    std::filesystem::path path;
    void* handle = nullptr;
  };
  const auto opened = std::make_shared<Opened>(Opened{path});
  bool hung = false;
  const auto load = [opened]() -> Status {
    try {
      opened->handle = open_library(opened->path.c_str());
      return {};
    } catch (...) {
      return status_of_current_exception();
    }
  };
  const Status status =
      plugin::call_in_time(fmt::format("provider library '{}'", name_), fmt::format("loading '{}'", file_), limit, load, opened, &hung);
  if (hung) throw Error(status.code(), std::string(status.message()));
  if (!status.ok()) {
    fail(status.code(), "provider library '{}' does not load: {}; {}", name_, status.message(), remedy_for(status.message()));
  }
  handle_ = opened->handle;
}

Library::~Library() {
  release_factories();
  if (!left_behind_) close_library(handle_);
}

void Library::call_in_time(const std::string& who, const char* function, std::chrono::milliseconds limit, std::function<OrtStatus*()> work,
                           std::shared_ptr<const void> kept) {
  const Status status = plugin::call_in_time(
      who, function, limit, [who, function, work = std::move(work)] { return try_call(who, function, work); }, std::move(kept),
      &left_behind_);
  if (!status.ok()) throw Error(status.code(), std::string(status.message()));
}

void Library::create_factories(const OrtApiBase& api, std::chrono::milliseconds limit) {
  const auto create = reinterpret_cast<CreateEpApiFactoriesFn>(find_symbol(handle_, "CreateEpFactories"));
  release_ = reinterpret_cast<ReleaseEpApiFactoryFn>(find_symbol(handle_, "ReleaseEpFactory"));
  refusals_ = reinterpret_cast<RhEpGetRefusalsFn>(find_symbol(handle_, "RhEpGetRefusals"));
  unit_host_inputs_ = reinterpret_cast<RhEpUnitHostInputsFn>(find_symbol(handle_, "RhEpUnitHostInputs"));
  passes_ = reinterpret_cast<RhEpGetPassesFn>(find_symbol(handle_, "RhEpGetPasses"));
  watch_runs_ = reinterpret_cast<RhEpWatchRunsFn>(find_symbol(handle_, "RhEpWatchRuns"));
  initializer_addresses_ = reinterpret_cast<RhEpInitializerAddressesFn>(find_symbol(handle_, "RhEpInitializerAddresses"));
  if (!create || !release_) {
    fail(ErrorCode::invalid_argument, "'{}' is no provider library: it does not export {}; give the path of a provider's library", file_,
         create ? "ReleaseEpFactory" : "CreateEpFactories");
  }
  struct Made {
    std::string name;
    std::shared_ptr<const OrtLogger> logger;
    OrtEpFactory* factories[kMaxFactories] = {};
    size_t count = 0;
  };
  const auto made = std::make_shared<Made>();
  made->name = name_;
  made->logger = logger_;
  call_in_time(
      name_, "CreateEpFactories", limit,
      [create, made, base = &api] {
        return create(made->name.c_str(), base, made->logger.get(), made->factories, kMaxFactories, &made->count);
      },
      made);
  if (made->count == 0 || made->count > kMaxFactories) {
    fail(ErrorCode::ep_fail, "provider library '{}': CreateEpFactories gave {} factories, expected 1 to {}", name_, made->count,
         kMaxFactories);
  }
  for (size_t i = 0; i < made->count; ++i) {
    if (made->factories[i]) factories_.push_back({made->factories[i], {}, nullptr});
  }
  if (factories_.size() != made->count) fail(ErrorCode::ep_fail, "provider library '{}': CreateEpFactories gave a null factory", name_);
}

void Library::check_factories() {
  for (Factory& factory : factories_) {
    const OrtEpFactory& raw = *factory.raw;
    if (!raw.GetName || !raw.GetVendor || !raw.GetSupportedDevices || !raw.CreateEp || !raw.ReleaseEp) {
      fail(ErrorCode::ep_fail,
           "provider library '{}': a factory lacks GetName, GetVendor, GetSupportedDevices, CreateEp or ReleaseEp (it says version {})",
           name_, raw.ort_version_supported);
    }
    factory.name = text_or(ask<const char*>(nullptr, [&] { return raw.GetName(&raw); }), "");
    if (factory.name.empty()) fail(ErrorCode::ep_fail, "provider library '{}': a factory has no name", name_);
  }
}

void Library::list_devices(Factory& factory, std::span<const OrtHardwareDevice* const> hardware, std::chrono::milliseconds limit) {
  struct Made {
    std::vector<const OrtHardwareDevice*> hardware;
    OrtEpDevice* devices[kMaxDevices] = {};
    size_t count = 0;
  };
  const auto made = std::make_shared<Made>();
  made->hardware.assign(hardware.begin(), hardware.end());
  const auto own_all = [&] {
    std::vector<std::unique_ptr<OrtEpDevice>> owned;
    for (OrtEpDevice* device : made->devices) {
      if (device) owned.emplace_back(device);
    }
    return owned;
  };
  try {
    call_in_time(
        factory.name, "OrtEpFactory::GetSupportedDevices", limit,
        [raw = factory.raw, made] {
          return raw->GetSupportedDevices(raw, made->hardware.data(), made->hardware.size(), made->devices, kMaxDevices, &made->count);
        },
        made);
  } catch (...) {
    if (!left_behind_) own_all();
    throw;
  }
  auto owned = own_all();
  if (made->count > kMaxDevices) {
    fail(ErrorCode::ep_fail, "{}: GetSupportedDevices gave {} devices, expected at most {}", factory.name, made->count, kMaxDevices);
  }
  for (auto& device : owned) {
    device->factory = factory.raw;
    if (device->ep_name.empty()) device->ep_name = factory.name;
    device->metadata.set("library_path", file_);
    devices_.push_back(std::move(device));
  }
}

void Library::make_transfer(Factory& factory) {
  if (!RH_HAS(*factory.raw, 23, CreateDataTransfer)) return;
  OrtDataTransferImpl* transfer = nullptr;
  call(factory.name, "OrtEpFactory::CreateDataTransfer", [&] { return factory.raw->CreateDataTransfer(factory.raw, &transfer); });
  if (transfer) factory.transfer = std::make_unique<PluginTransfer>(factory.name, *transfer);
}

Library::SharedAllocator::~SharedAllocator() {
  abi::release_allocator(arena);
  tell([&] { factory.ReleaseAllocator(&factory, &raw); });
}

std::vector<std::shared_ptr<const Library::SharedAllocator>>::iterator Library::find_shared(const OrtMemoryInfo& info) {
  return std::ranges::find_if(shared_,
                              [&](const auto& shared) { return is_memory(memory_of(*shared->device, shared->type)->device, info.device); });
}

std::shared_ptr<const Library::SharedAllocator> Library::find_shared_allocator(const OrtMemoryInfo& info) {
  const std::lock_guard lock(mutex_);
  const auto known = find_shared(info);
  return known == shared_.end() ? nullptr : *known;
}

OrtAllocator* Library::create_shared_allocator(const OrtEpDevice& device, OrtDeviceMemoryType type, const OrtKeyValuePairs* options,
                                               const ArenaChoice& choice) {
  const OrtMemoryInfo* info = memory_of(device, type);
  if (!info) fail(ErrorCode::invalid_argument, "the device of '{}' has no memory of this kind", device.ep_name);
  OrtEpFactory& factory = *device.factory;
  const std::lock_guard lock(mutex_);
  const auto known = find_shared(*info);
  if (known != shared_.end() && (*known)->device == &device && !options && !choice.wanted) return (*known)->handle();
  if (!RH_HAS(factory, 23, CreateAllocator) || !RH_HAS(factory, 23, ReleaseAllocator)) {
    fail(ErrorCode::not_implemented, "provider '{}' makes no allocators", device.ep_name);
  }
  if (known != shared_.end()) shared_.erase(known);  // first, for a plugin may keep one arena a device, with the options that began it
  OrtAllocator* made = nullptr;
  call(device.ep_name, "OrtEpFactory::CreateAllocator", [&] { return factory.CreateAllocator(&factory, info, options, &made); });
  if (!made) fail(ErrorCode::ep_fail, "provider '{}' gave no allocator for memory '{}'", device.ep_name, info->name);
  auto shared = std::make_shared<SharedAllocator>(factory, device, type, *made);
  const OrtMemoryInfo* own = made->Info ? ask<const OrtMemoryInfo*>(nullptr, [&] { return made->Info(made); }) : nullptr;
  if (choice.wanted && !(own && own->allocator_type == OrtArenaAllocator)) {
    OrtMemoryInfo arena_info = *info;
    arena_info.allocator_type = OrtArenaAllocator;
    shared->arena = abi::new_arena_allocator(arena_info, std::make_shared<Arena>(abi::allocator_over(*made), choice.settings));
  }
  shared_.push_back(shared);
  return shared->handle();
}

bool Library::release_shared_allocator(const OrtMemoryInfo& info) {
  const std::lock_guard lock(mutex_);
  const auto known = find_shared(info);
  if (known == shared_.end()) return false;
  shared_.erase(known);
  return true;
}

void Library::release_factories() {
  devices_.clear();
  if (left_behind_) {
    for (Factory& factory : factories_) (void)factory.transfer.release();
    for (auto& shared : shared_) (void)new std::shared_ptr<const SharedAllocator>(std::move(shared));
    return;
  }
  shared_.clear();
  for (Factory& factory : factories_) {
    factory.transfer.reset();
    const Status status = try_call(name_, "ReleaseEpFactory", [&] { return release_(factory.raw); });
    if (!status.ok()) logger_->log(ORT_LOGGING_LEVEL_WARNING, "plugin", "", std::string(status.message()).c_str());
  }
  factories_.clear();
}

bool Library::makes(std::string_view ep_name) const {
  return std::ranges::any_of(factories_, [&](const Factory& own) { return own.name == ep_name; });
}

bool Library::owns(const OrtEpFactory& factory) const {
  return std::ranges::any_of(factories_, [&](const Factory& own) { return own.raw == &factory; });
}

PluginTransfer* Library::transfer(const OrtEpFactory& factory) const {
  const auto at = std::ranges::find_if(factories_, [&](const Factory& own) { return own.raw == &factory; });
  return at == factories_.end() ? nullptr : at->transfer.get();
}

std::vector<const OrtEpFactory*> Library::factories() const {
  std::vector<const OrtEpFactory*> list;
  for (const Factory& factory : factories_) list.push_back(factory.raw);
  return list;
}

Libraries::~Libraries() = default;

std::vector<std::shared_ptr<Library>> Libraries::list() const {
  const std::lock_guard lock(mutex_);
  return libraries_;
}

bool Libraries::has(std::string_view name) const {
  return std::ranges::any_of(list(), [&](const auto& library) { return library->name() == name; });
}

void Libraries::add(std::string_view name, const PathChar* path, const OrtApiBase& api, const OrtLogger& logger) {
  if (has(name)) fail(ErrorCode::fail, "a provider library is registered as '{}' already", name);
  auto library = std::make_shared<Library>(std::string(name), path, api, logger, env_.hardware_devices(),
                                           time_limit_of(read_environment_settings(env_.config.pairs()).plugin_timeout_ms));
  auto devices = library->take_devices();
  for (const auto& device : devices) {
    for (const OrtMemoryInfo* info : {device->device_memory, device->host_accessible_memory}) {
      if (info) note_released(*info, false);
    }
  }
  env_.add_ep_devices(std::move(devices));
  const std::lock_guard lock(mutex_);
  libraries_.push_back(std::move(library));
}

void Libraries::remove(std::string_view name) {
  std::shared_ptr<Library> gone;
  {
    const std::lock_guard lock(mutex_);
    const auto at = std::ranges::find_if(libraries_, [&](const auto& library) { return library->name() == name; });
    if (at == libraries_.end()) fail(ErrorCode::fail, "no provider library is registered as '{}'", name);
    gone = std::move(*at);
    libraries_.erase(at);
  }
  for (const OrtEpFactory* factory : gone->factories()) env_.remove_ep_devices(*factory);
}

std::shared_ptr<Library> Libraries::library_of(const OrtEpDevice& device) const {
  for (const auto& library : list()) {
    if (device.factory && library->owns(*device.factory)) return library;
  }
  fail(ErrorCode::invalid_argument, "the device of '{}' is of no registered provider library", device.ep_name);
}

std::vector<const OrtEpDevice*> Libraries::devices_of(std::string_view ep_name) const {
  std::vector<const OrtEpDevice*> found;
  std::ranges::copy_if(env_.ep_devices(), std::back_inserter(found),
                       [&](const OrtEpDevice* d) { return d->factory && d->ep_name == ep_name; });
  return found;
}

std::vector<std::string> Libraries::provider_names() const {
  std::vector<std::string> names;
  for (const OrtEpDevice* device : env_.ep_devices()) {
    if (device->factory && std::ranges::find(names, device->ep_name) == names.end()) names.push_back(device->ep_name);
  }
  return names;
}

std::string Libraries::library_without_devices(std::string_view ep_name) const {
  if (!devices_of(ep_name).empty()) return {};
  for (const auto& library : list()) {
    if (library->makes(ep_name)) return library->file();
  }
  return {};
}

bool Libraries::note_released(const OrtMemoryInfo& info, bool released) {
  const std::lock_guard lock(mutex_);
  const bool was = std::erase_if(released_, [&](const OrtMemoryDevice& memory) { return is_memory(memory, info.device); }) > 0;
  if (released) released_.push_back(info.device);
  return was;
}

OrtAllocator* Libraries::shared_allocator(const OrtMemoryInfo& info) {
  for (const auto& library : list()) {
    if (const auto made = library->find_shared_allocator(info)) return made->handle();
  }
  {
    const std::lock_guard lock(mutex_);
    if (std::ranges::any_of(released_, [&](const OrtMemoryDevice& memory) { return is_memory(memory, info.device); })) return nullptr;
  }
  for (const OrtEpDevice* device : env_.ep_devices()) {
    for (const OrtDeviceMemoryType type : {OrtDeviceMemoryType_DEFAULT, OrtDeviceMemoryType_HOST_ACCESSIBLE}) {
      const OrtMemoryInfo* own = device->factory ? memory_of(*device, type) : nullptr;
      if (own && is_memory(own->device, info.device)) return library_of(*device)->create_shared_allocator(*device, type, nullptr);
    }
  }
  return nullptr;
}

OrtAllocator* Libraries::create_shared_allocator(const OrtEpDevice& device, OrtDeviceMemoryType type, const OrtKeyValuePairs* options,
                                                 const ArenaChoice& arena) {
  const auto library = library_of(device);
  if (const OrtMemoryInfo* info = memory_of(device, type)) {
    for (const auto& other : list()) {
      if (other != library) other->release_shared_allocator(*info);
    }
    note_released(*info, false);
  }
  return library->create_shared_allocator(device, type, options, arena);
}

void Libraries::release_shared_allocator(const OrtEpDevice& device, OrtDeviceMemoryType type) {
  const auto library = library_of(device);
  const OrtMemoryInfo* info = memory_of(device, type);
  if (!info) fail(ErrorCode::invalid_argument, "the device of '{}' has no memory of this kind", device.ep_name);
  bool released = false;
  for (const auto& any : list()) released = any->release_shared_allocator(*info) || released;
  // One that nobody has asked for yet is there as well.
  if (note_released(*info, true) && !released) {
    fail(ErrorCode::invalid_argument, "the shared allocator of memory '{}' was released before; CreateSharedAllocator makes another",
         info->name);
  }
}

DataTransfer* Libraries::find_transfer(Device from, Device to) const {
  for (const auto& library : list()) {
    for (const OrtEpFactory* factory : library->factories()) {
      PluginTransfer* transfer = library->transfer(*factory);
      if (transfer && transfer->can_copy(from, to)) return transfer;
    }
  }
  return nullptr;
}

const OrtMemoryInfo* memory_of(const OrtEpDevice& device, OrtDeviceMemoryType type) {
  return type == OrtDeviceMemoryType_HOST_ACCESSIBLE ? device.host_accessible_memory : device.device_memory;
}

}  // namespace rh::plugin
