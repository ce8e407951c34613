// Values that are tensors.
#include <cstring>

#include "abi/allocator.h"
#include "abi/element_type.h"
#include "abi/value.h"
#include "base/known_words.h"
#include "capi/guard.h"
#include "capi/table.h"

namespace rh::capi {

namespace {

DType element_type(ONNXTensorElementDataType type) {
  const DType dtype = abi::to_dtype(type);
  if (dtype == DType::undefined) fail(ErrorCode::not_implemented, "tensor element type {} is not known", static_cast<int>(type));
  return dtype;
}

Tensor& tensor_of(OrtValue* value) {
  Value& content = checked(value, "value").value;
  if (!content.is_tensor()) fail(ErrorCode::runtime_exception, "the value is not a tensor");
  return content.tensor();
}

const Tensor& tensor_of(const OrtValue* value) { return tensor_of(const_cast<OrtValue*>(value)); }

std::span<std::string> strings_of(OrtValue* value) {
  Tensor& tensor = tensor_of(value);
  if (tensor.dtype() != DType::string) {
    fail(ErrorCode::fail, "the tensor holds elements of type {}, not strings", to_string(tensor.dtype()));
  }
  return {tensor.data<std::string>(), static_cast<size_t>(tensor.elements())};
}

std::span<const std::string> strings_of(const OrtValue* value) { return strings_of(const_cast<OrtValue*>(value)); }

std::string& string_at(OrtValue* value, size_t index) {
  const std::span<std::string> strings = strings_of(value);
  if (index >= strings.size()) fail(ErrorCode::invalid_argument, "element {} is out of bounds: the tensor has {}", index, strings.size());
  return strings[index];
}

/// A tensor over the caller's memory.
Tensor wrap(DType dtype, const Shape& shape, void* data, size_t bytes, std::shared_ptr<const void> owner, const OrtMemoryInfo& info) {
  const size_t needed = bytes_of(dtype, shape.elements());
  if (bytes < needed) {
    fail(ErrorCode::invalid_argument, "tensor {}{}: {} bytes are needed, {} given", to_string(dtype), shape.to_string(), needed, bytes);
  }
  return Tensor(dtype, shape, data, std::move(owner), abi::device_of(info));
}

}  // namespace

OrtStatus* ORT_API_CALL CreateTensorAsOrtValue(OrtAllocator* allocator, const int64_t* dims, size_t rank, ONNXTensorElementDataType type,
                                               OrtValue** out) {
  return guard([&] {
    OrtAllocator& source = checked(allocator, "allocator");
    OrtValue*& result = checked(out, "out");
    const DType dtype = element_type(type);
    auto value = std::make_unique<OrtValue>(abi::allocate_tensor(source, dtype, abi::checked_shape(dims, rank, dtype)));
    const OrtMemoryInfo* info = source.Info ? source.Info(allocator) : nullptr;
    if (info && info != &abi::host_memory_info()) value->memory = std::make_shared<OrtMemoryInfo>(*info);
    result = value.release();
  });
}

OrtStatus* ORT_API_CALL CreateTensorWithDataAsOrtValue(const OrtMemoryInfo* info, void* data, size_t bytes, const int64_t* dims,
                                                       size_t rank, ONNXTensorElementDataType type, OrtValue** out) {
  return guard([&] {
    const OrtMemoryInfo& where = checked(info, "info");
    OrtValue*& result = checked(out, "out");
    const DType dtype = element_type(type);
    Tensor tensor = wrap(dtype, abi::checked_shape(dims, rank, dtype), data, bytes, nullptr, where);
    result = new OrtValue(std::move(tensor), std::make_shared<OrtMemoryInfo>(where));
  });
}

OrtStatus* ORT_API_CALL CreateTensorWithDataAndDeleterAsOrtValue(OrtAllocator* deleter, void* data, size_t bytes, const int64_t* dims,
                                                                 size_t rank, ONNXTensorElementDataType type, OrtValue** out) {
  return guard([&] {
    OrtAllocator& source = checked(deleter, "deleter");
    OrtValue*& result = checked(out, "out");
    const DType dtype = element_type(type);
    const Shape shape = abi::checked_shape(dims, rank, dtype);
    auto where = std::make_shared<OrtMemoryInfo>(checked(source.Info(deleter), "deleter's memory information"));
    wrap(dtype, shape, data, bytes, nullptr, *where);  // checks before the memory is taken over
    auto value = std::make_unique<OrtValue>();
    std::shared_ptr<const void> owner(data, [deleter](const void* p) { deleter->Free(deleter, const_cast<void*>(p)); });
    value->value = wrap(dtype, shape, data, bytes, std::move(owner), *where);
    value->memory = std::move(where);
    result = value.release();
  });
}

void ORT_API_CALL ReleaseValue(OrtValue* value) { delete value; }

OrtStatus* ORT_API_CALL IsTensor(const OrtValue* value, int* out) {
  return guard([&] { checked(out, "out") = checked(value, "value").value.is_tensor() ? 1 : 0; });
}

OrtStatus* ORT_API_CALL HasValue(const OrtValue* value, int* out) {
  return guard([&] {
    const Value& content = checked(value, "value").value;
    checked(out, "out");
    *out = content.empty() || content.is_none() ? 0 : 1;
  });
}

OrtStatus* ORT_API_CALL GetTensorMutableData(OrtValue* value, void** out) {
  return guard([&] { checked(out, "out") = tensor_of(value).raw(); });
}

OrtStatus* ORT_API_CALL GetTensorData(const OrtValue* value, const void** out) {
  return guard([&] { checked(out, "out") = tensor_of(value).raw(); });
}

OrtStatus* ORT_API_CALL GetTensorSizeInBytes(const OrtValue* value, size_t* size) {
  return guard([&] {
    const Tensor& tensor = tensor_of(value);
    if (tensor.dtype() == DType::string) fail(ErrorCode::invalid_argument, "the size in bytes of a string tensor is not defined");
    checked(size, "size") = tensor.bytes();
  });
}

OrtStatus* ORT_API_CALL GetTensorMemoryInfo(const OrtValue* value, const OrtMemoryInfo** out) {
  return guard([&] {
    if (const Value& content = checked(value, "value").value; !content.is_sparse()) tensor_of(value);
    checked(out, "mem_info") = &value->memory_info();
  });
}

OrtStatus* ORT_API_CALL GetTensorElementTypeAndShapeDataReference(const OrtValue* value, ONNXTensorElementDataType* type,
                                                                  const int64_t** dims, size_t* rank) {
  return guard([&] {
    const Tensor& tensor = tensor_of(value);
    checked(type, "elem_type") = abi::to_element_type(tensor.dtype());
    checked(dims, "shape_data") = tensor.shape().data();
    checked(rank, "shape_data_count") = tensor.shape().size();
  });
}

OrtStatus* ORT_API_CALL TensorAt(OrtValue* value, const int64_t* position, size_t count, void** out) {
  return guard([&] {
    Tensor& tensor = tensor_of(value);
    checked_array(position, count, "location_values");
    const int bits = bits_of(tensor.dtype());
    if (bits == 0 || bits % 8 != 0) {
      fail(ErrorCode::invalid_argument, "{} Elements of type {} have no address of their own", words::kPackedElements,
           to_string(tensor.dtype()));
    }
    if (count != tensor.shape().size()) {
      fail(ErrorCode::invalid_argument, "a position of {} numbers was given for shape {}", count, tensor.shape().to_string());
    }
    const Shape strides = strides_of(tensor.shape());
    int64_t offset = 0;
    for (size_t i = 0; i < count; ++i) {
      if (position[i] < 0 || position[i] >= tensor.shape()[i]) {
        fail(ErrorCode::invalid_argument, "position {} of dimension {} is out of range for shape {}", position[i], i,
             tensor.shape().to_string());
      }
      offset += position[i] * strides[i];
    }
    checked(out, "out") = tensor.data<char>() + offset * (bits / 8);
  });
}

// Strings

OrtStatus* ORT_API_CALL FillStringTensor(OrtValue* value, const char* const* strings, size_t count) {
  return guard([&] {
    const std::span<std::string> target = strings_of(value);
    checked_array(strings, count, "s");
    if (count != target.size()) fail(ErrorCode::invalid_argument, "{} strings were given for a tensor of {}", count, target.size());
    for (size_t i = 0; i < count; ++i) target[i] = &checked(strings[i], "s[i]");
  });
}

OrtStatus* ORT_API_CALL FillStringTensorElement(OrtValue* value, const char* string, size_t index) {
  return guard([&] { string_at(value, index) = &checked(string, "s"); });
}

OrtStatus* ORT_API_CALL GetResizedStringTensorElementBuffer(OrtValue* value, size_t index, size_t length, char** buffer) {
  return guard([&] {
    std::string& element = string_at(value, index);
    checked(buffer, "buffer") = nullptr;
    element.resize(length);
    *buffer = element.data();
  });
}

OrtStatus* ORT_API_CALL GetStringTensorDataLength(const OrtValue* value, size_t* out) {
  return guard([&] {
    size_t total = 0;
    for (const std::string& element : strings_of(value)) total += element.size();
    checked(out, "len") = total;
  });
}

OrtStatus* ORT_API_CALL GetStringTensorContent(const OrtValue* value, void* buffer, size_t bytes, size_t* offsets, size_t count) {
  return guard([&] {
    const std::span<const std::string> strings = strings_of(value);
    checked_array(static_cast<char*>(buffer), bytes, "s");
    checked_array(offsets, count, "offsets");
    if (count != strings.size()) fail(ErrorCode::fail, "{} offsets were given for a tensor of {} strings", count, strings.size());
    size_t total = 0;
    for (const std::string& element : strings) total += element.size();
    if (bytes < total) fail(ErrorCode::fail, "the strings take {} bytes, {} were given", total, bytes);
    char* at = static_cast<char*>(buffer);
    for (size_t i = 0; i < count; ++i) {
      offsets[i] = static_cast<size_t>(at - static_cast<char*>(buffer));
      std::memcpy(at, strings[i].data(), strings[i].size());
      at += strings[i].size();
    }
  });
}

OrtStatus* ORT_API_CALL GetStringTensorElementLength(const OrtValue* value, size_t index, size_t* out) {
  return guard([&] { checked(out, "out") = string_at(const_cast<OrtValue*>(value), index).size(); });
}

OrtStatus* ORT_API_CALL GetStringTensorElement(const OrtValue* value, size_t bytes, size_t index, void* buffer) {
  return guard([&] {
    const std::string& element = string_at(const_cast<OrtValue*>(value), index);
    if (bytes < element.size()) fail(ErrorCode::fail, "string {} takes {} bytes, {} were given", index, element.size(), bytes);
    std::memcpy(checked_array(static_cast<char*>(buffer), element.size(), "s"), element.data(), element.size());
  });
}

}  // namespace rh::capi
