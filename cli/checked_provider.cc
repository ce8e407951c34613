#include "checked_provider.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "model_options.h"
#include "system.h"
#include "terminal.h"

namespace rh::cli {

namespace {

constexpr auto kFloat = ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT;
constexpr const char* kRegistration = "checked";

/// Of the largest magnitude, or of 1.
double tolerance(ONNXTensorElementDataType type) {
  switch (type) {
    case ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT16:
    case ONNX_TENSOR_ELEMENT_DATA_TYPE_BFLOAT16: return 1e-2;
    case ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT: return 1e-4;
    case ONNX_TENSOR_ELEMENT_DATA_TYPE_DOUBLE: return 1e-9;
    default: return 0;
  }
}

std::string position(const std::vector<int64_t>& shape, size_t index) {
  std::vector<size_t> at(shape.size());
  for (size_t i = shape.size(); i-- > 0; index /= static_cast<size_t>(shape[i])) at[i] = index % static_cast<size_t>(shape[i]);
  std::string text;
  for (const size_t i : at) text += (text.empty() ? "" : ", ") + std::to_string(i);
  return "(" + text + ")";
}

std::string shape_of(const Contents& tensor) { return nlohmann::json(tensor.shape).dump(); }

void expect_equal(const Contents& actual, const Contents& expected, const std::string& what) {
  if (actual.type != expected.type) {
    throw CheckFailure(what + " is of type " + element_name(actual.type) + ", expected " + element_name(expected.type));
  }
  if (actual.shape != expected.shape) throw CheckFailure(what + " has shape " + shape_of(actual) + ", expected " + shape_of(expected));
  const Difference off = difference(expected, actual);
  const Range range = range_of(expected);
  const double scale = std::max({1.0, std::abs(range.min), std::abs(range.max)});
  if (!off.not_finite && off.max_abs <= tolerance(expected.type) * scale) return;
  throw CheckFailure(what + " at " + position(expected.shape, off.worst) + " is " + number_text(actual[off.worst], 6) + ", expected " +
                     number_text(expected[off.worst], 6));
}

Ort::SessionOptions plain_options() {
  Ort::SessionOptions options;
  options.SetGraphOptimizationLevel(ORT_DISABLE_ALL);
  return options;
}

CheckedSession open_session(const SmallModel& model, const Ort::SessionOptions& options) {
  const std::string bytes = model.bytes();
  return CheckedSession(Ort::Session(environment(), bytes.data(), bytes.size(), options));
}

}  // namespace

Ort::Value tensor_of(const Contents& contents) {
  Ort::Value value = make_tensor(contents.type, contents.shape);
  if (!contents.bytes.empty()) std::memcpy(value.GetTensorMutableRawData(), contents.bytes.data(), contents.bytes.size());
  return value;
}

std::vector<NamedValue> tensors_of(const Feeds& feeds) {
  std::vector<NamedValue> values;
  for (const auto& [name, contents] : feeds) values.emplace_back(name, tensor_of(contents));
  return values;
}

void expect_equal(const std::vector<Contents>& actual, const std::vector<Contents>& expected, const std::string& what) {
  if (actual.size() != expected.size()) throw CheckFailure(what + std::to_string(actual.size()) + " outputs came");
  for (size_t i = 0; i < expected.size(); ++i) expect_equal(actual[i], expected[i], what + "output " + std::to_string(i));
}

void expect_error(const std::function<void()>& call, const std::string& what) {
  try {
    call();
  } catch (const Ort::Exception&) {
    return;
  }
  throw CheckFailure(what + " is no error");
}

// --- sessions

std::vector<Contents> CheckedSession::run(const Feeds& feeds, const OrtRunOptions* options) {
  const std::vector<NamedValue> inputs = tensors_of(feeds);
  std::vector<Contents> results;
  for (const Ort::Value& value : Runner(session_, inputs).run(options)) results.push_back(contents_of(value));
  return results;
}

void CheckedSession::run(const Ort::IoBinding& binding) { session_.Run(Ort::RunOptions(), binding); }

CheckedSession::Copies CheckedSession::copies() const {
  const nlohmann::json statistics = report().at("statistics");
  return {statistics.at("input_copies"), statistics.at("step_copies"), statistics.at("output_copies")};
}

std::string CheckedSession::Copies::text() const {
  return std::to_string(inputs) + " of inputs, " + std::to_string(steps) + " between nodes, " + std::to_string(outputs) + " of outputs";
}

// --- the provider

CheckedProvider::CheckedProvider(std::string library, std::string ep_name, std::map<std::string, std::string> options)
    : library_(std::move(library)), wanted_(std::move(ep_name)), options_(std::move(options)) {
  environment().RegisterExecutionProviderLibrary(kRegistration, as_path(library_).native());
  find_devices();
}

void CheckedProvider::load_again() {
  devices_.clear();
  environment().UnregisterExecutionProviderLibrary(kRegistration);
  environment().RegisterExecutionProviderLibrary(kRegistration, as_path(library_).native());
  find_devices();
}

void CheckedProvider::find_devices() {
  for (const Ort::ConstEpDevice& device : environment().GetEpDevices()) {
    const std::string name = device.EpName() ? device.EpName() : "";
    if (name == "CPUExecutionProvider" || (!wanted_.empty() && name != wanted_)) continue;
    if (devices_.empty()) name_ = name;
    if (name == name_) devices_.push_back(device);
  }
  if (devices_.empty()) throw CheckFailure("the library lists no device" + (wanted_.empty() ? "" : " of '" + wanted_ + "'"));
}

CheckedSession CheckedProvider::session(const SmallModel& model, const std::map<std::string, std::string>& more) const {
  std::map<std::string, std::string> all = options_;
  all.insert(more.begin(), more.end());
  std::vector<const char*> keys, values;
  for (const auto& [key, value] : all) {
    keys.push_back(key.c_str());
    values.push_back(value.c_str());
  }
  const OrtEpDevice* device = devices_.front();
  Ort::SessionOptions options = plain_options();
  Ort::ThrowOnError(
      Ort::GetApi().SessionOptionsAppendExecutionProvider_V2(options, environment(), &device, 1, keys.data(), values.data(), keys.size()));
  return open_session(model, options);
}

CheckedSession CheckedProvider::plain(const SmallModel& model) { return open_session(model, plain_options()); }

int64_t CheckedProvider::taken(const CheckedSession& session) const {
  const nlohmann::json report = session.report();  // counts leave out the nodes of functions' bodies
  return std::ranges::count_if(report.at("nodes"), [&](const nlohmann::json& node) { return node.at("provider") == name_; });
}

const OperatorCase& CheckedProvider::carrier() {
  const auto fits = [&](const OperatorCase& c) {
    return c.inputs.size() == 1 && c.outputs == std::vector{kFloat} && c.inputs[0].type == kFloat &&
           c.inputs[0].shape == std::vector<int64_t>{2, 3, 4} && taken(session(c.model())) > 0;
  };
  if (!carrier_) {
    const auto& cases = operator_cases();
    const auto at = std::find_if(cases.begin(), cases.end(), fits);
    carrier_ = at == cases.end() ? nullptr : &*at;
  }
  if (!*carrier_) throw Skip("the provider takes none of the built-in cases of one input");
  return **carrier_;
}

SmallModel CheckedProvider::chain(const std::vector<int64_t>& shape) {
  const OperatorCase& c = carrier();
  return {{{c.op, {"x"}, {"t"}, "first", c.attributes}, {c.op, {"t"}, {"y"}, "second", c.attributes}},
          {{"x", kFloat, shape}},
          {{"y", kFloat, shape}}};
}

SmallModel CheckedProvider::divided() {
  const OperatorCase& c = carrier();
  const std::vector<int64_t> shape{2, 3, 4};
  return {{{c.op, {"x"}, {"t"}, "first", c.attributes},
           {"Cast", {"t"}, {"d"}, "to_double", {{"to", int64_t{ONNX_TENSOR_ELEMENT_DATA_TYPE_DOUBLE}}}},
           {"Exp", {"d"}, {"f"}, "on_the_cpu"},
           {"Cast", {"f"}, {"e"}, "to_float", {{"to", int64_t{kFloat}}}},
           {c.op, {"e"}, {"y"}, "second", c.attributes}},
          {{"x", kFloat, shape}},
          {{"t", kFloat, shape}, {"y", kFloat, shape}}};
}

Ort::ConstMemoryInfo CheckedProvider::memory() const {
  const Ort::ConstMemoryInfo info = devices_.front().GetMemoryInfo(OrtDeviceMemoryType_DEFAULT);
  if (!info) throw Skip("the provider works on memory of the host");
  return info;
}

Ort::Value CheckedProvider::value(const Contents& contents) const {
  OrtAllocator* allocator = nullptr;
  Ort::ThrowOnError(Ort::GetApi().GetSharedAllocator(environment(), memory(), &allocator));
  if (!allocator) throw CheckFailure("the provider names memory of its device, and gives no allocator for it");
  Ort::Value there = Ort::Value::CreateTensor(allocator, contents.shape.data(), contents.shape.size(), contents.type);
  if (!contents.bytes.empty()) copy(tensor_of(contents), there);
  return there;
}

Contents CheckedProvider::contents(const Ort::Value& value) const {
  const auto info = value.GetTensorTypeAndShapeInfo();
  Ort::Value here = make_tensor(info.GetElementType(), info.GetShape());
  if (info.GetElementCount() > 0) copy(value, here);
  return contents_of(here);
}

void CheckedProvider::copy(const Ort::Value& from, Ort::Value& to, OrtSyncStream* stream) const {
  const OrtValue* source = from;
  OrtValue* target = to;
  Ort::ThrowOnError(Ort::GetApi().CopyTensors(environment(), &source, &target, stream, 1));
}

}  // namespace rh::cli
