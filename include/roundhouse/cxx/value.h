// Tensors, sequences, maps and sparse tensors.
#pragma once

#include "float_types.h"
#include "memory.h"
#include "type_info.h"

namespace Ort {

struct Value;

namespace detail {

/// Dimensions in the caller's memory.
struct ShapeView {
  const int64_t* shape;
  size_t shape_len;
};

/// The values of a sparse tensor: numbers at `p_data`, or so many texts at `str`.
struct OrtSparseValuesParam {
  const int64_t* values_shape;
  size_t values_shape_len;
  union {
    const void* p_data;
    const char** str;
  } data;
};

template <typename T>
class ConstValueApi : public Base<T> {
 public:
  using Base<T>::Base;
  using Shape = ShapeView;
  using OrtSparseValuesParam = detail::OrtSparseValuesParam;

  /// What an opaque value of this type holds.
  template <typename R>
  void GetOpaqueData(const char* domain, const char* type_name, R& out) const {
    ThrowOnError(GetApi().GetOpaqueValue(domain, type_name, this->p_, &out, sizeof(R)));
  }

  bool IsTensor() const { return Flag(GetApi().IsTensor); }
  bool IsSparseTensor() const { return Flag(GetApi().IsSparseTensor); }
  /// False for an optional without content.
  bool HasValue() const { return Flag(GetApi().HasValue); }
  /// Elements of a sequence; 2 for a map.
  size_t GetCount() const {
    size_t count = 0;
    ThrowOnError(GetApi().GetValueCount(this->p_, &count));
    return count;
  }
  /// Element of a sequence; of a map 0 gives the keys, 1 the values.
  Value GetValue(int index, OrtAllocator* allocator) const;

  TypeInfo GetTypeInfo() const {
    OrtTypeInfo* info = nullptr;
    ThrowOnError(GetApi().GetTypeInfo(this->p_, &info));
    return TypeInfo(info);
  }
  TensorTypeAndShapeInfo GetTensorTypeAndShapeInfo() const {
    OrtTensorTypeAndShapeInfo* info = nullptr;
    ThrowOnError(GetApi().GetTensorTypeAndShape(this->p_, &info));
    return TensorTypeAndShapeInfo(info);
  }
  /// The dimensions stay in the value's memory, and change with it.
  void GetTensorElementTypeAndShapeDataReference(ONNXTensorElementDataType& type, ShapeView& shape) const {
    ThrowOnError(GetApi().GetTensorElementTypeAndShapeDataReference(this->p_, &type, &shape.shape, &shape.shape_len));
  }
  ConstMemoryInfo GetTensorMemoryInfo() const {
    const OrtMemoryInfo* info = nullptr;
    ThrowOnError(GetApi().GetTensorMemoryInfo(this->p_, &info));
    return ConstMemoryInfo(info);
  }
  size_t GetTensorSizeInBytes() const {
    size_t size = 0;
    ThrowOnError(GetApi().GetTensorSizeInBytes(this->p_, &size));
    return size;
  }
  const void* GetTensorRawData() const {
    const void* data = nullptr;
    ThrowOnError(GetApi().GetTensorData(this->p_, &data));
    return data;
  }
  template <typename R>
  const R* GetTensorData() const {
    return static_cast<const R*>(GetTensorRawData());
  }
  template <typename R>
  const R& At(const std::vector<int64_t>& position) const {
    void* element = nullptr;
    ThrowOnError(
        GetApi().TensorAt(const_cast<OrtValue*>(static_cast<const OrtValue*>(this->p_)), position.data(), position.size(), &element));
    return *static_cast<const R*>(element);
  }

  size_t GetStringTensorDataLength() const {
    size_t length = 0;
    ThrowOnError(GetApi().GetStringTensorDataLength(this->p_, &length));
    return length;
  }
  void GetStringTensorContent(void* buffer, size_t buffer_length, size_t* offsets, size_t offsets_count) const {
    ThrowOnError(GetApi().GetStringTensorContent(this->p_, buffer, buffer_length, offsets, offsets_count));
  }
  size_t GetStringTensorElementLength(size_t index) const {
    size_t length = 0;
    ThrowOnError(GetApi().GetStringTensorElementLength(this->p_, index, &length));
    return length;
  }
  void GetStringTensorElement(size_t buffer_length, size_t index, void* buffer) const {
    ThrowOnError(GetApi().GetStringTensorElement(this->p_, buffer_length, index, buffer));
  }
  std::string GetStringTensorElement(size_t index) const {
    std::string text(GetStringTensorElementLength(index), '\0');
    GetStringTensorElement(text.size(), index, text.data());
    return text;
  }

  OrtSparseFormat GetSparseFormat() const {
    OrtSparseFormat format;
    ThrowOnError(GetApi().GetSparseTensorFormat(this->p_, &format));
    return format;
  }
  TensorTypeAndShapeInfo GetSparseTensorValuesTypeAndShapeInfo() const {
    OrtTensorTypeAndShapeInfo* info = nullptr;
    ThrowOnError(GetApi().GetSparseTensorValuesTypeAndShape(this->p_, &info));
    return TensorTypeAndShapeInfo(info);
  }
  TensorTypeAndShapeInfo GetSparseTensorIndicesTypeShapeInfo(OrtSparseIndicesFormat format) const {
    OrtTensorTypeAndShapeInfo* info = nullptr;
    ThrowOnError(GetApi().GetSparseTensorIndicesTypeShape(this->p_, format, &info));
    return TensorTypeAndShapeInfo(info);
  }
  template <typename R>
  const R* GetSparseTensorValues() const {
    const void* data = nullptr;
    ThrowOnError(GetApi().GetSparseTensorValues(this->p_, &data));
    return static_cast<const R*>(data);
  }
  template <typename R>
  const R* GetSparseTensorIndicesData(OrtSparseIndicesFormat format, size_t& count) const {
    const void* data = nullptr;
    ThrowOnError(GetApi().GetSparseTensorIndices(this->p_, format, &count, &data));
    return static_cast<const R*>(data);
  }

 private:
  template <typename F>
  bool Flag(F function) const {
    int flag = 0;
    ThrowOnError(function(this->p_, &flag));
    return flag != 0;
  }
};

template <typename T>
class ValueApi : public ConstValueApi<T> {
 public:
  using ConstValueApi<T>::ConstValueApi;

  void* GetTensorMutableRawData() {
    void* data = nullptr;
    ThrowOnError(GetApi().GetTensorMutableData(this->p_, &data));
    return data;
  }
  template <typename R>
  R* GetTensorMutableData() {
    return static_cast<R*>(GetTensorMutableRawData());
  }
  using ConstValueApi<T>::At;
  template <typename R>
  R& At(const std::vector<int64_t>& position) {
    void* element = nullptr;
    ThrowOnError(GetApi().TensorAt(this->p_, position.data(), position.size(), &element));
    return *static_cast<R*>(element);
  }

  void FillStringTensor(const char* const* strings, size_t count) { ThrowOnError(GetApi().FillStringTensor(this->p_, strings, count)); }
  void FillStringTensorElement(const char* string, size_t index) {
    ThrowOnError(GetApi().FillStringTensorElement(this->p_, string, index));
  }
  char* GetResizedStringTensorElementBuffer(size_t index, size_t length) {
    char* buffer = nullptr;
    ThrowOnError(GetApi().GetResizedStringTensorElementBuffer(this->p_, index, length, &buffer));
    return buffer;
  }

  void UseCooIndices(int64_t* indices, size_t count) { ThrowOnError(GetApi().UseCooIndices(this->p_, indices, count)); }
  void UseCsrIndices(int64_t* inner, size_t inner_count, int64_t* outer, size_t outer_count) {
    ThrowOnError(GetApi().UseCsrIndices(this->p_, inner, inner_count, outer, outer_count));
  }
  void UseBlockSparseIndices(const ShapeView& shape, int32_t* indices) {
    ThrowOnError(GetApi().UseBlockSparseIndices(this->p_, shape.shape, shape.shape_len, indices));
  }
  void FillSparseTensorCoo(const OrtMemoryInfo* info, const OrtSparseValuesParam& values, const int64_t* indices, size_t indices_count) {
    ThrowOnError(GetApi().FillSparseTensorCoo(this->p_, info, values.values_shape, values.values_shape_len, values.data.p_data, indices,
                                              indices_count));
  }
  void FillSparseTensorCsr(const OrtMemoryInfo* info, const OrtSparseValuesParam& values, const int64_t* inner, size_t inner_count,
                           const int64_t* outer, size_t outer_count) {
    ThrowOnError(GetApi().FillSparseTensorCsr(this->p_, info, values.values_shape, values.values_shape_len, values.data.p_data, inner,
                                              inner_count, outer, outer_count));
  }
  void FillSparseTensorBlockSparse(const OrtMemoryInfo* info, const OrtSparseValuesParam& values, const ShapeView& indices_shape,
                                   const int32_t* indices) {
    ThrowOnError(GetApi().FillSparseTensorBlockSparse(this->p_, info, values.values_shape, values.values_shape_len, values.data.p_data,
                                                      indices_shape.shape, indices_shape.shape_len, indices));
  }
  void UseBlockSparseIndices(const std::vector<int64_t>& shape, int32_t* indices) {
    ThrowOnError(GetApi().UseBlockSparseIndices(this->p_, shape.data(), shape.size(), indices));
  }
  void FillSparseTensorCoo(const OrtMemoryInfo* info, const std::vector<int64_t>& values_shape, const void* values, const int64_t* indices,
                           size_t indices_count) {
    ThrowOnError(GetApi().FillSparseTensorCoo(this->p_, info, values_shape.data(), values_shape.size(), values, indices, indices_count));
  }
  void FillSparseTensorCsr(const OrtMemoryInfo* info, const std::vector<int64_t>& values_shape, const void* values, const int64_t* inner,
                           size_t inner_count, const int64_t* outer, size_t outer_count) {
    ThrowOnError(GetApi().FillSparseTensorCsr(this->p_, info, values_shape.data(), values_shape.size(), values, inner, inner_count, outer,
                                              outer_count));
  }
};

}  // namespace detail

using ConstValue = detail::ConstValueApi<detail::Unowned<const OrtValue>>;
using UnownedValue = detail::ValueApi<detail::Unowned<OrtValue>>;

/// Anything that goes into a session or comes out of it.
struct Value : detail::ValueApi<OrtValue> {
  Value() = default;
  explicit Value(std::nullptr_t) {}
  explicit Value(OrtValue* handle) : ValueApi(handle) {}

  ConstValue GetConst() const { return ConstValue(p_); }
  UnownedValue GetUnowned() const { return UnownedValue(p_); }

  /// Over the caller's memory, which must outlive the value; `count` elements.
  template <typename T>
  static Value CreateTensor(const OrtMemoryInfo* info, T* data, size_t count, const int64_t* shape, size_t rank) {
    return CreateTensor(info, data, count * sizeof(T), shape, rank, TypeToTensorType<T>::type);
  }
  static Value CreateTensor(const OrtMemoryInfo* info, void* data, size_t bytes, const int64_t* shape, size_t rank,
                            ONNXTensorElementDataType type) {
    OrtValue* value = nullptr;
    ThrowOnError(GetApi().CreateTensorWithDataAsOrtValue(info, data, bytes, shape, rank, type, &value));
    return Value(value);
  }
  /// The same; `deleter` frees the memory with the value.
  static Value CreateTensor(OrtAllocator* deleter, void* data, size_t bytes, const int64_t* shape, size_t rank,
                            ONNXTensorElementDataType type) {
    OrtValue* value = nullptr;
    ThrowOnError(GetApi().CreateTensorWithDataAndDeleterAsOrtValue(deleter, data, bytes, shape, rank, type, &value));
    return Value(value);
  }
  /// In memory of the allocator, not initialised; strings are empty.
  template <typename T>
  static Value CreateTensor(OrtAllocator* allocator, const int64_t* shape, size_t rank) {
    return CreateTensor(allocator, shape, rank, TypeToTensorType<T>::type);
  }
  static Value CreateTensor(OrtAllocator* allocator, const int64_t* shape, size_t rank, ONNXTensorElementDataType type) {
    OrtValue* value = nullptr;
    ThrowOnError(GetApi().CreateTensorAsOrtValue(allocator, shape, rank, type, &value));
    return Value(value);
  }

  static Value CreateSequence(const std::vector<Value>& values) { return CreateOf(values, ONNX_TYPE_SEQUENCE); }
  static Value CreateMap(const Value& keys, const Value& values) {
    const OrtValue* parts[] = {keys, values};
    OrtValue* out = nullptr;
    ThrowOnError(GetApi().CreateValue(parts, 2, ONNX_TYPE_MAP, &out));
    return Value(out);
  }

  template <typename T>
  static Value CreateOpaque(const char* domain, const char* type_name, const T& content) {
    OrtValue* value = nullptr;
    ThrowOnError(GetApi().CreateOpaqueValue(domain, type_name, &content, sizeof(T), &value));
    return Value(value);
  }

  template <typename T>
  static Value CreateSparseTensor(OrtAllocator* allocator, const Shape& dense_shape) {
    return CreateSparseTensor(allocator, dense_shape, TypeToTensorType<T>::type);
  }
  static Value CreateSparseTensor(OrtAllocator* allocator, const Shape& dense_shape, ONNXTensorElementDataType type) {
    OrtValue* value = nullptr;
    ThrowOnError(GetApi().CreateSparseTensorAsOrtValue(allocator, dense_shape.shape, dense_shape.shape_len, type, &value));
    return Value(value);
  }
  template <typename T>
  static Value CreateSparseTensor(const OrtMemoryInfo* info, T* values, const Shape& dense_shape, const Shape& values_shape) {
    return CreateSparseTensor(info, values, dense_shape, values_shape, TypeToTensorType<T>::type);
  }
  static Value CreateSparseTensor(const OrtMemoryInfo* info, void* values, const Shape& dense_shape, const Shape& values_shape,
                                  ONNXTensorElementDataType type) {
    OrtValue* value = nullptr;
    ThrowOnError(GetApi().CreateSparseTensorWithValuesAsOrtValue(info, values, dense_shape.shape, dense_shape.shape_len, values_shape.shape,
                                                                 values_shape.shape_len, type, &value));
    return Value(value);
  }
  /// Empty; to be filled.
  static Value CreateSparseTensor(OrtAllocator* allocator, const std::vector<int64_t>& dense_shape, ONNXTensorElementDataType type) {
    OrtValue* value = nullptr;
    ThrowOnError(GetApi().CreateSparseTensorAsOrtValue(allocator, dense_shape.data(), dense_shape.size(), type, &value));
    return Value(value);
  }
  /// Over the caller's values; indices follow with one of the Use functions.
  static Value CreateSparseTensor(const OrtMemoryInfo* info, void* values, const std::vector<int64_t>& dense_shape,
                                  const std::vector<int64_t>& values_shape, ONNXTensorElementDataType type) {
    OrtValue* value = nullptr;
    ThrowOnError(GetApi().CreateSparseTensorWithValuesAsOrtValue(info, values, dense_shape.data(), dense_shape.size(), values_shape.data(),
                                                                 values_shape.size(), type, &value));
    return Value(value);
  }

 private:
  static Value CreateOf(const std::vector<Value>& values, ONNXType kind) {
    std::vector<const OrtValue*> parts(values.begin(), values.end());
    OrtValue* out = nullptr;
    ThrowOnError(GetApi().CreateValue(parts.data(), parts.size(), kind, &out));
    return Value(out);
  }
};

// Arrays of Value are handed to the C ABI as arrays of pointers.
static_assert(sizeof(Value) == sizeof(OrtValue*));

namespace detail {

template <typename T>
Value ConstValueApi<T>::GetValue(int index, OrtAllocator* allocator) const {
  OrtValue* out = nullptr;
  ThrowOnError(GetApi().GetValue(this->p_, index, allocator, &out));
  return Value(out);
}

}  // namespace detail

}  // namespace Ort
