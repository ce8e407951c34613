#include <algorithm>
#include <charconv>
#include <set>
#include <string_view>

#include "providers/kit/host/ep_table.h"

namespace rh::kit {

namespace {

constexpr char kDeviceId[] = "device_id";  // of a listed device's metadata

/// Makes providers for the runtime that loaded the library, which need not be the only one of the process.
struct FactoryTable : OrtEpFactory {
  FactoryTable(const Host& of, const ProviderKind& what) : OrtEpFactory{}, host(of), kind(what) {
    if (kind.devices) {
      for (const DeviceSpec& spec : kind.devices()) {
        devices.push_back(std::make_shared<ListedDevice>(host, spec, kind.vendor_id, kind.open));
      }
    }
    fill_provider_functions();
    fill_device_functions();
  }

  static FactoryTable& own(OrtEpFactory* self) { return *static_cast<FactoryTable*>(self); }
  static const FactoryTable& own(const OrtEpFactory* self) { return *static_cast<const FactoryTable*>(self); }

  void fill_provider_functions() {
    ort_version_supported = host.version;
    GetName = [](const OrtEpFactory* self) { return own(self).kind.name; };
    GetVendor = [](const OrtEpFactory* self) { return own(self).kind.vendor; };
    GetVendorId = [](const OrtEpFactory* self) { return own(self).kind.vendor_id; };
    GetVersion = [](const OrtEpFactory* self) { return own(self).kind.version; };
    GetSupportedDevices = [](OrtEpFactory* self, const OrtHardwareDevice* const* hardware, size_t count, OrtEpDevice** out, size_t room,
                             size_t* used) {
      return guard(*own(self).host.api, [&] { *used = own(self).list({hardware, count}, {out, room}); });
    };
    CreateEp = [](OrtEpFactory* self, const OrtHardwareDevice* const*, const OrtKeyValuePairs* const* metadata, size_t count,
                  const OrtSessionOptions* options, const OrtLogger* logger, OrtEp** ep) {
      const FactoryTable& factory = own(self);
      return guard(*factory.host.api, [&] {
        *ep = new EpTable(factory.host, factory.kind, *options, logger, factory.chosen({metadata, metadata ? count : 0}, options));
      });
    };
    ReleaseEp = [](OrtEpFactory*, OrtEp* ep) { delete static_cast<EpTable*>(ep); };
    // Of the options that a session has nothing is known when a host asks what fits.
    ValidateCompiledModelCompatibilityInfo = [](OrtEpFactory* self, const OrtHardwareDevice* const*, size_t, const char* made_by,
                                                OrtCompiledModelCompatibility* answer) {
      const FactoryTable& factory = own(self);
      return guard(*factory.host.api, [&] {
        const Options defaults(factory.kind.name, factory.kind.options, {});
        *answer = OrtCompiledModelCompatibility_EP_NOT_APPLICABLE;
        std::unique_ptr<RegionProvider> provider;
        try {
          provider = make_provider(factory.host, factory.kind, defaults, 0, factory.chosen({}, nullptr).get());
        } catch (const Error& error) {
          if (error.code() == ErrorCode::not_found) return;  // the vendor's library, which a session's options may name
          throw;
        }
        *answer = compatibility_of(*provider, made_by);
      });
    };
  }

  void fill_device_functions() {
    CreateAllocator = [](OrtEpFactory* self, const OrtMemoryInfo* wanted, const OrtKeyValuePairs* options, OrtAllocator** out) {
      const FactoryTable& factory = own(self);
      return guard(*factory.host.api, [&] {
        *out = nullptr;
        const std::shared_ptr<ListedDevice> device = factory.find(wanted);
        if (!device) return;
        const bool is_pinned = factory.host.api->MemoryInfoGetDeviceMemType(wanted) == OrtDeviceMemoryType_HOST_ACCESSIBLE;
        *out = make_allocator(factory.host, device, is_pinned, arena_settings(factory.host, options));
      });
    };
    ReleaseAllocator = [](OrtEpFactory*, OrtAllocator* allocator) { delete_allocator(allocator); };
    CreateDataTransfer = [](OrtEpFactory* self, OrtDataTransferImpl** out) {
      const FactoryTable& factory = own(self);
      return guard(*factory.host.api, [&] { *out = factory.devices.empty() ? nullptr : make_transfer(factory.host, factory.devices); });
    };
    IsStreamAware = [](const OrtEpFactory* self) { return !own(self).devices.empty(); };
    CreateSyncStreamForDevice = [](OrtEpFactory* self, const OrtMemoryDevice* wanted, const OrtKeyValuePairs*, OrtSyncStreamImpl** out) {
      const FactoryTable& factory = own(self);
      return guard(*factory.host.api, [&] {
        const auto at = std::ranges::find_if(factory.devices, [&](const auto& device) { return device->owns(*wanted); });
        *out = at == factory.devices.end() ? nullptr : make_stream_table(factory.host, *at, (*at)->driver()->make_stream());
      });
    };
  }

  /// The device whose memory, or pinned memory, a host speaks of.
  std::shared_ptr<ListedDevice> find(const OrtMemoryInfo* wanted) const {
    int id = 0;
    check(host, host.api->MemoryInfoGetId(wanted, &id));
    const auto at = std::ranges::find_if(devices, [&](const auto& device) { return device->spec().id == id; });
    return at == devices.end() ? nullptr : *at;
  }

  /// The device that a session names by the option of its provider, if that has one, else the first of those that it was given; null: it
  /// works on host memory.
  std::shared_ptr<ListedDevice> chosen(std::span<const OrtKeyValuePairs* const> metadata, const OrtSessionOptions* session) const {
    if (devices.empty()) return nullptr;
    const auto find_number = [&](std::string_view number) {
      const auto at = std::ranges::find_if(devices, [&](const auto& device) { return std::to_string(device->spec().id) == number; });
      return at == devices.end() ? nullptr : *at;
    };
    const auto has_option = std::ranges::find(kind.options, kDeviceId, &OptionRow::name) != kind.options.end();
    const auto given = session && has_option ? options_of(host, *session, kind.name) : std::map<std::string, std::string>();
    if (const auto named = given.find(kDeviceId); named != given.end()) {
      if (auto device = find_number(named->second)) return device;
      fail(ErrorCode::invalid_argument, "{}: device_id is '{}', the driver has {} devices: give a number below that", kind.name,
           named->second, devices.size());
    }
    const char* text = metadata.empty() || !metadata[0] ? nullptr : host.api->GetKeyValue(metadata[0], kDeviceId);
    auto device = text ? find_number(text) : nullptr;
    return device ? device : devices[0];
  }

  size_t list(std::span<const OrtHardwareDevice* const> hardware, std::span<OrtEpDevice*> out) {
    size_t used = 0;
    if (!kind.devices) {
      const auto is_cpu = [&](const OrtHardwareDevice* one) { return host.api->HardwareDevice_Type(one) == OrtHardwareDeviceType_CPU; };
      const auto cpu = std::ranges::find_if(hardware, is_cpu);
      if (cpu == hardware.end() || out.empty()) return 0;
      check(host, host.ep->CreateEpDevice(this, *cpu, nullptr, nullptr, &out[used++]));
    }
    std::set<const OrtHardwareDevice*> taken;
    for (const auto& device : devices) {
      if (used == out.size()) break;
      const OrtHardwareDevice* on = hardware_of(device->spec(), hardware, taken);
      OrtKeyValuePairs* metadata = nullptr;
      host.api->CreateKeyValuePairs(&metadata);
      const std::unique_ptr<OrtKeyValuePairs, void(ORT_API_CALL*)(OrtKeyValuePairs*)> owner(metadata, host.api->ReleaseKeyValuePairs);
      host.api->AddKeyValuePair(metadata, kDeviceId, std::to_string(device->spec().id).c_str());
      for (const auto& [key, value] : device->spec().metadata) host.api->AddKeyValuePair(metadata, key.c_str(), value.c_str());
      check(host, host.ep->CreateEpDevice(this, on, metadata, nullptr, &out[used]));
      check(host, host.ep->EpDevice_AddAllocatorInfo(out[used], &device->memory()));
      check(host, host.ep->EpDevice_AddAllocatorInfo(out[used], &device->pinned()));
      ++used;
    }
    return used;
  }

  /// The host's, of the device's kind and numbers and none of the factory's yet; a processor may be that of several. Where the host found
  /// none, one of the factory's stands for it.
  const OrtHardwareDevice* hardware_of(const DeviceSpec& spec, std::span<const OrtHardwareDevice* const> hardware,
                                       std::set<const OrtHardwareDevice*>& taken) {
    const OrtApi& api = *host.api;
    const bool is_cpu = spec.hardware == OrtHardwareDeviceType_CPU;
    const uint32_t vendor = spec.hardware_vendor_id != 0 ? spec.hardware_vendor_id : kind.vendor_id;
    for (const OrtHardwareDevice* one : hardware) {
      if (api.HardwareDevice_Type(one) != spec.hardware) continue;
      if (is_cpu) return one;
      const bool is_it =
          api.HardwareDevice_VendorId(one) == vendor && (spec.hardware_id == 0 || api.HardwareDevice_DeviceId(one) == spec.hardware_id);
      if (is_it && taken.insert(one).second) return one;
    }
    OrtHardwareDevice* made = nullptr;
    check(host, host.ep->CreateHardwareDevice(spec.hardware, vendor, spec.hardware_id, kind.vendor, nullptr, &made));
    own_hardware.emplace_back(made, host.ep->ReleaseHardwareDevice);
    return made;
  }

  Host host;
  const ProviderKind& kind;
  std::vector<std::shared_ptr<ListedDevice>> devices;
  std::vector<std::unique_ptr<OrtHardwareDevice, void(ORT_API_CALL*)(OrtHardwareDevice*)>> own_hardware;
};

}  // namespace

OrtStatus* create_factories(const ProviderKind& kind, const OrtApiBase* base, OrtEpFactory** factories, size_t room, size_t* count) {
  *count = 0;
  const OrtApi* oldest = base->GetApi(1);  // what every host has, for its status
  return guard(*oldest, [&] {
    if (room < 1) fail(ErrorCode::invalid_argument, "there is no room for a factory of {}", kind.name);
    factories[0] = new FactoryTable(connect(*base), kind);
    *count = 1;
  });
}

OrtStatus* release_factory(OrtEpFactory* factory) {
  auto* table = static_cast<FactoryTable*>(factory);
  const Host host = table->host;
  std::vector<std::shared_ptr<DeviceDriver>> drivers;
  for (const auto& device : table->devices) drivers.push_back(device->opened());
  delete table;
  return guard(*host.api, [&] {
    for (const auto& driver : drivers) {
      const std::string left = driver ? driver->leaks() : std::string();
      if (!left.empty()) fail(ErrorCode::fail, "{}", left);
    }
  });
}

OrtStatus* get_passes(const OrtEp* ep, const char* const** names, size_t* count) {
  const std::span<const char* const> passes = static_cast<const EpTable*>(ep)->provider->host_passes();
  *names = passes.data();
  *count = passes.size();
  return nullptr;
}

RhInitializerAddresses initializer_addresses(const OrtEp* ep) {
  return static_cast<const EpTable*>(ep)->provider->reads_any_address() ? RhInitializerAddresses_ANY : RhInitializerAddresses_ANY_TO_CLAIM;
}

void watch_runs(OrtEp* ep, RhAskRunStateFn ask) { static_cast<EpTable*>(ep)->watch->store(ask); }

OrtStatus* get_host_inputs(const OrtEp* ep, size_t unit, const char* const** names, size_t* count) {
  const auto& units = static_cast<const EpTable*>(ep)->host_values;
  *names = unit < units.size() ? units[unit].data() : nullptr;
  *count = unit < units.size() ? units[unit].size() : 0;
  return nullptr;
}

OrtStatus* get_refusals(const OrtEp* ep, const RhEpRefusal** refusals, size_t* count) {
  const std::vector<RhEpRefusal>& entries = static_cast<const EpTable*>(ep)->refusals.entries();
  *refusals = entries.data();
  *count = entries.size();
  return nullptr;
}

}  // namespace rh::kit
