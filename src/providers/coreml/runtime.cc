#include "providers/coreml/runtime.h"

#include <cstdlib>
#include <limits>

#include "providers/coreml/apple.h"

namespace rh::coreml {

namespace {

constexpr const char* kVariable = "ROUNDHOUSE_COREML_LIBRARY";

void checked(const char* message) {
  if (message) fail(ErrorCode::ep_fail, "{}", message);
}

/// The elements as those of a feature: float32 or int32.
Tensor as_feature(const TensorView& given, const Feature& feature) {
  Tensor made(feature.dtype, given.shape());
  const auto count = static_cast<size_t>(given.elements());
  if (given.dtype() == feature.dtype) {
    copy_elements(given, made.mutable_view());
  } else if (given.dtype() == DType::float16) {
    for (size_t i = 0; i < count; ++i) made.data<float>()[i] = static_cast<float>(given.data<Float16>()[i]);
  } else if (given.dtype() == DType::boolean) {
    for (size_t i = 0; i < count; ++i) made.data<int32_t>()[i] = given.data<bool>()[i] ? 1 : 0;
  } else {
    for (size_t i = 0; i < count; ++i) {
      const int64_t value = given.data<int64_t>()[i];
      if (value < std::numeric_limits<int32_t>::min() || value > std::numeric_limits<int32_t>::max()) {
        fail(ErrorCode::invalid_argument,
             "an input has the value {}, beyond the 32 bits of Core ML's integers: run the model without CoreMLExecutionProvider", value);
      }
      made.data<int32_t>()[i] = static_cast<int32_t>(value);
    }
  }
  return made;
}

BridgeArray array_of(const Feature& feature, void* data) {
  return {feature.name.c_str(), feature.dtype == DType::float32, feature.shape.begin(), feature.shape.size(), data};
}

}  // namespace

Runtime::Runtime(std::string_view library) {
  const char* variable = std::getenv(kVariable);
  if (!library.empty() || (variable && *variable)) {
    library_.emplace(kit::VendorLibrarySpec{.title = "the library that stands in for Core ML",
                                            .file = "librecording_coreml.so",
                                            .given = library,
                                            .option = "library_path",
                                            .variable = kVariable,
                                            .stays_loaded = true});
    const Bridge* (*made)() = library_->function(kBridgeFunction);
    bridge_ = made();
    if (!bridge_ || bridge_->size != sizeof(Bridge))
      fail(ErrorCode::not_found, "'{}' stands in for Core ML of another version", library_->path());
    return;
  }
  std::string problem;
  bridge_ = apple_bridge(problem);
  if (!bridge_) fail(ErrorCode::not_found, "{}", problem);
}

LoadedProgram::LoadedProgram(std::shared_ptr<const Shared> shared, const Program& program)
    : shared_(std::move(shared)),
      package_(program, shared_->settings.cache),
      inputs_(program.inputs()),
      outputs_(program.outputs()),
      bytes_(program.bytes()) {
  const std::string package = package_.package(), compiled = package_.compiled();
  const Settings& settings = shared_->settings;
  const BridgeSettings given = {package.c_str(), compiled.c_str(), settings.compute_units, settings.low_precision_on_gpu,
                                settings.fast_prediction};
  checked(shared_->runtime.bridge().load(&given, &model_));
}

LoadedProgram::~LoadedProgram() {
  if (model_) shared_->runtime.bridge().release(model_);
}

void LoadedProgram::run(std::span<const TensorView> inputs, Take take) const {
  std::vector<Tensor> given, made;
  std::vector<BridgeArray> from, into;
  for (size_t i = 0; i < inputs.size(); ++i) {
    given.push_back(as_feature(inputs[i], inputs_[i]));
    from.push_back(array_of(inputs_[i], given.back().raw()));
  }
  for (const Feature& output : outputs_) {
    made.emplace_back(output.dtype, output.shape);
    into.push_back(array_of(output, made.back().raw()));
  }
  {
    const std::lock_guard lock(running_);
    checked(shared_->runtime.bridge().predict(model_, from.data(), from.size(), into.data(), into.size()));
  }
  for (size_t i = 0; i < made.size(); ++i) take(i, made[i].view());
}

}  // namespace rh::coreml
