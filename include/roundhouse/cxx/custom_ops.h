// Operators of the user's own.
#pragma once

#include <limits>
#include <stdexcept>

#include "kernels.h"
#include "options.h"

#define MAX_CUSTOM_OP_END_VER ((1UL << 31) - 1)

namespace Ort {

/// What the shape function of a custom operator may ask and say.
struct ShapeInferContext {
  /// A dimension: a number or a name.
  struct SymbolicInteger {
    static constexpr int64_t INVALID_INT_DIM = -2;

    SymbolicInteger(int64_t value) : value_(value) {}
    SymbolicInteger(const char* name) : name_(name) {}
    bool IsInt() const { return name_ == nullptr; }
    int64_t AsInt() const { return value_; }
    const char* AsSym() const { return name_; }
    bool operator==(const SymbolicInteger& other) const {
      if (IsInt() != other.IsInt()) return false;
      return IsInt() ? value_ == other.value_ : std::strcmp(name_, other.name_) == 0;
    }

   private:
    int64_t value_ = INVALID_INT_DIM;
    const char* name_ = nullptr;
  };
  using Shape = std::vector<SymbolicInteger>;
  using Ints = std::vector<int64_t>;
  using Floats = std::vector<float>;
  using Strings = std::vector<std::string>;

  ShapeInferContext(const OrtApi* api, OrtShapeInferContext* context) : api_(api), context_(context) {
    size_t count = 0;
    ThrowOnError(api_->ShapeInferContext_GetInputCount(context_, &count));
    for (size_t i = 0; i < count; ++i) {
      OrtTensorTypeAndShapeInfo* info = nullptr;
      ThrowOnError(api_->ShapeInferContext_GetInputTypeShape(context_, i, &info));
      inputs_.push_back(Read(info));
    }
  }

  size_t GetInputCount() const { return inputs_.size(); }
  /// Empty for scalars and where the shape is not known.
  const Shape& GetInputShape(size_t index) const { return inputs_.at(index); }
  /// The type matters for outputs of any type alone.
  Status SetOutputShape(size_t index, const Shape& shape, ONNXTensorElementDataType type = ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT) {
    OrtTensorTypeAndShapeInfo* info = nullptr;
    if (OrtStatus* status = api_->CreateTensorTypeAndShapeInfo(&info)) return Status(status);
    const TensorTypeAndShapeInfo owned(info);
    Ints numbers;
    std::vector<const char*> names;
    for (const SymbolicInteger& dim : shape) {
      numbers.push_back(dim.IsInt() ? dim.AsInt() : -1);
      names.push_back(dim.IsInt() ? "" : dim.AsSym());
    }
    if (OrtStatus* status = api_->SetTensorElementType(info, type)) return Status(status);
    if (OrtStatus* status = api_->SetDimensions(info, numbers.data(), numbers.size())) return Status(status);
    if (OrtStatus* status = api_->SetSymbolicDimensions(info, names.data(), names.size())) return Status(status);
    return Status(api_->ShapeInferContext_SetOutputTypeShape(context_, index, info));
  }

  int64_t GetAttrInt(const char* name) const { return One<int64_t>(name, ORT_OP_ATTR_INT); }
  float GetAttrFloat(const char* name) const { return One<float>(name, ORT_OP_ATTR_FLOAT); }
  Ints GetAttrInts(const char* name) const { return List<int64_t>(name, ORT_OP_ATTR_INTS); }
  Floats GetAttrFloats(const char* name) const { return List<float>(name, ORT_OP_ATTR_FLOATS); }
  std::string GetAttrString(const char* name) const {
    const std::vector<char> text = List<char>(name, ORT_OP_ATTR_STRING);
    return std::string(text.begin(), text.end());
  }
  Strings GetAttrStrings(const char* name) const {
    const std::vector<char> texts = List<char>(name, ORT_OP_ATTR_STRINGS);
    Strings list;
    for (size_t i = 0; i < texts.size(); i += list.back().size() + 1) list.emplace_back(texts.data() + i);
    return list;
  }

 private:
  Shape Read(const OrtTensorTypeAndShapeInfo* info) const {
    size_t rank = 0;
    ThrowOnError(api_->GetDimensionsCount(info, &rank));
    Ints numbers(rank);
    std::vector<const char*> names(rank, nullptr);
    Shape shape;
    if (rank == 0) return shape;
    ThrowOnError(api_->GetDimensions(info, numbers.data(), rank));
    ThrowOnError(api_->GetSymbolicDimensions(info, names.data(), rank));
    for (size_t i = 0; i < rank; ++i) {
      const bool is_named = names[i] && *names[i];
      shape.push_back(is_named ? SymbolicInteger(names[i]) : SymbolicInteger(numbers[i]));
    }
    return shape;
  }
  const OrtOpAttr* Attribute(const char* name) const {
    const OrtOpAttr* attribute = nullptr;
    ThrowOnError(api_->ShapeInferContext_GetAttribute(context_, name, &attribute));
    return attribute;
  }
  template <typename T>
  T One(const char* name, OrtOpAttrType type) const {
    T value{};
    size_t bytes = 0;
    ThrowOnError(api_->ReadOpAttr(Attribute(name), type, &value, sizeof(value), &bytes));
    return value;
  }
  /// The first call tells the size, and fails where that is not 0.
  template <typename T>
  std::vector<T> List(const char* name, OrtOpAttrType type) const {
    const OrtOpAttr* attribute = Attribute(name);
    size_t bytes = 0;
    const Status sized(api_->ReadOpAttr(attribute, type, nullptr, 0, &bytes));
    if (bytes == 0) {
      ThrowOnError(sized);
      return {};
    }
    std::vector<T> values(bytes / sizeof(T));
    ThrowOnError(api_->ReadOpAttr(attribute, type, values.data(), bytes, &bytes));
    return values;
  }

  const OrtApi* api_;
  OrtShapeInferContext* context_;
  std::vector<Shape> inputs_;
};

namespace detail {

/// Runs a body whose exceptions become the status returned.
template <typename F>
OrtStatus* StatusOf(F&& body) {
#ifdef ORT_NO_EXCEPTIONS
  return body();
#else
  try {
    return body();
  } catch (const Exception& error) {
    return GetApi().CreateStatus(error.GetOrtErrorCode(), error.what());
  } catch (const std::exception& error) {
    return GetApi().CreateStatus(ORT_FAIL, error.what());
  } catch (...) {
    return GetApi().CreateStatus(ORT_FAIL, "unknown exception");
  }
#endif
}

template <typename TOp, typename = void>
struct HasShapeFunction : std::false_type {};
template <typename TOp>
struct HasShapeFunction<TOp, std::void_t<decltype(TOp::InferOutputShape(std::declval<ShapeInferContext&>()))>> : std::true_type {};

}  // namespace detail

using ShapeInferFn = Status (*)(ShapeInferContext&);

/// A custom operator TOp, whose kernel is TKernel. TOp has GetName, GetInputTypeCount, GetInputType, GetOutputTypeCount, GetOutputType and
/// CreateKernel (WithStatus: CreateKernelV2), and may have what else is defined here and `static Status
/// InferOutputShape(ShapeInferContext&)`; TKernel has Compute (WithStatus: ComputeV2).
template <typename TOp, typename TKernel, bool WithStatus = false>
struct CustomOpBase : OrtCustomOp {
  CustomOpBase() : OrtCustomOp{} {
    OrtCustomOp::version = ORT_API_VERSION;
    OrtCustomOp::GetName = [](const OrtCustomOp* op) { return Self(op)->GetName(); };
    OrtCustomOp::GetExecutionProviderType = [](const OrtCustomOp* op) { return Self(op)->GetExecutionProviderType(); };
    OrtCustomOp::GetInputTypeCount = [](const OrtCustomOp* op) { return Self(op)->GetInputTypeCount(); };
    OrtCustomOp::GetInputType = [](const OrtCustomOp* op, size_t i) { return Self(op)->GetInputType(i); };
    OrtCustomOp::GetInputMemoryType = [](const OrtCustomOp* op, size_t i) { return Self(op)->GetInputMemoryType(i); };
    OrtCustomOp::GetInputCharacteristic = [](const OrtCustomOp* op, size_t i) { return Self(op)->GetInputCharacteristic(i); };
    OrtCustomOp::GetOutputTypeCount = [](const OrtCustomOp* op) { return Self(op)->GetOutputTypeCount(); };
    OrtCustomOp::GetOutputType = [](const OrtCustomOp* op, size_t i) { return Self(op)->GetOutputType(i); };
    OrtCustomOp::GetOutputCharacteristic = [](const OrtCustomOp* op, size_t i) { return Self(op)->GetOutputCharacteristic(i); };
    OrtCustomOp::GetVariadicInputMinArity = [](const OrtCustomOp* op) { return Self(op)->GetVariadicInputMinArity(); };
    OrtCustomOp::GetVariadicInputHomogeneity = [](const OrtCustomOp* op) {
      return static_cast<int>(Self(op)->GetVariadicInputHomogeneity());
    };
    OrtCustomOp::GetVariadicOutputMinArity = [](const OrtCustomOp* op) { return Self(op)->GetVariadicOutputMinArity(); };
    OrtCustomOp::GetVariadicOutputHomogeneity = [](const OrtCustomOp* op) {
      return static_cast<int>(Self(op)->GetVariadicOutputHomogeneity());
    };
    OrtCustomOp::GetStartVersion = [](const OrtCustomOp* op) { return Self(op)->start_ver_; };
    OrtCustomOp::GetEndVersion = [](const OrtCustomOp* op) { return Self(op)->end_ver_; };
    SetKernelFunctions();
    if constexpr (detail::HasShapeFunction<TOp>::value) {
      OrtCustomOp::InferOutputShapeFn = [](const OrtCustomOp*, OrtShapeInferContext* context) {
        return detail::StatusOf([&] {
          ShapeInferContext wrapped(&GetApi(), context);
          Status status(TOp::InferOutputShape(wrapped));  // it may return the handle as well
          return status.release();
        });
      };
    }
  }

  const char* GetExecutionProviderType() const { return nullptr; }
  OrtCustomOpInputOutputCharacteristic GetInputCharacteristic(size_t) const { return INPUT_OUTPUT_REQUIRED; }
  OrtCustomOpInputOutputCharacteristic GetOutputCharacteristic(size_t) const { return INPUT_OUTPUT_REQUIRED; }
  OrtMemType GetInputMemoryType(size_t) const { return OrtMemTypeDefault; }
  int GetVariadicInputMinArity() const { return 1; }
  bool GetVariadicInputHomogeneity() const { return true; }
  int GetVariadicOutputMinArity() const { return 1; }
  bool GetVariadicOutputHomogeneity() const { return true; }

  /// Entries of a session's configuration that the operator has asked for by name: "custom_op.<operator>.<key>".
  std::vector<std::string> GetSessionConfigKeys() const { return {}; }
  void GetSessionConfigs(std::unordered_map<std::string, std::string>& out,
                         detail::ConstSessionOptionsApi<detail::Unowned<const OrtSessionOptions>> options) const {
    const TOp* self = static_cast<const TOp*>(this);
    for (const std::string& key : self->GetSessionConfigKeys()) {
      out[key] = options.GetConfigEntryOrDefault(("custom_op." + std::string(self->GetName()) + "." + key).c_str(), "");
    }
  }

 protected:
  int start_ver_ = 1;
  int end_ver_ = std::numeric_limits<int>::max();

 private:
  static const TOp* Self(const OrtCustomOp* op) { return static_cast<const TOp*>(op); }

  void SetKernelFunctions() {
    OrtCustomOp::KernelDestroy = [](void* kernel) { delete static_cast<TKernel*>(kernel); };
    if constexpr (WithStatus) {
      OrtCustomOp::CreateKernelV2 = [](const OrtCustomOp* op, const OrtApi* api, const OrtKernelInfo* info, void** kernel) -> OrtStatus* {
        return detail::StatusOf([&] { return Self(op)->CreateKernelV2(*api, info, kernel); });
      };
      OrtCustomOp::KernelComputeV2 = [](void* kernel, OrtKernelContext* context) -> OrtStatus* {
        return detail::StatusOf([&] { return static_cast<TKernel*>(kernel)->ComputeV2(context); });
      };
    } else {
      OrtCustomOp::CreateKernel = [](const OrtCustomOp* op, const OrtApi* api, const OrtKernelInfo* info) {
        return static_cast<void*>(Self(op)->CreateKernel(*api, info));
      };
      OrtCustomOp::KernelCompute = [](void* kernel, OrtKernelContext* context) { static_cast<TKernel*>(kernel)->Compute(context); };
    }
  }
};

}  // namespace Ort
