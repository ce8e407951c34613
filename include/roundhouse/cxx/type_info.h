// Types and shapes of values.
#pragma once

#include "base.h"

namespace Ort {

struct TypeInfo;

namespace detail {

template <typename T>
class TensorInfoApi : public Base<T> {
 public:
  using Base<T>::Base;

  ONNXTensorElementDataType GetElementType() const {
    ONNXTensorElementDataType type;
    ThrowOnError(GetApi().GetTensorElementType(this->p_, &type));
    return type;
  }
  /// Throws where a dimension is symbolic.
  size_t GetElementCount() const {
    size_t count = 0;
    ThrowOnError(GetApi().GetTensorShapeElementCount(this->p_, &count));
    return count;
  }
  size_t GetDimensionsCount() const {
    size_t count = 0;
    ThrowOnError(GetApi().GetDimensionsCount(this->p_, &count));
    return count;
  }
  void GetDimensions(int64_t* values, size_t count) const { ThrowOnError(GetApi().GetDimensions(this->p_, values, count)); }
  void GetSymbolicDimensions(const char** values, size_t count) const {
    ThrowOnError(GetApi().GetSymbolicDimensions(this->p_, values, count));
  }
  /// Names live as long as this.
  std::vector<const char*> GetSymbolicDimensions() const {
    std::vector<const char*> names(GetDimensionsCount(), nullptr);
    GetSymbolicDimensions(names.data(), names.size());
    return names;
  }
  /// -1 for dimensions that are not known.
  std::vector<int64_t> GetShape() const {
    std::vector<int64_t> shape(GetDimensionsCount(), 0);
    GetDimensions(shape.data(), shape.size());
    return shape;
  }
  bool HasShape() const { return GetApi().TensorTypeAndShape_HasShape(this->p_); }
};

}  // namespace detail

using ConstTensorTypeAndShapeInfo = detail::TensorInfoApi<detail::Unowned<const OrtTensorTypeAndShapeInfo>>;

struct TensorTypeAndShapeInfo : detail::TensorInfoApi<OrtTensorTypeAndShapeInfo> {
  TensorTypeAndShapeInfo() = default;
  explicit TensorTypeAndShapeInfo(std::nullptr_t) {}
  explicit TensorTypeAndShapeInfo(OrtTensorTypeAndShapeInfo* handle) : TensorInfoApi(handle) {}
  /// `symbolic_dims` may be null.
  explicit TensorTypeAndShapeInfo(ONNXTensorElementDataType type, const std::vector<int64_t>& dims,
                                  const std::vector<std::string>* symbolic_dims = nullptr) {
    ThrowOnError(GetApi().CreateTensorTypeAndShapeInfo(&p_));
    ThrowOnError(GetApi().SetTensorElementType(p_, type));
    ThrowOnError(GetApi().SetDimensions(p_, dims.data(), dims.size()));
    if (!symbolic_dims) return;
    std::vector<const char*> names;
    for (const std::string& name : *symbolic_dims) names.push_back(name.c_str());
    ThrowOnError(GetApi().SetSymbolicDimensions(p_, names.data(), names.size()));
  }
  ConstTensorTypeAndShapeInfo GetConst() const { return ConstTensorTypeAndShapeInfo(p_); }
};

namespace detail {

template <typename T>
class SequenceInfoApi : public Base<T> {
 public:
  using Base<T>::Base;
  TypeInfo GetSequenceElementType() const;
};

template <typename T>
class MapInfoApi : public Base<T> {
 public:
  using Base<T>::Base;
  ONNXTensorElementDataType GetMapKeyType() const {
    ONNXTensorElementDataType type;
    ThrowOnError(GetApi().GetMapKeyType(this->p_, &type));
    return type;
  }
  TypeInfo GetMapValueType() const;
};

template <typename T>
class OptionalInfoApi : public Base<T> {
 public:
  using Base<T>::Base;
  TypeInfo GetOptionalElementType() const;
};

}  // namespace detail

using ConstSequenceTypeInfo = detail::SequenceInfoApi<detail::Unowned<const OrtSequenceTypeInfo>>;
using ConstMapTypeInfo = detail::MapInfoApi<detail::Unowned<const OrtMapTypeInfo>>;
using ConstOptionalTypeInfo = detail::OptionalInfoApi<detail::Unowned<const OrtOptionalTypeInfo>>;

struct SequenceTypeInfo : detail::SequenceInfoApi<OrtSequenceTypeInfo> {
  explicit SequenceTypeInfo(std::nullptr_t) {}
  explicit SequenceTypeInfo(OrtSequenceTypeInfo* handle) : SequenceInfoApi(handle) {}
  ConstSequenceTypeInfo GetConst() const { return ConstSequenceTypeInfo(p_); }
};

struct MapTypeInfo : detail::MapInfoApi<OrtMapTypeInfo> {
  explicit MapTypeInfo(std::nullptr_t) {}
  explicit MapTypeInfo(OrtMapTypeInfo* handle) : MapInfoApi(handle) {}
  ConstMapTypeInfo GetConst() const { return ConstMapTypeInfo(p_); }
};

namespace detail {

template <typename T>
class TypeInfoApi : public Base<T> {
 public:
  using Base<T>::Base;

  ONNXType GetONNXType() const {
    ONNXType type;
    ThrowOnError(GetApi().GetOnnxTypeFromTypeInfo(this->p_, &type));
    return type;
  }
  /// Each of these is null where the type is of another kind, and lives as long as this.
  ConstTensorTypeAndShapeInfo GetTensorTypeAndShapeInfo() const {
    return Cast<ConstTensorTypeAndShapeInfo>(GetApi().CastTypeInfoToTensorInfo);
  }
  ConstSequenceTypeInfo GetSequenceTypeInfo() const { return Cast<ConstSequenceTypeInfo>(GetApi().CastTypeInfoToSequenceTypeInfo); }
  ConstMapTypeInfo GetMapTypeInfo() const { return Cast<ConstMapTypeInfo>(GetApi().CastTypeInfoToMapTypeInfo); }
  ConstOptionalTypeInfo GetOptionalTypeInfo() const { return Cast<ConstOptionalTypeInfo>(GetApi().CastTypeInfoToOptionalTypeInfo); }
  std::string GetDenotation() const {
    const char* text = nullptr;
    size_t length = 0;
    ThrowOnError(GetApi().GetDenotationFromTypeInfo(this->p_, &text, &length));
    return std::string(text, length);
  }

 private:
  template <typename R, typename F>
  R Cast(F function) const {
    typename R::contained_type* info = nullptr;
    ThrowOnError(function(this->p_, &info));
    return R(info);
  }
};

}  // namespace detail

using ConstTypeInfo = detail::TypeInfoApi<detail::Unowned<const OrtTypeInfo>>;

struct TypeInfo : detail::TypeInfoApi<OrtTypeInfo> {
  TypeInfo() = default;
  explicit TypeInfo(std::nullptr_t) {}
  explicit TypeInfo(OrtTypeInfo* handle) : TypeInfoApi(handle) {}
  ConstTypeInfo GetConst() const { return ConstTypeInfo(p_); }

  // For models built in memory (graph.h).
  static TypeInfo CreateTensorInfo(ConstTensorTypeAndShapeInfo tensor);
  static TypeInfo CreateSparseTensorInfo(ConstTensorTypeAndShapeInfo tensor);
  static TypeInfo CreateSequenceTypeInfo(ConstTypeInfo element);
  static TypeInfo CreateMapTypeInfo(ONNXTensorElementDataType key, ConstTypeInfo value);
  static TypeInfo CreateOptionalTypeInfo(ConstTypeInfo contained);
};

namespace detail {

template <typename T>
TypeInfo SequenceInfoApi<T>::GetSequenceElementType() const {
  OrtTypeInfo* info = nullptr;
  ThrowOnError(GetApi().GetSequenceElementType(this->p_, &info));
  return TypeInfo(info);
}

template <typename T>
TypeInfo MapInfoApi<T>::GetMapValueType() const {
  OrtTypeInfo* info = nullptr;
  ThrowOnError(GetApi().GetMapValueType(this->p_, &info));
  return TypeInfo(info);
}

template <typename T>
TypeInfo OptionalInfoApi<T>::GetOptionalElementType() const {
  OrtTypeInfo* info = nullptr;
  ThrowOnError(GetApi().GetOptionalContainedTypeInfo(this->p_, &info));
  return TypeInfo(info);
}

}  // namespace detail

}  // namespace Ort
