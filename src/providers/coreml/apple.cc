// Core ML in plain C++: classes and methods by the Objective-C run time's functions, which dlopen finds on Apple's systems alone.
#include "providers/coreml/apple.h"

#include <dlfcn.h>

#include <cstdio>
#include <cstring>
#include <filesystem>
#include <memory>
#include <vector>

namespace rh::coreml {

namespace {

using Id = void*;
using Selector = void*;

/// The run time's functions, and the frameworks whose classes are asked for.
struct ObjectiveC {
  Id (*get_class)(const char*) = nullptr;
  Selector (*select)(const char*) = nullptr;
  void (*send)() = nullptr;
  void* (*push_pool)() = nullptr;
  void (*pop_pool)(void*) = nullptr;

  bool open() {
    void* library = ::dlopen("/usr/lib/libobjc.A.dylib", RTLD_LAZY);
    if (!library) return false;
    find(library, "objc_getClass", get_class);
    find(library, "sel_registerName", select);
    find(library, "objc_msgSend", send);
    find(library, "objc_autoreleasePoolPush", push_pool);
    find(library, "objc_autoreleasePoolPop", pop_pool);
    for (const char* framework :
         {"/System/Library/Frameworks/Foundation.framework/Foundation", "/System/Library/Frameworks/CoreML.framework/CoreML"}) {
      if (!::dlopen(framework, RTLD_LAZY)) return false;
    }
    return get_class && select && send && push_pool && pop_pool && get_class("MLModel") && get_class("MLDictionaryFeatureProvider");
  }

  template <typename F>
  static void find(void* library, const char* name, F& function) {
    function = reinterpret_cast<F>(::dlsym(library, name));
  }
};

ObjectiveC objc;

/// [receiver selector: arguments...], with the types of the method.
template <typename Result = Id, typename... Arguments>
Result send(Id receiver, const char* selector, Arguments... arguments) {
  return reinterpret_cast<Result (*)(Id, Selector, Arguments...)>(objc.send)(receiver, objc.select(selector), arguments...);
}
template <typename Result = Id, typename... Arguments>
Result send(const char* of_class, const char* selector, Arguments... arguments) {
  return send<Result>(objc.get_class(of_class), selector, arguments...);
}

/// What is made within is let go of at its end.
class Pool {
 public:
  Pool() : pool_(objc.push_pool()) {}
  ~Pool() { objc.pop_pool(pool_); }
  Pool(const Pool&) = delete;
  Pool& operator=(const Pool&) = delete;

 private:
  void* pool_;
};

Id text(const char* bytes) { return send("NSString", "stringWithUTF8String:", bytes); }
Id file_url(const char* path) { return send("NSURL", "fileURLWithPath:", text(path)); }
bool responds(Id object, const char* selector) { return send<signed char>(object, "respondsToSelector:", objc.select(selector)) != 0; }

Id numbers(const std::vector<int64_t>& values) {
  const Id array = send("NSMutableArray", "array");
  for (const int64_t value : values)
    send<void>(array, "addObject:", send("NSNumber", "numberWithLongLong:", static_cast<long long>(value)));
  return array;
}

std::vector<int64_t> numbers_of(Id array) {
  std::vector<int64_t> values(send<unsigned long>(array, "count"));
  for (unsigned long i = 0; i < values.size(); ++i) values[i] = send<long long>(send(array, "objectAtIndex:", i), "longLongValue");
  return values;
}

const char* failure(const char* what, Id error) {
  static thread_local std::string message;
  const Id described = error ? send(error, "localizedDescription") : nullptr;
  const char* said = described ? send<const char*>(described, "UTF8String") : nullptr;
  message = std::string(what) + ": " + (said ? said : "Core ML gives no reason");
  return message.c_str();
}

struct Model {
  Id model = nullptr;    // retained
  std::string compiled;  // Core ML's own folder, which goes with the model; empty: it is kept
};

const char* version() {
  static const std::string text = [] {
    const Pool pool;
    const Id system = send(send("NSProcessInfo", "processInfo"), "operatingSystemVersionString");
    return "Core ML of " + std::string(send<const char*>(system, "UTF8String"));
  }();
  return text.c_str();
}

Id configuration_of(const BridgeSettings& settings) {
  const Id configuration = send(send(send("MLModelConfiguration", "alloc"), "init"), "autorelease");
  send<void>(configuration, "setComputeUnits:", static_cast<long>(settings.compute_units));
  send<void>(configuration, "setAllowLowPrecisionAccumulationOnGPU:", static_cast<signed char>(settings.low_precision_on_gpu != 0));
  if (settings.fast_prediction && responds(configuration, "setOptimizationHints:")) {
    const Id hints = send(send(send("MLOptimizationHints", "alloc"), "init"), "autorelease");
    send<void>(hints, "setSpecializationStrategy:", 1L);
    send<void>(configuration, "setOptimizationHints:", hints);
  }
  return configuration;
}

const char* load(const BridgeSettings* settings, void** out) {
  const Pool pool;
  auto model = std::make_unique<Model>();
  std::string compiled = settings->compiled;
  Id error = nullptr;
  if (!std::filesystem::exists(compiled)) {
    const Id url = send("MLModel", "compileModelAtURL:error:", file_url(settings->package), &error);
    if (!url) return failure("Core ML does not compile the program", error);
    const char* made = send<const char*>(send(url, "path"), "UTF8String");
    if (std::rename(made, compiled.c_str()) != 0) model->compiled = compiled = made;  // on another disk
  }
  model->model =
      send("MLModel", "modelWithContentsOfURL:configuration:error:", file_url(compiled.c_str()), configuration_of(*settings), &error);
  if (!model->model) return failure("Core ML does not load the program", error);
  send(model->model, "retain");
  *out = model.release();
  return nullptr;
}

constexpr long kFloat32 = 65568, kInt32 = 131104;  // MLMultiArrayDataType

Id array_of(const BridgeArray& given, Id* error) {
  const std::vector<int64_t> shape(given.shape, given.shape + given.rank);
  std::vector<int64_t> strides(shape.size(), 1);
  for (size_t i = shape.size(); i-- > 1;) strides[i - 1] = strides[i] * shape[i];
  const Id array = send(send("MLMultiArray", "alloc"), "initWithDataPointer:shape:dataType:strides:deallocator:error:", given.data,
                        numbers(shape), given.is_float ? kFloat32 : kInt32, numbers(strides), static_cast<Id>(nullptr), error);
  return array ? send(array, "autorelease") : nullptr;
}

/// Elements of four bytes, in order, from where their strides have them.
void gather(const char* from, const std::vector<int64_t>& shape, const std::vector<int64_t>& strides, size_t axis, char*& to) {
  if (axis == shape.size()) {
    std::memcpy(to, from, 4);
    to += 4;
    return;
  }
  for (int64_t i = 0; i < shape[axis]; ++i) gather(from + 4 * i * strides[axis], shape, strides, axis + 1, to);
}

const char* take(Id results, const BridgeArray& wanted) {
  const Id value = send(results, "featureValueForName:", text(wanted.name));
  const Id array = value ? send(value, "multiArrayValue") : nullptr;
  if (!array) return failure("Core ML gives no such array", nullptr);
  const std::vector<int64_t> shape = numbers_of(send(array, "shape"));
  if (shape != std::vector<int64_t>(wanted.shape, wanted.shape + wanted.rank) ||
      send<long>(array, "dataType") != (wanted.is_float ? kFloat32 : kInt32)) {
    return failure("Core ML gives an array of another shape or type", nullptr);
  }
  char* to = static_cast<char*>(wanted.data);
  gather(static_cast<const char*>(send(array, "dataPointer")), shape, numbers_of(send(array, "strides")), 0, to);
  return nullptr;
}

const char* predict(void* raw, const BridgeArray* inputs, size_t input_count, const BridgeArray* outputs, size_t output_count) {
  const Pool pool;
  const Model& model = *static_cast<Model*>(raw);
  const Id features = send("NSMutableDictionary", "dictionary");
  Id error = nullptr;
  for (size_t i = 0; i < input_count; ++i) {
    const Id array = array_of(inputs[i], &error);
    if (!array) return failure("Core ML takes no such array", error);
    send<void>(features, "setObject:forKey:", send("MLFeatureValue", "featureValueWithMultiArray:", array), text(inputs[i].name));
  }
  const Id provider = send(send("MLDictionaryFeatureProvider", "alloc"), "initWithDictionary:error:", features, &error);
  if (!provider) return failure("Core ML does not take the inputs", error);
  send(provider, "autorelease");
  const Id results = send(model.model, "predictionFromFeatures:error:", provider, &error);
  if (!results) return failure("Core ML's prediction failed", error);
  for (size_t i = 0; i < output_count; ++i) {
    if (const char* message = take(results, outputs[i])) return message;
  }
  return nullptr;
}

void release(void* raw) {
  const Pool pool;
  const std::unique_ptr<Model> model(static_cast<Model*>(raw));
  send<void>(model->model, "release");
  std::error_code ignored;
  if (!model->compiled.empty()) std::filesystem::remove_all(model->compiled, ignored);
}

constexpr Bridge kApple = {sizeof(Bridge), version, load, predict, release};

}  // namespace

const Bridge* apple_bridge(std::string& problem) {
  static const bool is_open = objc.open();
  if (is_open) return &kApple;
  problem = "Core ML is not on this system: it is a part of macOS 12, iOS 15 and newer: leave CoreMLExecutionProvider out here";
  return nullptr;
}

}  // namespace rh::coreml
