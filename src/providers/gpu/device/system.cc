#include "providers/gpu/device/system.h"

#include <map>

#include "base/error.h"
#include "base/out_of_memory.h"

namespace rh::gpu {

namespace {

constexpr size_t kPropertiesBytes = 4096;  // more than any vendor's struct has

std::string uuid_text(const unsigned char (&bytes)[16], bool is_text) {
  if (is_text) return fmt::format("GPU-{}", std::string_view(reinterpret_cast<const char*>(bytes), sizeof bytes));
  std::string text = "GPU-";
  for (size_t i = 0; i < 16; ++i) text += fmt::format("{}{:02x}", i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "", bytes[i]);
  return text;
}

}  // namespace

// A driver that once did not open is tried again: the next session may name another.
const System& System::of(const Vendor& vendor) {
  static std::mutex mutex;
  static std::map<const Vendor*, std::unique_ptr<const System>>& systems = *new std::map<const Vendor*, std::unique_ptr<const System>>;
  const std::lock_guard lock(mutex);
  std::unique_ptr<const System>& system = systems[&vendor];
  if (!system) system.reset(new System(vendor));
  return *system;
}

System::System(const Vendor& vendor) : vendor_(vendor), library_(vendor.open_driver(api_)) {
  check(api_.init(0), "init");
  check(api_.version(&version_), "version");
  int count = 0;
  check(api_.device_count(&count), "device_count");
  for (int number = 0; number < count; ++number) devices_.push_back(facts_of(number));
}

DeviceFacts System::facts_of(int number) const {
  DeviceFacts facts;
  facts.number = number;
  int device = 0;
  check(api_.device(&device, number), "device");
  char name[256] = {};
  check(api_.device_name(name, sizeof name - 1, device), "device_name");
  facts.name = name;
  check(api_.device_memory(&facts.bytes, device), "device_memory");
  const auto attribute = [&](int which) {
    int value = 0;
    check(api_.device_attribute(&value, which, device), "device_attribute");
    return value;
  };
  const DriverNumbers& numbers = vendor_.numbers;
  facts.major = attribute(numbers.major);
  facts.minor = attribute(numbers.minor);
  facts.multiprocessors = attribute(numbers.multiprocessors);
  facts.pci =
      fmt::format("{:04x}:{:02x}:{:02x}.0", attribute(numbers.pci_domain), attribute(numbers.pci_bus), attribute(numbers.pci_device));
  unsigned char uuid[16] = {};
  if (api_.device_uuid && api_.device_uuid(reinterpret_cast<char*>(uuid), device) == 0) facts.uuid = uuid_text(uuid, vendor_.uuid_is_text);
  facts.warp_size = attribute(numbers.warp_size);
  std::vector<char> properties;
  if (api_.properties) {
    properties.resize(kPropertiesBytes);
    check(api_.properties(properties.data(), number), "properties");
  }
  vendor_.describe(facts, properties);
  return facts;
}

void System::check(Result result, std::string_view what) const {
  if (result == 0) return;
  if (result == vendor_.numbers.out_of_memory) throw OutOfMemory(0);
  const char* text = nullptr;
  if (api_.error_text) api_.error_text(result, &text);
  const std::string_view hint = vendor_.hint(result);
  fail(ErrorCode::ep_fail, "{}: the driver's {} failed: {} (error {}){}{}", vendor_.provider, what, text ? text : "it gives no reason",
       result, hint.empty() ? "" : ": ", hint);
}

}  // namespace rh::gpu
