#include "providers/gpu/provider.h"

#include <map>
#include <mutex>
#include <tuple>

#include "providers/gpu/executable.h"
#include "providers/gpu/lower/operators.h"

namespace rh::gpu {

namespace {

/// What was compiled for a device serves all sessions that keep it in the same place.
std::shared_ptr<Programs> programs_of(const std::shared_ptr<Driver>& driver, const Settings& settings) {
  using Key = std::tuple<const Driver*, std::string, std::string>;
  static std::mutex mutex;
  static auto& known = *new std::map<Key, std::weak_ptr<Programs>>;
  const std::lock_guard lock(mutex);
  std::erase_if(known, [](const auto& entry) { return entry.second.expired(); });
  std::weak_ptr<Programs>& entry = known[{driver.get(), settings.compiler, settings.cache.folder}];
  std::shared_ptr<Programs> programs = entry.lock();
  if (!programs) entry = programs = std::make_shared<Programs>(driver, settings.compiler, settings.cache);
  return programs;
}

}  // namespace

Provider::Provider(const kit::Setup& setup, const Vendor& vendor, const Settings& settings)
    : arena_(settings.arena), stream_(settings.stream) {
  if (!setup.driver) {
    System::of(vendor);  // says why there is none
    fail(ErrorCode::not_found, "{}: the driver has no devices: see whether it hides them from this process", vendor.provider);
  }
  auto shared = std::make_shared<Shared>();
  shared->driver = std::static_pointer_cast<Driver>(setup.driver);
  shared->programs = programs_of(shared->driver, settings);
  shared->captures = settings.captures;
  shared->recognises = settings.recognises;
  shared->most_bytes = settings.arena.max_bytes;
  shared_ = std::move(shared);
}

kit::Support Provider::supports(const NodeView& node) const { return supports_node(node); }

uint64_t Provider::host_inputs(const NodeView& node) const { return host_inputs_of(node); }

std::unique_ptr<kit::Executable> Provider::compile(const kit::Region& region) { return make_executable(shared_, region); }

std::vector<kit::DeviceSpec> list_devices(const Vendor& vendor) {
  std::vector<kit::DeviceSpec> specs;
  try {
    for (const DeviceFacts& facts : System::of(vendor).devices()) {
      kit::DeviceSpec spec{.memory_name = std::string(vendor.memory), .id = facts.number, .hardware_vendor_id = vendor.vendor_id};
      spec.metadata = {{"name", facts.name},
                       {"pci_bus_id", facts.pci},
                       {"memory_bytes", std::to_string(facts.bytes)},
                       {"compute_capability", fmt::format("{}.{}", facts.major, facts.minor)},
                       {"architecture", facts.architecture},
                       {"warp_size", std::to_string(facts.warp_size)},
                       {"multiprocessors", std::to_string(facts.multiprocessors)}};
      if (!facts.uuid.empty()) spec.metadata.emplace_back("uuid", facts.uuid);
      specs.push_back(std::move(spec));
    }
  } catch (const std::exception&) {  // a session that asks for the provider is told
    specs.clear();
  }
  return specs;
}

}  // namespace rh::gpu
