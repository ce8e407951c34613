#include "support/stock.h"

#include <cstdlib>
#include <cstring>
#include <memory>

#include "abi/element_type.h"
#include "base/dynamic_library.h"
#include "base/paths.h"
#include "roundhouse/onnxruntime_c_api.h"

namespace rh::test {

namespace {

// Throws Error for a status of the library.
void check(const OrtApi& api, OrtStatus* status) {
  if (!status) return;
  const Error error(static_cast<ErrorCode>(api.GetErrorCode(status)), api.GetErrorMessage(status));
  api.ReleaseStatus(status);
  throw error;
}

template <typename T>
using Handle = std::unique_ptr<T, void (*)(T*)>;

Handle<OrtValue> sparse_to_ort(const OrtApi& api, const SparseTensor& sparse, const OrtMemoryInfo* memory) {
  OrtValue* raw = nullptr;
  const Shape &dims = sparse.dense_shape, &count = sparse.values.shape();
  const auto ints = [](const Tensor& tensor) { return const_cast<int64_t*>(tensor.data<int64_t>()); };
  check(api, api.CreateSparseTensorWithValuesAsOrtValue(memory, const_cast<void*>(sparse.values.raw()), dims.data(), dims.size(),
                                                        count.data(), count.size(), abi::to_element_type(sparse.dtype), &raw));
  Handle<OrtValue> result(raw, api.ReleaseValue);
  const auto inner = static_cast<size_t>(sparse.indices.elements());
  if (sparse.format == SparseTensor::Format::coo) {
    check(api, api.UseCooIndices(raw, ints(sparse.indices), inner));
  } else {
    check(api, api.UseCsrIndices(raw, ints(sparse.indices), inner, ints(sparse.outer_indices),
                                 static_cast<size_t>(sparse.outer_indices.elements())));
  }
  return result;
}

Handle<OrtValue> to_ort(const OrtApi& api, const Value& value, const OrtMemoryInfo* memory) {
  if (value.is_sparse()) return sparse_to_ort(api, value.sparse(), memory);
  const Tensor& tensor = value.tensor();
  OrtValue* result = nullptr;
  const auto type = abi::to_element_type(tensor.dtype());
  const int64_t* dims = tensor.shape().data();
  const size_t rank = tensor.shape().size();
  if (tensor.dtype() == DType::string) {
    OrtAllocator* allocator = nullptr;
    check(api, api.GetAllocatorWithDefaultOptions(&allocator));
    check(api, api.CreateTensorAsOrtValue(allocator, dims, rank, type, &result));
    std::vector<const char*> texts;
    for (const std::string& text : tensor.span<std::string>()) texts.push_back(text.c_str());
    check(api, api.FillStringTensor(result, texts.data(), texts.size()));
  } else {
    check(api, api.CreateTensorWithDataAsOrtValue(memory, const_cast<void*>(tensor.raw()), tensor.bytes(), dims, rank, type, &result));
  }
  return {result, api.ReleaseValue};
}

Value from_ort(const OrtApi& api, OrtValue* value) {
  int is_tensor = 0;
  check(api, api.IsTensor(value, &is_tensor));
  if (!is_tensor) return {};
  OrtTensorTypeAndShapeInfo* raw_info = nullptr;
  check(api, api.GetTensorTypeAndShape(value, &raw_info));
  const Handle<OrtTensorTypeAndShapeInfo> info(raw_info, api.ReleaseTensorTypeAndShapeInfo);
  ONNXTensorElementDataType type;
  size_t rank = 0;
  check(api, api.GetTensorElementType(info.get(), &type));
  check(api, api.GetDimensionsCount(info.get(), &rank));
  Shape shape(rank, 0);
  check(api, api.GetDimensions(info.get(), shape.data(), rank));
  Tensor tensor(abi::to_dtype(type), shape);
  if (tensor.dtype() == DType::string) {
    for (int64_t i = 0; i < tensor.elements(); ++i) {
      size_t length = 0;
      check(api, api.GetStringTensorElementLength(value, static_cast<size_t>(i), &length));
      std::string& text = tensor.data<std::string>()[i];
      text.resize(length);
      check(api, api.GetStringTensorElement(value, length, static_cast<size_t>(i), text.data()));
    }
  } else {
    void* data = nullptr;
    check(api, api.GetTensorMutableData(value, &data));
    if (tensor.bytes() > 0) std::memcpy(tensor.raw(), data, tensor.bytes());
  }
  return tensor;
}

}  // namespace

const Stock* Stock::get() {
  static const Stock* stock = []() -> const Stock* {
    const char* path = std::getenv("RH_STOCK_ORT");
    if (!path || !*path) return nullptr;
    void* library = open_library(as_path(path).c_str());
    const auto base = reinterpret_cast<const OrtApiBase* (*)()>(find_symbol(library, "OrtGetApiBase"));
    static Stock instance;
    instance.api_ = base()->GetApi(23);
    check(*instance.api_, instance.api_->CreateEnv(ORT_LOGGING_LEVEL_FATAL, "oracle", &instance.env_));
    return &instance;
  }();
  return stock;
}

Stock::Result Stock::run(const std::string& model, std::span<const std::string> input_names, std::span<const Value> inputs,
                         std::span<const std::string> output_names) const {
  const OrtApi& api = *api_;
  Result result;
  try {
    OrtSessionOptions* raw_options = nullptr;
    check(api, api.CreateSessionOptions(&raw_options));
    const Handle<OrtSessionOptions> options(raw_options, api.ReleaseSessionOptions);
    check(api, api.SetIntraOpNumThreads(raw_options, 1));
    check(api, api.SetSessionLogSeverityLevel(raw_options, 4));
    OrtSession* raw_session = nullptr;
    check(api, api.CreateSessionFromArray(env_, model.data(), model.size(), raw_options, &raw_session));
    const Handle<OrtSession> session(raw_session, api.ReleaseSession);
    OrtMemoryInfo* raw_memory = nullptr;
    check(api, api.CreateCpuMemoryInfo(OrtDeviceAllocator, OrtMemTypeDefault, &raw_memory));
    const Handle<OrtMemoryInfo> memory(raw_memory, api.ReleaseMemoryInfo);

    std::vector<Handle<OrtValue>> values;
    std::vector<const OrtValue*> pointers;
    std::vector<const char*> in_names, out_names;
    for (size_t i = 0; i < inputs.size(); ++i) {
      values.push_back(to_ort(api, inputs[i], memory.get()));
      pointers.push_back(values.back().get());
      in_names.push_back(input_names[i].c_str());
    }
    for (const std::string& name : output_names) out_names.push_back(name.c_str());
    std::vector<OrtValue*> outputs(output_names.size(), nullptr);
    check(api, api.Run(session.get(), nullptr, in_names.data(), pointers.data(), pointers.size(), out_names.data(), out_names.size(),
                       outputs.data()));
    std::vector<Handle<OrtValue>> owned;
    for (OrtValue* output : outputs) owned.emplace_back(output, api.ReleaseValue);
    for (OrtValue* output : outputs) result.outputs.push_back(from_ort(api, output));
  } catch (const Error& error) {
    result.status = Status(error);
  }
  return result;
}

}  // namespace rh::test
