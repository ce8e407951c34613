#include "providers/openvino/settings.h"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <nlohmann/json.hpp>

#include "base/byte_products.h"
#include "base/file.h"
#include "providers/kit/cache/artifact_cache.h"

namespace rh::openvino {

namespace {

constexpr std::string_view kName = "OpenVINOExecutionProvider";

template <typename... Args>
[[noreturn]] void refuse(fmt::format_string<Args...> text, Args&&... args) {
  fail(ErrorCode::invalid_argument, "{}: {}", kName, fmt::format(text, std::forward<Args>(args)...));
}

struct DeviceChoice {
  std::string device;     ///< "GPU.1", "AUTO:GPU,CPU"
  std::string precision;  ///< of an old name: "FP32", "FP16"; empty: none
};

bool is_device(std::string_view name) {
  const std::string_view kind = name.substr(0, name.find('.'));
  if (kind != "CPU" && kind != "GPU" && kind != "NPU") return false;
  const std::string_view number = kind.size() == name.size() ? "0" : name.substr(kind.size() + 1);
  return !number.empty() && number.find_first_not_of("0123456789") == number.npos;
}

void check_device(std::string_view text, std::string_view name) {
  if (is_device(name)) return;
  if (name.starts_with("MYRIAD") || name.starts_with("VPU") || name.starts_with("VAD") || name.starts_with("HDDL") ||
      name.starts_with("GNA")) {
    refuse("device_type '{}' names {}, which OpenVINO has no more: expected CPU, GPU or NPU", text, name);
  }
  refuse("device_type is '{}', expected CPU, GPU, NPU, one with a number as in GPU.1, or AUTO:, HETERO: or MULTI: with a list of these",
         text);
}

/// "GPU.1_FP16", "AUTO:GPU,CPU".
DeviceChoice parse_device(std::string_view text) {
  DeviceChoice choice;
  for (const std::string_view precision : {"FP32", "FP16"}) {
    const std::string ending = "_" + std::string(precision);
    if (!text.ends_with(ending)) continue;
    choice.precision = precision;
    choice.device = text.substr(0, text.size() - ending.size());
    check_device(text, choice.device);
    return choice;
  }
  choice.device = text;
  for (const std::string_view whole : {"AUTO", "HETERO", "MULTI", "BATCH"}) {
    if (text == "AUTO") return choice;
    if (!text.starts_with(std::string(whole) + ":")) continue;
    for (std::string_view rest = text.substr(whole.size() + 1);;) {
      const size_t end = std::min(rest.find(','), rest.size());
      check_device(text, rest.substr(0, end).substr(0, rest.substr(0, end).find('(')));
      if (end == rest.size()) return choice;
      rest.remove_prefix(end + 1);
    }
  }
  check_device(text, text);
  return choice;
}

DeviceChoice device_of(const kit::Options& options) {
  const std::string_view type = options.text("device_type"), id = options.text("device_id");
  if (!type.empty() && !id.empty() && type != id && id != "0") {
    refuse("device_type is '{}' and device_id is '{}': give device_type alone", type, id);
  }
  if (!type.empty()) return parse_device(type);
  return parse_device(id.empty() || id == "0" ? "CPU" : id);
}

bool names(std::string_view device, std::string_view kind) { return device.find(kind) != device.npos; }

void refuse_what_has_no_effect(const kit::Options& options) {
  if (!options.text("device_luid").empty()) refuse("device_luid is not read: name the device by device_type, as in GPU.1");
  if (const std::string_view context = options.text("context"); !context.empty() && context != "0") {
    refuse("context is not used: tensors of this provider lie in host memory, so no OpenCL context is shared: leave it out");
  }
  if (options.flag("enable_qdq_optimizer")) {
    refuse("enable_qdq_optimizer has no effect: QuantizeLinear and DequantizeLinear go to OpenVINO as the model has them: leave it out");
  }
  if (options.flag("enable_causallm")) {
    refuse("enable_causallm would make the model keep its caches in itself; its inputs and outputs stay as they are here: leave it out");
  }
  if (!options.text("layout").empty()) {
    refuse("layout has no effect: the model's own layouts go to OpenVINO, and nothing is converted at its edges: leave it out");
  }
}

std::string hint_of(std::string_view precision) { return precision == "FP16" ? "f16" : "f32"; }

/// float32 stays float32 unless another precision is asked for.
void add_precision(CompileSettings& settings, const kit::Options& options, const DeviceChoice& choice) {
  const std::string_view given = options.text("precision");
  if (!given.empty() && !choice.precision.empty() && given != choice.precision) {
    refuse("precision is '{}' and device_type says {}: give one of them", given, choice.precision);
  }
  const std::string_view precision = given.empty() ? std::string_view(choice.precision) : given;
  if (precision == "ACCURACY") {
    settings.properties.emplace_back("EXECUTION_MODE_HINT", "ACCURACY");
  } else if (!precision.empty() || choice.device != "NPU") {  // an NPU has float16 alone, and does not take the hint
    settings.properties.emplace_back("INFERENCE_PRECISION_HINT", hint_of(precision));
    // Else its CPU quantizes what is multiplied with weights of 4 and 8 bits.
    if (choice.device == "CPU" && hint_of(precision) == "f32") settings.properties.emplace_back("DYNAMIC_QUANTIZATION_GROUP_SIZE", "0");
  }
}

void add_threads(CompileSettings& settings, const kit::Options& options, int session_threads) {
  int64_t threads = options.integer("num_of_threads");
  if (threads == 0) threads = session_threads;
  if (threads > 0 && settings.device == "CPU") settings.properties.emplace_back("INFERENCE_NUM_THREADS", std::to_string(threads));
  if (settings.is_one_device && settings.device != "NPU")
    settings.properties.emplace_back("NUM_STREAMS", std::to_string(options.integer("num_streams")));
}

/// "x[1,3,60..100],y[1..8]".
std::vector<InputBounds> parse_bounds(std::string_view text) {
  std::vector<InputBounds> bounds;
  const auto wrong = [&] { refuse("reshape_input is '{}', expected names with sizes as in 'x[1,3,60..100],y[1..8]'", text); };
  const auto number = [&](std::string_view digits) {
    int64_t value = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    if (error != std::errc() || end != digits.data() + digits.size() || value < 0) wrong();
    return value;
  };
  for (std::string_view rest = text; !rest.empty();) {
    const size_t open = rest.find('['), close = rest.find(']');
    if (open == rest.npos || close == rest.npos || open == 0 || close < open + 2) wrong();
    InputBounds one{std::string(rest.substr(0, open)), {}};
    for (std::string_view dims = rest.substr(open + 1, close - open - 1); !dims.empty();) {
      const size_t end = std::min(dims.find(','), dims.size());
      std::string_view dim = dims.substr(0, end);
      while (dim.starts_with(' ')) dim.remove_prefix(1);
      const size_t range = dim.find("..");
      const int64_t least = number(dim.substr(0, std::min(range, dim.size())));
      const int64_t most = range == dim.npos ? least : number(dim.substr(range + 2));
      if (most < least) wrong();
      one.dims.push_back({least, most});
      dims.remove_prefix(std::min(end + 1, dims.size()));
    }
    bounds.push_back(std::move(one));
    rest.remove_prefix(close + 1);
    while (rest.starts_with(',') || rest.starts_with(' ')) rest.remove_prefix(1);
  }
  return bounds;
}

std::string text_of(const nlohmann::json& value) { return value.is_string() ? value.get<std::string>() : value.dump(); }

/// JSON as the option has it, or that of the file that it names.
std::string content_of(const std::string& text) { return text.find('{') == text.npos ? read_file(text) : text; }

/// A table of properties for each device: set on the device, so that AUTO, HETERO and MULTI hand them on.
void load_config(const std::string& content, const Runtime& runtime) {
  const auto config = nlohmann::json::parse(content, nullptr, false);
  if (!config.is_object()) refuse("load_config is no JSON object of properties by device, as in {{\"CPU\": {{\"PERF_COUNT\": \"YES\"}}}}");
  for (const auto& [device, properties] : config.items()) {
    if (!properties.is_object()) refuse("load_config: '{}' is no object of properties", device);
    for (const auto& [name, value] : properties.items()) runtime.set_property(device, name, text_of(value));
  }
}

/// On processors without instructions for it OpenVINO's CPU adds products of bytes in 16 bits, where they end at the largest number; then
/// it computes quantized nodes in float32, as the model has them. Whoever wants them in bytes says so by load_config.
void keep_sums_of_bytes(CompileSettings& settings, const Runtime& runtime) {
  if (!names(settings.device, "CPU") || has_byte_products()) return;
  if (runtime.try_property("CPU", kBytesMode, "NO")) settings.config = fmt::format("{}=NO\n", kBytesMode);
}

}  // namespace

CompileSettings settings_of(const kit::Options& options, int session_threads, const Runtime& runtime) {
  CompileSettings settings;
  const DeviceChoice choice = device_of(options);
  settings.device = choice.device;
  settings.is_one_device = is_device(choice.device);
  refuse_what_has_no_effect(options);
  keep_sums_of_bytes(settings, runtime);
  add_precision(settings, options, choice);
  add_threads(settings, options, session_threads);
  if (const std::string_view priority = options.text("model_priority"); priority != "DEFAULT") {
    settings.properties.emplace_back("MODEL_PRIORITY", priority);
  }
  if (options.flag("enable_opencl_throttling")) {
    if (!names(choice.device, "GPU")) refuse("enable_opencl_throttling is for a GPU, the device is {}: leave it out", choice.device);
    runtime.set_property("GPU", "GPU_QUEUE_THROTTLE", "LOW");
  }
  const std::string_view folder = options.text("cache_dir");
  if (!folder.empty() && !settings.is_one_device && options.text("cache") != "0") settings.properties.emplace_back("CACHE_DIR", folder);
  if (const std::string_view config = options.text("load_config"); !config.empty()) {
    const std::string content = content_of(std::string(config));
    load_config(content, runtime);
    settings.config += content;
  }
  settings.bounds = parse_bounds(options.text("reshape_input"));
  settings.static_shapes = options.flag("disable_dynamic_shapes") || names(choice.device, "NPU");
  return settings;
}

kit::CacheSettings cache_of(const kit::Options& options, const CompileSettings& settings) {
  const std::string_view wanted = options.text("cache"), given = options.text("cache_dir");
  if (!settings.is_one_device || wanted == "0") return {};
  std::string folder(given);
  if (folder.empty() && (wanted == "1" || std::getenv("ROUNDHOUSE_CACHE_DIR"))) folder = kit::default_cache_folder();
  return {.folder = folder, .limit_bytes = static_cast<uint64_t>(options.integer(kit::kCacheLimitOption.name)) << 20};
}

std::string key_of(const CompileSettings& settings) {
  std::string key;
  for (const auto& [name, value] : settings.properties) key += fmt::format("{}={}\n", name, value);
  return key + settings.config;
}

}  // namespace rh::openvino
