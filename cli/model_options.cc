#include "model_options.h"

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <random>
#include <stdexcept>

#include "system.h"

namespace rh::cli {

std::pair<std::string, std::string> split_entry(const std::string& text, const char* what) {
  const size_t at = text.find('=');
  if (at == std::string::npos || at == 0) throw std::runtime_error(std::string(what) + " '" + text + "' has no '=', expected name=value");
  return {text.substr(0, at), text.substr(at + 1)};
}

namespace {

template <typename T, typename Distribution>
void fill(Ort::Value& value, std::mt19937& random, Distribution distribution) {
  T* data = static_cast<T*>(value.GetTensorMutableRawData());
  const size_t count = value.GetTensorTypeAndShapeInfo().GetElementCount();
  for (size_t i = 0; i < count; ++i) data[i] = static_cast<T>(distribution(random));
}

// Whether an input says which elements count: nothing would be left where all are 0.
bool is_mask(std::string name) {
  std::transform(name.begin(), name.end(), name.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return name.find("mask") != std::string::npos;
}

// Floats are standard normal; integers are 0 or 1, which token ids allow, masks all 1, and 0 where the last dimension is 1, since they may
// be positions in it.
Ort::Value generate(const std::string& name, ONNXTensorElementDataType type, const std::vector<int64_t>& shape, std::mt19937& random) {
  Ort::Value value = make_tensor(type, shape);
  std::normal_distribution<float> normal;
  std::uniform_int_distribution<int> bit(is_mask(name) ? 1 : 0, is_mask(name) || shape.empty() || shape.back() > 1 ? 1 : 0);
  const size_t count = value.GetTensorTypeAndShapeInfo().GetElementCount();
  switch (type) {
    case ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT: fill<float>(value, random, normal); break;
    case ONNX_TENSOR_ELEMENT_DATA_TYPE_DOUBLE: fill<double>(value, random, normal); break;
    case ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT16: fill<Ort::Float16_t>(value, random, normal); break;
    case ONNX_TENSOR_ELEMENT_DATA_TYPE_BFLOAT16: fill<Ort::BFloat16_t>(value, random, normal); break;
    case ONNX_TENSOR_ELEMENT_DATA_TYPE_BOOL:
    case ONNX_TENSOR_ELEMENT_DATA_TYPE_INT8:
    case ONNX_TENSOR_ELEMENT_DATA_TYPE_UINT8: fill<uint8_t>(value, random, bit); break;
    case ONNX_TENSOR_ELEMENT_DATA_TYPE_INT16:
    case ONNX_TENSOR_ELEMENT_DATA_TYPE_UINT16: fill<uint16_t>(value, random, bit); break;
    case ONNX_TENSOR_ELEMENT_DATA_TYPE_INT32:
    case ONNX_TENSOR_ELEMENT_DATA_TYPE_UINT32: fill<uint32_t>(value, random, bit); break;
    case ONNX_TENSOR_ELEMENT_DATA_TYPE_INT64:
    case ONNX_TENSOR_ELEMENT_DATA_TYPE_UINT64: fill<uint64_t>(value, random, bit); break;
    case ONNX_TENSOR_ELEMENT_DATA_TYPE_STRING: {
      const std::vector<const char*> words(count, "word");
      value.FillStringTensor(words.data(), words.size());
      break;
    }
    default: throw std::runtime_error("input '" + name + "' has an element type that cannot be generated; give it a file with --input");
  }
  return value;
}

}  // namespace

void ModelOptions::declare(CLI::App& app) {
  app.add_option("model", model, "The .onnx file")->required();
  app.add_option("-t,--threads", settings.threads, "Threads inside an operator; 0: as many as the machine allows")
      ->check(CLI::Range(0, 4096));
  app.add_option("-O,--optimization", settings.optimization, "0 none, 1 basic, 2 extended, 99 all")->check(CLI::IsMember({0, 1, 2, 99}));
  app.add_option("--precision", settings.precision, "The least accuracy asked for")
      ->check(CLI::IsMember({"strict", "fp32", "fast", "bf16"}));
  app.add_option("--provider,--ep", settings.providers, "Execution providers in order of preference, with commas between")->delimiter(',');
  app.add_option("--plugin", settings.plugins, "A library with execution providers, used where --provider names no others");
  app.add_option("--config", settings.config, "Session configuration, key=value");
  app.add_option("-i,--input", inputs, "A .npy, .npz, .pb or .json file or an image, or name=file");
  app.add_option("-d,--dim", dims, "Size of a symbolic dimension for generated inputs, name=size");
  app.add_option("--seed", seed, "Of generated inputs");
  image.declare(app);
}

Ort::Env& environment() {
  static Ort::Env env = [] {
    Ort::Env made(ORT_LOGGING_LEVEL_WARNING, "roundhouse");
    made.UpdateEnvWithCustomLogLevel(ORT_LOGGING_LEVEL_ERROR);  // reports say what warnings of sessions would
    return made;
  }();
  return env;
}

std::vector<std::string> register_plugin(const std::string& file) {
  static std::map<std::string, std::vector<std::string>> registered;
  const auto known = registered.find(file);
  if (known != registered.end()) return known->second;
  const size_t before = environment().GetEpDevices().size();
  environment().RegisterExecutionProviderLibrary(("plugin" + std::to_string(registered.size())).c_str(), as_path(file).native());
  std::vector<std::string>& names = registered[file];
  const auto devices = environment().GetEpDevices();
  for (size_t i = before; i < devices.size(); ++i) {
    if (std::find(names.begin(), names.end(), devices[i].EpName()) == names.end()) names.emplace_back(devices[i].EpName());
  }
  return names;
}

Ort::Session SessionSettings::open(const std::string& model) const {
  return Ort::Session(environment(), as_path(model).c_str(), options());
}

Ort::SessionOptions SessionSettings::options() const {
  Ort::SessionOptions options;
  options.SetIntraOpNumThreads(threads);
  options.SetGraphOptimizationLevel(static_cast<GraphOptimizationLevel>(optimization));
  if (!precision.empty()) options.AddConfigEntry("roundhouse.precision", precision.c_str());
  for (const std::string& entry : config) {
    const auto [key, value] = split_entry(entry, "--config");
    options.AddConfigEntry(key.c_str(), value.c_str());
  }
  std::vector<std::string> wanted = providers;
  for (const std::string& plugin : plugins) {
    const std::vector<std::string> names = register_plugin(plugin);
    if (providers.empty()) wanted.insert(wanted.end(), names.begin(), names.end());
  }
  for (const std::string& provider : wanted) options.AppendExecutionProvider(provider);
  return options;
}

std::string SessionSettings::text() const {
  std::string result = "-O " + std::to_string(optimization);
  if (threads) result += ", " + std::to_string(threads) + " threads";
  if (!precision.empty()) result += ", precision " + precision;
  for (const std::string& provider : providers) result += ", " + provider;
  for (const std::string& plugin : plugins) result += ", plugin " + plugin;
  for (const std::string& entry : config) result += ", " + entry;
  return result;
}

namespace {

std::string list_of(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "'" : ", '") + name + "'";
  return text.empty() ? "none" : text;
}

bool contains(const std::vector<std::string>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

std::vector<std::string> symbols_of(const Ort::Session& session) {
  std::vector<std::string> symbols;
  for (size_t i = 0; i < session.GetInputCount(); ++i) {
    const Ort::TypeInfo type = session.GetInputTypeInfo(i);
    if (type.GetONNXType() != ONNX_TYPE_TENSOR) continue;
    for (const char* symbol : type.GetTensorTypeAndShapeInfo().GetSymbolicDimensions()) {
      if (symbol && *symbol && !contains(symbols, symbol)) symbols.push_back(symbol);
    }
  }
  return symbols;
}

std::map<std::string, int64_t> sizes_of(const std::vector<std::string>& dims, const Ort::Session& session) {
  std::map<std::string, int64_t> sizes;
  const std::vector<std::string> symbols = symbols_of(session);
  for (const std::string& text : dims) {
    const auto [name, size] = split_entry(text, "--dim");
    if (!contains(symbols, name)) {
      throw std::runtime_error("--dim '" + text + "': no input has a dimension '" + name + "', expected one of: " + list_of(symbols));
    }
    if (size.empty() || size.size() > 18 || size.find_first_not_of("0123456789") != std::string::npos) {
      throw std::runtime_error("--dim '" + text + "': the size is '" + size + "', expected a whole number");
    }
    sizes[name] = std::stoll(size);
  }
  return sizes;
}

// Refuses a file's value whose element type is not the declared one.
void check_type(const std::string& file, const std::string& name, const Ort::Value& value, const Ort::TypeInfo& type) {
  if (type.GetONNXType() != ONNX_TYPE_TENSOR || !value.IsTensor()) return;
  const ONNXTensorElementDataType found = value.GetTensorTypeAndShapeInfo().GetElementType();
  const ONNXTensorElementDataType expected = type.GetTensorTypeAndShapeInfo().GetElementType();
  if (found == expected) return;
  throw std::runtime_error(file + ": has elements of type " + element_name(found) + ", but input '" + name + "' takes " +
                           element_name(expected) + "; convert the array with astype and save it again");
}

}  // namespace

std::vector<NamedValue> ModelOptions::given(const Ort::Session& session) const {
  const std::vector<std::string> names = session.GetInputNames();
  std::vector<NamedValue> result;
  const auto is_given = [&](const std::string& name) {
    return std::any_of(result.begin(), result.end(), [&](const NamedValue& v) { return v.first == name; });
  };
  const auto first_open = [&] {
    const auto open = std::find_if(names.begin(), names.end(), [&](const std::string& n) { return !is_given(n); });
    return open == names.end() ? std::string() : *open;
  };
  const auto type_of = [&](const std::string& name) {
    const auto at = std::find(names.begin(), names.end(), name);
    return session.GetInputTypeInfo(static_cast<size_t>((at == names.end() ? names.begin() : at) - names.begin()));
  };
  // `name`: the input that a file without names of its own is for; empty where all have a value.
  const auto read_file = [&](const std::string& file, const std::string& name) {
    std::vector<NamedValue> values;
    if (is_image(file) && !name.empty()) {
      values.emplace_back(name, read_image(file, name, type_of(name), image));
    } else if (file.ends_with(".json")) {
      values = read_json_arrays(file, [&](const std::string& input) {
        const Ort::TypeInfo type = type_of(contains(names, input) ? input : name);
        return type.GetONNXType() == ONNX_TYPE_TENSOR ? type.GetTensorTypeAndShapeInfo().GetElementType()
                                                      : ONNX_TENSOR_ELEMENT_DATA_TYPE_UNDEFINED;
      });
    } else {
      values = read_arrays(file);
    }
    return values;
  };
  for (const std::string& text : inputs) {
    const size_t at = text.find('=');
    const bool named = at != std::string::npos && !std::filesystem::exists(as_path(text));
    const std::string file = named ? text.substr(at + 1) : text;
    if (named && !contains(names, text.substr(0, at))) {
      throw std::runtime_error("--input " + text + ": the model has no input '" + text.substr(0, at) +
                               "', expected one of: " + list_of(names));
    }
    for (NamedValue& value : read_file(file, named ? text.substr(0, at) : first_open())) {
      std::string name = named ? text.substr(0, at) : value.first;
      if (!contains(names, name)) {  // nameless, or a name of its own: the first input that has no value
        const std::string open = first_open();
        if (open.empty()) {
          throw std::runtime_error("--input " + text + ": every input has a value already; the model has " + std::to_string(names.size()) +
                                   ": " + list_of(names));
        }
        name = open;
      }
      if (is_given(name)) throw std::runtime_error("--input " + text + ": input '" + name + "' has a value already");
      const size_t position = static_cast<size_t>(std::find(names.begin(), names.end(), name) - names.begin());
      check_type(file, name, value.second, session.GetInputTypeInfo(position));
      result.emplace_back(std::move(name), std::move(value.second));
    }
  }
  return result;
}

std::vector<NamedValue> ModelOptions::values(const Ort::Session& session) const {
  const std::vector<std::string> names = session.GetInputNames();
  std::vector<NamedValue> result = given(session);
  const std::map<std::string, int64_t> sizes = sizes_of(dims, session);
  std::mt19937 random(seed);
  for (size_t i = 0; i < names.size(); ++i) {
    if (std::any_of(result.begin(), result.end(), [&](const NamedValue& v) { return v.first == names[i]; })) continue;
    const Ort::TypeInfo type = session.GetInputTypeInfo(i);
    if (type.GetONNXType() == ONNX_TYPE_OPTIONAL) continue;
    if (type.GetONNXType() != ONNX_TYPE_TENSOR) {
      throw std::runtime_error("input '" + names[i] +
                               "' is a sequence or a map, which is neither generated nor read from files; use the Python package");
    }
    const auto info = type.GetTensorTypeAndShapeInfo();
    std::vector<int64_t> shape = info.GetShape();
    const std::vector<const char*> symbols = info.GetSymbolicDimensions();
    for (size_t k = 0; k < shape.size(); ++k) {
      if (shape[k] >= 0) continue;
      const auto size = sizes.find(symbols[k] ? symbols[k] : "");
      shape[k] = size == sizes.end() ? 1 : size->second;
    }
    result.emplace_back(names[i], generate(names[i], info.GetElementType(), shape, random));
  }
  return result;
}

}  // namespace rh::cli
