#include "settings/values.h"

#include <algorithm>
#include <cstdlib>

#include "base/name_list.h"
#include "base/thread_pool.h"

namespace rh::setting {

namespace {

// Cuts the part before the first of the separators off the text.
std::string_view cut(std::string_view& text, std::string_view separators) {
  const std::string_view part = text.substr(0, text.find_first_of(separators));
  text.remove_prefix(std::min(text.size(), part.size() + 1));
  return part;
}

std::optional<int64_t> number_in(std::string_view text) {
  int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size() ? std::optional(value) : std::nullopt;
}

std::vector<int64_t> dims_in(std::string_view text, Entry entry) {
  std::vector<int64_t> dims;
  for (bool more = true; more;) {
    const size_t comma = text.find(',');
    dims.push_back(number_in(text.substr(0, comma)).value_or(0));
    if (dims.back() <= 0) {
      fail(ErrorCode::fail, "config entry '{}' is '{}', expected inputs with shapes of numbers above 0: 'x:[1,3];y:[5]'", entry.key,
           entry.text);
    }
    more = comma != std::string_view::npos;
    if (more) text.remove_prefix(comma + 1);
  }
  return dims;
}

Device device_in(std::string_view text, Entry entry) {
  const size_t colon = text.find(':');
  const std::string_view type = text.substr(0, colon), number = colon == text.npos ? "0" : text.substr(colon + 1);
  Device device;
  if (type == "gpu") {
    device.type = Device::Type::gpu;
  } else if (type != "cpu") {
    fail(ErrorCode::invalid_argument, "config entry '{}': device '{}' is not known, expected cpu or gpu, as in \"cpu:0;gpu:0\"", entry.key,
         type);
  }
  const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), device.id);
  if (error != std::errc() || end != number.data() + number.size() || device.id < 0) {
    fail(ErrorCode::invalid_argument, "config entry '{}': '{}' is no number of a device, expected one as in \"cpu:0;gpu:0\"", entry.key,
         number);
  }
  return device;
}

bool is_override(std::string_view text) {
  const std::string_view node = cut(text, ":");
  bool is_right = !node.empty() && !text.empty();
  while (is_right && !text.empty()) {
    std::string_view value = cut(text, ",");
    const std::string_view name = cut(value, "=");
    is_right = (name == "max_resident_slots" || name == "device_expert_bytes") && number_in(value).value_or(-1) >= 0;
  }
  return is_right;
}

}  // namespace

ProcessorSets processor_sets(Entry entry) {
  if (entry.text.empty()) {
    fail(ErrorCode::fail, "Affinity string must not be empty: config entry '{}' is '', expected the processors of each thread: '1;2'",
         entry.key);
  }
  try {
    return parse_affinities(entry.text);
  } catch (const Error& error) {
    fail(error.code(), "config entry '{}': {}", entry.key, error.message());
  }
}

ShapesByName shapes_by_name(Entry entry) {
  ShapesByName shapes;
  for (std::string_view text = entry.text; !text.empty();) {
    const std::string_view input = cut(text, ";");
    if (input.empty()) continue;
    const size_t colon = input.rfind(":[");
    if (colon == 0 || colon == std::string_view::npos || input.back() != ']') {
      fail(ErrorCode::fail, "config entry '{}' is '{}', expected inputs with shapes in brackets: 'x:[1,3];y:[5]'", entry.key, entry.text);
    }
    shapes[std::string(input.substr(0, colon))] = dims_in(input.substr(colon + 2, input.size() - colon - 3), entry);
  }
  return shapes;
}

std::vector<Device> devices_in(Entry entry) {
  std::vector<Device> devices;
  for (std::string_view text = entry.text; !text.empty();) devices.push_back(device_in(cut(text, ";"), entry));
  return devices;
}

std::vector<std::string> name_list(Entry entry) {
  const std::vector<std::string_view> names = names_in(entry.text);
  return {names.begin(), names.end()};
}

size_t leading_number(Entry entry) { return std::strtoull(std::string(entry.text).c_str(), nullptr, 10); }

std::string layer_assignment(Entry entry) {
  for (std::string_view text = entry.text; !text.empty();) {
    const std::string_view layer = cut(text, ";");
    const size_t open = layer.find('(');
    if (layer.empty() || (open != 0 && open != std::string_view::npos && layer.back() == ')')) continue;
    fail(ErrorCode::invalid_argument, "config entry '{}' has '{}', expected a device and names in parentheses: 'gpu(encoder,=head)'",
         entry.key, layer);
  }
  return std::string(entry.text);
}

NoField node_overrides(Entry entry) {
  for (std::string_view text = entry.text == "{}" ? std::string_view() : entry.text; !text.empty();) {
    const std::string_view node = cut(text, ";");
    if (is_override(node)) continue;
    fail(ErrorCode::invalid_argument,
         "config entry '{}' has '{}', expected a node with numbers: 'moe:max_resident_slots=2,device_expert_bytes=4096'", entry.key, node);
  }
  return {};
}

}  // namespace rh::setting
