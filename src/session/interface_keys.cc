#include "session/interface_keys.h"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <limits>
#include <optional>

#include <fmt/ranges.h>

#include "session/session.h"

namespace rh {

namespace {

constexpr int64_t kAny = std::numeric_limits<int64_t>::max();
constexpr const char* kMaxShapeKey = "session.max_shape_override";
constexpr const char* kByAnnotation = "session.layer_assignment_settings";
constexpr const char* kByName = "session.name_based_layer_assignment";

std::optional<int64_t> number_in(std::string_view text) {
  int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size() ? std::optional(value) : std::nullopt;
}

void expect_one_of(const SessionOptions& options, const char* key, ErrorCode code, std::initializer_list<std::string_view> values) {
  const std::string_view given = options.config_entry(key);
  if (given.empty() || std::ranges::find(values, given) != values.end()) return;
  fail(code, "config entry '{}' is '{}', expected one of: {}", key, given, fmt::join(values, ", "));
}

void expect_number(const SessionOptions& options, const char* key, int64_t least, int64_t most, int64_t step) {
  const std::string_view given = options.config_entry(key);
  if (given.empty()) return;
  const int64_t value = number_in(given).value_or(-1);
  if (value >= least && value <= most && value % step == 0) return;
  std::string expected = fmt::format("a number from {} on", least);
  if (most != kAny) expected = fmt::format("a number from {} to {}", least, most);
  if (step != 1) expected += fmt::format(", a multiple of {}", step);
  fail(ErrorCode::invalid_argument, "config entry '{}' is '{}', expected {}", key, given, expected);
}

void check_values(const SessionOptions& options) {
#define RH_ONE_OF(key, code, ...) expect_one_of(options, key, ErrorCode::code, {__VA_ARGS__});
#define RH_NUMBER(key, least, most, step) expect_number(options, key, least, most, step);
#include "session/key_values.inc"
#undef RH_ONE_OF
#undef RH_NUMBER
}

// Which experts of a mixture were taken is counted by devices; what is asked of the counts must go together.
void check_expert_counts(const SessionOptions& options) {
  constexpr const char* kState = "session.moe_expert_counter_state_file";
  const bool counts = options.config_entry("session.enable_moe_expert_counting") == "1" ||
                      options.config_entry("session.enable_moe_expert_statistics") == "1";
  for (const char* key : {kState, "session.moe_expert_counter_alpha", "session.moe_expert_counter_beta"}) {
    if (options.config_entry(key).empty() || counts) continue;
    fail(ErrorCode::fail, "config entry '{}' is given, expected 'session.enable_moe_expert_counting' or '_statistics' beside it", key);
  }
  const std::string file(options.config_entry(kState));
  if (!file.empty() && !std::filesystem::exists(file))
    fail(ErrorCode::fail, "config entry '{}' names the file '{}', which is not there", kState, file);
}

// "device(prefix,=exact);device(prefix)": which nodes go to which device. What they name is for devices; all others stay on the CPU.
void check_layers(const SessionOptions& options, const char* key) {
  std::string_view text = options.config_entry(key);
  while (!text.empty()) {
    const std::string_view entry = text.substr(0, text.find(';'));
    text.remove_prefix(std::min(text.size(), entry.size() + 1));
    const size_t open = entry.find('(');
    if (entry.empty() || (open != 0 && open != std::string_view::npos && entry.back() == ')')) continue;
    fail(ErrorCode::invalid_argument, "config entry '{}' has '{}', expected a device and names in parentheses: 'gpu(encoder,=head)'", key,
         entry);
  }
}

// The numbers of the budget, and a file of memory per node; both are for devices with a budget.
void check_partitioning(const SessionOptions& options) {
  constexpr const char* kKey = "session.resource_cuda_partitioning_settings";
  const std::string_view text = options.config_entry(kKey);
  const size_t comma = text.find(',');
  const std::string file(comma == std::string_view::npos ? std::string_view() : text.substr(comma + 1));
  if (!file.empty() && !std::filesystem::exists(file)) {
    fail(ErrorCode::fail,
         "config entry '{}' names the file '{}', which does not exist: 'session.collect_node_memory_stats_to_file' writes it", kKey, file);
  }
}

// Cuts the part before the separator off the text.
std::string_view cut(std::string_view& text, char separator) {
  const std::string_view part = text.substr(0, text.find(separator));
  text.remove_prefix(std::min(text.size(), part.size() + 1));
  return part;
}

// "node:max_resident_slots=2,device_expert_bytes=4096;node:...": for devices that keep experts outside their memory.
void check_node_overrides(const SessionOptions& options) {
  constexpr const char* kKey = "session.moe.offload.node_overrides";
  std::string_view text = options.config_entry(kKey);
  if (text == "{}") return;
  while (!text.empty()) {
    std::string_view entry = cut(text, ';');
    const std::string_view whole = entry, node = cut(entry, ':');
    bool is_right = !node.empty() && !entry.empty();
    while (is_right && !entry.empty()) {
      std::string_view value = cut(entry, ',');
      const std::string_view name = cut(value, '=');
      is_right = (name == "max_resident_slots" || name == "device_expert_bytes") && number_in(value).value_or(-1) >= 0;
    }
    if (is_right) continue;
    fail(ErrorCode::invalid_argument,
         "config entry '{}' has '{}', expected a node with numbers: 'moe:max_resident_slots=2,device_expert_bytes=4096'", kKey, whole);
  }
}

std::vector<int64_t> dims_of(std::string_view text, std::string_view all) {
  std::vector<int64_t> dims;
  for (bool more = true; more;) {
    int64_t dim = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), dim);
    const size_t read = static_cast<size_t>(end - text.data());
    if (error != std::errc() || dim <= 0 || (read < text.size() && text[read] != ',')) {
      fail(ErrorCode::fail, "config entry '{}' is '{}', expected inputs with shapes of numbers above 0: 'x:[1,3];y:[5]'", kMaxShapeKey,
           all);
    }
    dims.push_back(dim);
    more = read < text.size();
    text.remove_prefix(read + more);
  }
  return dims;
}

// What is saved for other builds of ONNX Runtime is in its own format, which is only read here.
void check_minimal_build(const SessionOptions& options) {
  constexpr const char* kKey = "optimization.minimal_build_optimizations";
  if (options.config_entry(kKey) != "save") return;
  fail(ErrorCode::invalid_argument, "config entry '{}' is 'save', which is for models in the ORT format: those are only read, leave it out",
       kKey);
}

}  // namespace

void check_interface_keys(const SessionOptions& options) {
  check_values(options);
  check_node_overrides(options);
  check_expert_counts(options);
  check_layers(options, kByAnnotation);
  check_layers(options, kByName);
  if (!options.config_entry(kByAnnotation).empty() && !options.config_entry(kByName).empty()) {
    fail(ErrorCode::invalid_argument, "config entries '{}' and '{}' are both given: leave out one", kByAnnotation, kByName);
  }
  check_partitioning(options);
  check_minimal_build(options);
  max_shapes(options);
  if (options.config_entry("session.compile_only") == "1") {
    fail(ErrorCode::fail,
         "config entry 'session.compile_only' is 1, which compiling a model sets itself: use ModelCompiler, or leave it out");
  }
}

std::map<std::string, std::vector<int64_t>> max_shapes(const SessionOptions& options) {
  const std::string_view all = options.config_entry(kMaxShapeKey);
  std::map<std::string, std::vector<int64_t>> shapes;
  for (std::string_view text = all; !text.empty();) {
    const std::string_view entry = text.substr(0, text.find(';'));
    text.remove_prefix(std::min(text.size(), entry.size() + 1));
    if (entry.empty()) continue;
    const size_t colon = entry.rfind(":[");
    if (colon == 0 || colon == std::string_view::npos || entry.back() != ']') {
      fail(ErrorCode::fail, "config entry '{}' is '{}', expected inputs with shapes in brackets: 'x:[1,3];y:[5]'", kMaxShapeKey, all);
    }
    shapes[std::string(entry.substr(0, colon))] = dims_of(entry.substr(colon + 2, entry.size() - colon - 3), all);
  }
  return shapes;
}

void check_max_shapes(const std::map<std::string, std::vector<int64_t>>& shapes, const std::vector<ValueInfo>& inputs) {
  for (const auto& [name, dims] : shapes) {
    const auto input = std::ranges::find(inputs, name, &ValueInfo::name);
    if (input == inputs.end()) fail(ErrorCode::fail, "config entry '{}' names '{}', which is no input of the model", kMaxShapeKey, name);
    if (!input->type.is_tensor() || !input->type.tensor().has_rank()) continue;
    const SymbolicShape& declared = *input->type.tensor().dims;
    bool fits = declared.size() == dims.size();
    for (size_t i = 0; fits && i < dims.size(); ++i) fits = !declared[i].is_constant() || declared[i].value() == dims[i];
    if (!fits) {
      fail(ErrorCode::fail, "config entry '{}' gives '{}' the shape [{}], the model declares {}", kMaxShapeKey, name, fmt::join(dims, ","),
           input->type.to_string());
    }
  }
}

}  // namespace rh
