#include "session/shrinkage.h"

#include <charconv>

#include "base/error.h"

namespace rh {

namespace {

Device parse_device(std::string_view entry) {
  const size_t colon = entry.find(':');
  const std::string_view type = entry.substr(0, colon), number = colon == entry.npos ? "0" : entry.substr(colon + 1);
  Device device;
  if (type == "gpu") {
    device.type = Device::Type::gpu;
  } else if (type != "cpu") {
    fail(ErrorCode::invalid_argument, "run option '{}': device '{}' is not known, expected cpu or gpu, as in \"cpu:0;gpu:0\"",
         kShrinkageKey, type);
  }
  const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), device.id);
  if (error != std::errc() || end != number.data() + number.size() || device.id < 0) {
    fail(ErrorCode::invalid_argument, "run option '{}': '{}' is no number of a device, expected one as in \"cpu:0;gpu:0\"", kShrinkageKey,
         number);
  }
  return device;
}

}  // namespace

std::vector<Device> parse_shrinkage(std::string_view list) {
  std::vector<Device> devices;
  for (size_t begin = 0; begin < list.size();) {
    const size_t end = std::min(list.find(';', begin), list.size());
    devices.push_back(parse_device(list.substr(begin, end - begin)));
    begin = end + 1;
  }
  return devices;
}

}  // namespace rh
