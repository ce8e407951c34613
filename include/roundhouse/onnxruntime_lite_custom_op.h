// Custom operators from plain functions and structs: Ort::Custom::CreateLiteCustomOp reads inputs, outputs and types off the parameters.
// C++17.
//
// Parameters: `const Tensor<T>&` or `const Tensor<T>*` (input), `Tensor<T>&` or `Tensor<T>*` (output), `const Span<T>&` or `const Span<T>*`
// (input in host memory), T (input of one element), each but the references also in std::optional, `const Variadic&` and `Variadic&` (last
// inputs and outputs, of any type), `OrtKernelContext*`, and `const OrtKernelContext&`. T is a number, bool, std::string or
// std::string_view.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "onnxruntime_cxx_api.h"

namespace Ort {
namespace Custom {

/// Elements of a tensor, in its memory.
template <typename T>
struct Span {
  const T* data_ = nullptr;
  size_t size_ = 0;

  void Assign(const T* data, size_t size) {
    data_ = data;
    size_ = size;
  }
  size_t size() const { return size_; }
  const T& operator[](size_t i) const { return data_[i]; }
  const T* data() const { return data_; }
  const T* begin() const { return data_; }
  const T* end() const { return data_ + size_; }
};

/// An input or output of the call under way.
class ArgBase {
 public:
  ArgBase(OrtKernelContext* context, size_t index, bool is_input) : context_(context), index_(index), is_input_(is_input) {}
  virtual ~ArgBase() = default;

 protected:
  KernelContext context_;
  size_t index_;
  bool is_input_;
};

class TensorBase : public ArgBase {
 public:
  TensorBase(OrtKernelContext* context, size_t index, bool is_input) : ArgBase(context, index, is_input) {
    if (!is_input) return;
    input_ = context_.GetInput(index);
    if (static_cast<const OrtValue*>(input_)) Describe(input_);
  }

  operator bool() const { return shape_.has_value(); }
  /// Of an input, or of an output after Allocate.
  const std::vector<int64_t>& Shape() const {
    if (!shape_) ORT_CXX_API_THROW("a tensor's shape is asked for before it has one", ORT_RUNTIME_EXCEPTION);
    return *shape_;
  }
  ONNXTensorElementDataType Type() const { return type_; }
  int64_t NumberOfElement() const {
    int64_t count = 1;
    if (!shape_) return 0;
    for (int64_t dim : *shape_) count *= dim;
    return count;
  }
  std::string Shape2Str() const {
    if (!shape_) return "empty";
    std::string text = "[";
    for (int64_t dim : *shape_) text += (text.size() > 1 ? ", " : "") + std::to_string(dim);
    return text + "]";
  }
  bool IsCpuTensor() const { return is_cpu_; }
  virtual const void* DataRaw() const = 0;
  virtual size_t SizeInBytes() const = 0;

 protected:
  template <typename V>
  void Describe(const V& value) {
    const TensorTypeAndShapeInfo info = value.GetTensorTypeAndShapeInfo();
    type_ = info.GetElementType();
    shape_ = info.GetShape();
    is_cpu_ = value.GetTensorMemoryInfo().GetDeviceType() == OrtMemoryInfoDeviceType_CPU;
  }

  ConstValue input_{nullptr};
  std::optional<std::vector<int64_t>> shape_;
  ONNXTensorElementDataType type_ = ONNX_TENSOR_ELEMENT_DATA_TYPE_UNDEFINED;
  bool is_cpu_ = true;
};

/// Of numbers.
template <typename T>
class Tensor : public TensorBase {
 public:
  using TT = std::remove_const_t<T>;
  Tensor(OrtKernelContext* context, size_t index, bool is_input) : TensorBase(context, index, is_input) {
    if (is_input && *this) data_ = const_cast<TT*>(input_.template GetTensorData<TT>());
  }

  const TT* Data() const { return data_; }
  /// Of an output: memory for it, the same at each call.
  TT* Allocate(const std::vector<int64_t>& shape) {
    if (!data_ && !is_input_) {
      UnownedValue value = context_.GetOutput(index_, shape);
      if (!static_cast<OrtValue*>(value)) ORT_CXX_API_THROW("memory is asked for an output that nobody wants", ORT_RUNTIME_EXCEPTION);
      Describe(value);
      data_ = value.template GetTensorMutableData<TT>();
    }
    return data_;
  }
  const Span<T>& AsSpan() {
    span_.Assign(data_, static_cast<size_t>(NumberOfElement()));
    return span_;
  }
  const T& AsScalar() const {
    if (NumberOfElement() != 1) {
      ORT_CXX_API_THROW("input " + std::to_string(index_) + " has shape " + Shape2Str() + ", expected one element", ORT_RUNTIME_EXCEPTION);
    }
    return *data_;
  }
  const void* DataRaw() const override { return data_; }
  size_t SizeInBytes() const override { return static_cast<size_t>(NumberOfElement()) * sizeof(TT); }

 private:
  TT* data_ = nullptr;
  Span<T> span_;
};

/// Of strings: copies of an input's elements, or views of them.
template <typename S>
class StringTensor : public TensorBase {
 public:
  using strings = std::vector<S>;
  StringTensor(OrtKernelContext* context, size_t index, bool is_input) : TensorBase(context, index, is_input) {
    if (!is_input || !*this) return;
    const size_t count = static_cast<size_t>(NumberOfElement());
    text_.resize(input_.GetStringTensorDataLength());
    std::vector<size_t> offsets(count + 1, text_.size());
    if (count > 0) input_.GetStringTensorContent(text_.data(), text_.size(), offsets.data(), count);
    for (size_t i = 0; i < count; ++i) elements_.emplace_back(text_.data() + offsets[i], offsets[i + 1] - offsets[i]);
  }

  const strings& Data() const { return elements_; }
  /// Of an output.
  void SetStringOutput(const strings& values, const std::vector<int64_t>& dims) {
    std::vector<std::string> kept(values.begin(), values.end());
    std::vector<const char*> pointers;
    for (const std::string& value : kept) pointers.push_back(value.c_str());
    SetStringOutput(pointers, dims);
  }
  void SetStringOutput(const std::vector<const char*>& values, const std::vector<int64_t>& dims) {
    UnownedValue value = context_.GetOutput(index_, dims);
    if (!static_cast<OrtValue*>(value)) ORT_CXX_API_THROW("an output is set that nobody wants", ORT_RUNTIME_EXCEPTION);
    value.FillStringTensor(values.data(), values.size());
    Describe(value);
  }
  const Span<S>& AsSpan() {
    span_.Assign(elements_.data(), elements_.size());
    return span_;
  }
  const S& AsScalar() const {
    if (elements_.size() != 1) {
      ORT_CXX_API_THROW("input " + std::to_string(index_) + " has shape " + Shape2Str() + ", expected one string", ORT_RUNTIME_EXCEPTION);
    }
    return elements_[0];
  }
  const void* DataRaw() const override { return elements_.empty() ? nullptr : elements_[0].data(); }
  size_t SizeInBytes() const override { return text_.size(); }

 private:
  std::string text_;
  strings elements_;
  Span<S> span_;
};

template <>
class Tensor<std::string> : public StringTensor<std::string> {
 public:
  using StringTensor::StringTensor;
};
template <>
class Tensor<std::string_view> : public StringTensor<std::string_view> {
 public:
  using StringTensor::StringTensor;
};

using TensorPtr = std::unique_ptr<TensorBase>;

/// The last inputs or outputs, as many as the node has.
class TensorArray : public ArgBase {
 public:
  TensorArray(OrtKernelContext* context, size_t first, bool is_input) : ArgBase(context, first, is_input) {
    const size_t count = is_input ? context_.GetInputCount() : context_.GetOutputCount();
    if (!is_input) {
      outputs_.resize(count > first ? count - first : 0);
      return;
    }
    for (size_t i = first; i < count; ++i) tensors_.push_back(Input(context, i));
  }

  size_t Size() const { return is_input_ ? tensors_.size() : outputs_.size(); }
  const TensorPtr& operator[](size_t i) const { return is_input_ ? tensors_.at(i) : outputs_.at(i); }
  /// Of outputs: memory for the i-th one.
  template <typename T>
  T* AllocateOutput(size_t i, const std::vector<int64_t>& shape) {
    auto tensor = std::make_unique<Tensor<T>>(context_.GetOrtKernelContext(), index_ + i, false);
    T* data = tensor->Allocate(shape);
    outputs_.at(i) = std::move(tensor);
    return data;
  }
  Tensor<std::string>& AllocateStringTensor(size_t i) {
    auto tensor = std::make_unique<Tensor<std::string>>(context_.GetOrtKernelContext(), index_ + i, false);
    Tensor<std::string>& result = *tensor;
    outputs_.at(i) = std::move(tensor);
    return result;
  }

 private:
  TensorPtr Input(OrtKernelContext* context, size_t i) const {
    const ConstValue value = context_.GetInput(i);
    if (!static_cast<const OrtValue*>(value)) return nullptr;
    switch (value.GetTensorTypeAndShapeInfo().GetElementType()) {
#define ORT_LITE_TENSOR(NUMBER, TYPE) \
  case ONNX_TENSOR_ELEMENT_DATA_TYPE_##NUMBER: return std::make_unique<Tensor<TYPE>>(context, i, true);
      ORT_LITE_TENSOR(BOOL, bool)
      ORT_LITE_TENSOR(FLOAT, float)
      ORT_LITE_TENSOR(DOUBLE, double)
      ORT_LITE_TENSOR(UINT8, uint8_t)
      ORT_LITE_TENSOR(INT8, int8_t)
      ORT_LITE_TENSOR(UINT16, uint16_t)
      ORT_LITE_TENSOR(INT16, int16_t)
      ORT_LITE_TENSOR(UINT32, uint32_t)
      ORT_LITE_TENSOR(INT32, int32_t)
      ORT_LITE_TENSOR(UINT64, uint64_t)
      ORT_LITE_TENSOR(INT64, int64_t)
      ORT_LITE_TENSOR(FLOAT16, Float16_t)
      ORT_LITE_TENSOR(BFLOAT16, BFloat16_t)
      ORT_LITE_TENSOR(STRING, std::string)
#undef ORT_LITE_TENSOR
      default:
        ORT_CXX_API_THROW("input " + std::to_string(i) + " has an element type that lite operators do not take", ORT_NOT_IMPLEMENTED);
    }
  }

  std::vector<TensorPtr> tensors_, outputs_;
};
using Variadic = TensorArray;

namespace detail {

template <typename T>
constexpr ONNXTensorElementDataType ElementType() {
  if constexpr (std::is_same_v<T, std::string> || std::is_same_v<T, std::string_view>) {
    return ONNX_TENSOR_ELEMENT_DATA_TYPE_STRING;
  } else {
    return TypeToTensorType<T>::type;
  }
}

enum class ArgKind { context, input, output };

/// An input or output as the operator declares it.
struct ArgInfo {
  ArgKind kind;
  ONNXTensorElementDataType type = ONNX_TENSOR_ELEMENT_DATA_TYPE_UNDEFINED;
  OrtCustomOpInputOutputCharacteristic characteristic = INPUT_OUTPUT_REQUIRED;
  bool on_host = false;
};

/// Where the next argument stands, and the arguments of the call so far.
struct Call {
  OrtKernelContext* context;
  size_t inputs, outputs;  ///< how many there are
  size_t next_input = 0, next_output = 0;
  std::vector<std::unique_ptr<ArgBase>> args = {};

  template <typename A>
  A& Make(bool is_input) {
    size_t& next = is_input ? next_input : next_output;
    args.push_back(std::make_unique<A>(context, next++, is_input));
    return static_cast<A&>(*args.back());
  }
  /// Whether the node has the next input.
  bool HasInput() const {
    return next_input < inputs && static_cast<const OrtValue*>(KernelContext(context).GetInput(next_input)) != nullptr;
  }
};

/// How a parameter of type P is declared (`info`) and made (`Get`).
template <typename P, typename = void>
struct Arg {
  // A single element.
  using Element = std::remove_cv_t<std::remove_reference_t<P>>;
  static constexpr ArgInfo info{ArgKind::input, ElementType<Element>(), INPUT_OUTPUT_REQUIRED, true};
  static const Element& Get(Call& call) { return call.Make<Tensor<Element>>(true).AsScalar(); }
};
template <typename T>
struct Arg<std::optional<T>, std::enable_if_t<!std::is_pointer_v<T>>> {
  static constexpr ArgInfo info{ArgKind::input, ElementType<T>(), INPUT_OUTPUT_OPTIONAL, true};
  static std::optional<T> Get(Call& call) {
    if (call.HasInput()) return call.Make<Tensor<T>>(true).AsScalar();
    ++call.next_input;
    return std::nullopt;
  }
};
template <>
struct Arg<OrtKernelContext*> {
  static constexpr ArgInfo info{ArgKind::context};
  static OrtKernelContext* Get(Call& call) { return call.context; }
};
template <>
struct Arg<const OrtKernelContext&> {
  static constexpr ArgInfo info{ArgKind::context};
  static const OrtKernelContext& Get(Call& call) { return *call.context; }
};

template <typename T>
struct Arg<const Tensor<T>&> {
  static constexpr ArgInfo info{ArgKind::input, ElementType<T>()};
  static const Tensor<T>& Get(Call& call) { return call.Make<Tensor<T>>(true); }
};
template <typename T>
struct Arg<const Tensor<T>*> {
  static constexpr ArgInfo info{ArgKind::input, ElementType<T>()};
  static const Tensor<T>* Get(Call& call) { return &call.Make<Tensor<T>>(true); }
};
template <typename T>
struct Arg<std::optional<const Tensor<T>*>> {
  static constexpr ArgInfo info{ArgKind::input, ElementType<T>(), INPUT_OUTPUT_OPTIONAL};
  static std::optional<const Tensor<T>*> Get(Call& call) {
    if (call.HasInput()) return &call.Make<Tensor<T>>(true);
    ++call.next_input;
    return std::nullopt;
  }
};
template <typename T>
struct Arg<const Span<T>&> {
  static constexpr ArgInfo info{ArgKind::input, ElementType<T>(), INPUT_OUTPUT_REQUIRED, true};
  static const Span<T>& Get(Call& call) { return call.Make<Tensor<T>>(true).AsSpan(); }
};
template <typename T>
struct Arg<const Span<T>*> {
  static constexpr ArgInfo info{ArgKind::input, ElementType<T>(), INPUT_OUTPUT_REQUIRED, true};
  static const Span<T>* Get(Call& call) { return &call.Make<Tensor<T>>(true).AsSpan(); }
};
template <typename T>
struct Arg<std::optional<const Span<T>*>> {
  static constexpr ArgInfo info{ArgKind::input, ElementType<T>(), INPUT_OUTPUT_OPTIONAL, true};
  static std::optional<const Span<T>*> Get(Call& call) {
    if (call.HasInput()) return &call.Make<Tensor<T>>(true).AsSpan();
    ++call.next_input;
    return std::nullopt;
  }
};
template <>
struct Arg<const TensorArray&> {
  static constexpr ArgInfo info{ArgKind::input, ONNX_TENSOR_ELEMENT_DATA_TYPE_UNDEFINED, INPUT_OUTPUT_VARIADIC};
  static const TensorArray& Get(Call& call) { return call.Make<TensorArray>(true); }
};
template <>
struct Arg<const TensorArray*> {
  static constexpr ArgInfo info{ArgKind::input, ONNX_TENSOR_ELEMENT_DATA_TYPE_UNDEFINED, INPUT_OUTPUT_VARIADIC};
  static const TensorArray* Get(Call& call) { return &call.Make<TensorArray>(true); }
};

template <typename T>
struct Arg<Tensor<T>&> {
  static constexpr ArgInfo info{ArgKind::output, ElementType<T>()};
  static Tensor<T>& Get(Call& call) { return call.Make<Tensor<T>>(false); }
};
template <typename T>
struct Arg<Tensor<T>*> {
  static constexpr ArgInfo info{ArgKind::output, ElementType<T>()};
  static Tensor<T>* Get(Call& call) { return &call.Make<Tensor<T>>(false); }
};
template <typename T>
struct Arg<std::optional<Tensor<T>*>> {
  static constexpr ArgInfo info{ArgKind::output, ElementType<T>(), INPUT_OUTPUT_OPTIONAL};
  static std::optional<Tensor<T>*> Get(Call& call) {
    if (call.next_output < call.outputs) return &call.Make<Tensor<T>>(false);
    return std::nullopt;
  }
};
template <>
struct Arg<TensorArray&> {
  static constexpr ArgInfo info{ArgKind::output, ONNX_TENSOR_ELEMENT_DATA_TYPE_UNDEFINED, INPUT_OUTPUT_VARIADIC};
  static TensorArray& Get(Call& call) { return call.Make<TensorArray>(false); }
};
template <>
struct Arg<TensorArray*> {
  static constexpr ArgInfo info{ArgKind::output, ONNX_TENSOR_ELEMENT_DATA_TYPE_UNDEFINED, INPUT_OUTPUT_VARIADIC};
  static TensorArray* Get(Call& call) { return &call.Make<TensorArray>(false); }
};

/// Calls `function` with the inputs and outputs of the call; a Status that it returns is handed on.
template <typename F, typename... Params>
OrtStatus* Invoke(OrtKernelContext* context, F&& function, std::tuple<Params...>*) {
  const KernelContext wrapped(context);
  Call call{context, wrapped.GetInputCount(), wrapped.GetOutputCount()};
  const auto apply = [&](auto&&... args) { return function(static_cast<decltype(args)>(args)...); };
  // Braces fix the order in which arguments are made.
  std::tuple<decltype(Arg<Params>::Get(call))...> args{Arg<Params>::Get(call)...};
  if constexpr (std::is_same_v<decltype(std::apply(function, args)), Status>) {
    return std::apply(apply, args).release();
  } else {
    std::apply(apply, args);
    return nullptr;
  }
}

template <typename F>
struct Signature;
template <typename R, typename... Params>
struct Signature<R (*)(Params...)> {
  using Parameters = std::tuple<Params...>;
};
template <typename R, typename C, typename... Params>
struct Signature<R (C::*)(Params...)> : Signature<R (*)(Params...)> {};
template <typename R, typename C, typename... Params>
struct Signature<R (C::*)(Params...) const> : Signature<R (*)(Params...)> {};

template <typename... Params>
std::vector<ArgInfo> ArgInfos(std::tuple<Params...>*) {
  return {Arg<Params>::info...};
}

}  // namespace detail

/// A custom operator whose inputs and outputs come from parameters.
struct OrtLiteCustomOp : OrtCustomOp {
  OrtLiteCustomOp(const char* op_name, const char* execution_provider, ShapeInferFn shape_infer_fn, int start_ver, int end_ver,
                  const std::vector<detail::ArgInfo>& args)
      : OrtCustomOp{},
        op_name_(op_name),
        execution_provider_(execution_provider ? execution_provider : ""),
        shape_infer_fn_(shape_infer_fn),
        start_ver_(start_ver),
        end_ver_(end_ver) {
    for (const detail::ArgInfo& arg : args) {
      if (arg.kind == detail::ArgKind::input) inputs_.push_back(arg);
      if (arg.kind == detail::ArgKind::output) outputs_.push_back(arg);
    }
    version = ORT_API_VERSION;
    GetName = [](const OrtCustomOp* op) { return Self(op).op_name_.c_str(); };
    GetExecutionProviderType = [](const OrtCustomOp* op) -> const char* {
      return Self(op).execution_provider_.empty() ? nullptr : Self(op).execution_provider_.c_str();
    };
    GetInputTypeCount = [](const OrtCustomOp* op) { return Self(op).inputs_.size(); };
    GetInputType = [](const OrtCustomOp* op, size_t i) { return Self(op).inputs_[i].type; };
    GetInputCharacteristic = [](const OrtCustomOp* op, size_t i) { return Self(op).inputs_[i].characteristic; };
    GetInputMemoryType = [](const OrtCustomOp* op, size_t i) {
      return Self(op).inputs_[i].on_host ? OrtMemTypeCPUInput : OrtMemTypeDefault;
    };
    GetOutputTypeCount = [](const OrtCustomOp* op) { return Self(op).outputs_.size(); };
    GetOutputType = [](const OrtCustomOp* op, size_t i) { return Self(op).outputs_[i].type; };
    GetOutputCharacteristic = [](const OrtCustomOp* op, size_t i) { return Self(op).outputs_[i].characteristic; };
    GetVariadicInputMinArity = GetVariadicOutputMinArity = [](const OrtCustomOp*) { return 1; };
    GetVariadicInputHomogeneity = GetVariadicOutputHomogeneity = [](const OrtCustomOp*) { return 0; };
    GetStartVersion = [](const OrtCustomOp* op) { return Self(op).start_ver_; };
    GetEndVersion = [](const OrtCustomOp* op) { return Self(op).end_ver_; };
    if (shape_infer_fn_) {
      InferOutputShapeFn = [](const OrtCustomOp* op, OrtShapeInferContext* context) {
        return Ort::detail::StatusOf([&] {
          ShapeInferContext wrapped(&GetApi(), context);
          return Self(op).shape_infer_fn_(wrapped).release();
        });
      };
    }
  }
  virtual ~OrtLiteCustomOp() = default;

 protected:
  static const OrtLiteCustomOp& Self(const OrtCustomOp* op) { return static_cast<const OrtLiteCustomOp&>(*op); }

  std::string op_name_, execution_provider_;
  ShapeInferFn shape_infer_fn_;
  int start_ver_, end_ver_;
  std::vector<detail::ArgInfo> inputs_, outputs_;
};

/// Computed by a function.
template <typename F>
struct OrtLiteCustomFunc : OrtLiteCustomOp {
  using Parameters = typename detail::Signature<F>::Parameters;

  OrtLiteCustomFunc(const char* op_name, const char* execution_provider, F function, ShapeInferFn shape_infer_fn = {}, int start_ver = 1,
                    int end_ver = static_cast<int>(MAX_CUSTOM_OP_END_VER))
      : OrtLiteCustomOp(op_name, execution_provider, shape_infer_fn, start_ver, end_ver,
                        detail::ArgInfos(static_cast<Parameters*>(nullptr))),
        function_(function) {
    CreateKernelV2 = [](const OrtCustomOp* op, const OrtApi*, const OrtKernelInfo*, void** kernel) -> OrtStatus* {
      *kernel = const_cast<OrtCustomOp*>(op);
      return nullptr;
    };
    KernelComputeV2 = [](void* kernel, OrtKernelContext* context) {
      return Ort::detail::StatusOf([&] {
        const auto& op = *static_cast<const OrtLiteCustomFunc*>(static_cast<const OrtCustomOp*>(kernel));
        return detail::Invoke(context, op.function_, static_cast<Parameters*>(nullptr));
      });
    };
    KernelDestroy = [](void*) {};
  }

 private:
  F function_;
};

/// Computed by C::Compute of an object that each kernel has: C(const OrtApi*, const OrtKernelInfo*). `static Status InferOutputShape(
/// ShapeInferContext&)` of C tells shapes.
template <typename C>
struct OrtLiteCustomStruct : OrtLiteCustomOp {
  using Parameters = typename detail::Signature<decltype(&C::Compute)>::Parameters;

  OrtLiteCustomStruct(const char* op_name, const char* execution_provider, int start_ver = 1,
                      int end_ver = static_cast<int>(MAX_CUSTOM_OP_END_VER))
      : OrtLiteCustomOp(op_name, execution_provider, ShapeFunction(), start_ver, end_ver,
                        detail::ArgInfos(static_cast<Parameters*>(nullptr))) {
    CreateKernelV2 = [](const OrtCustomOp*, const OrtApi* api, const OrtKernelInfo* info, void** kernel) {
      return Ort::detail::StatusOf([&]() -> OrtStatus* {
        *kernel = new C(api, info);
        return nullptr;
      });
    };
    KernelComputeV2 = [](void* kernel, OrtKernelContext* context) {
      return Ort::detail::StatusOf([&] {
        const auto compute = [&](auto&&... args) { return static_cast<C*>(kernel)->Compute(static_cast<decltype(args)>(args)...); };
        return detail::Invoke(context, compute, static_cast<Parameters*>(nullptr));
      });
    };
    KernelDestroy = [](void* kernel) { delete static_cast<C*>(kernel); };
  }

 private:
  static ShapeInferFn ShapeFunction() {
    if constexpr (Ort::detail::HasShapeFunction<C>::value) {
      return &C::InferOutputShape;
    } else {
      return nullptr;
    }
  }
};

/// An operator from a function `void f(...)` or `Ort::Status f(...)`; it must outlive the sessions that use it.
template <typename... Params>
OrtLiteCustomOp* CreateLiteCustomOp(const char* op_name, const char* execution_provider, void (*function)(Params...),
                                    Status (*shape_infer_fn)(ShapeInferContext&) = {}, int start_ver = 1,
                                    int end_ver = static_cast<int>(MAX_CUSTOM_OP_END_VER)) {
  return new OrtLiteCustomFunc<void (*)(Params...)>(op_name, execution_provider, function, shape_infer_fn, start_ver, end_ver);
}
template <typename... Params>
OrtLiteCustomOp* CreateLiteCustomOp(const char* op_name, const char* execution_provider, Status (*function)(Params...),
                                    Status (*shape_infer_fn)(ShapeInferContext&) = {}, int start_ver = 1,
                                    int end_ver = static_cast<int>(MAX_CUSTOM_OP_END_VER)) {
  return new OrtLiteCustomFunc<Status (*)(Params...)>(op_name, execution_provider, function, shape_infer_fn, start_ver, end_ver);
}
/// An operator from a struct with a method Compute.
template <typename C>
OrtLiteCustomOp* CreateLiteCustomOp(const char* op_name, const char* execution_provider, int start_ver = 1,
                                    int end_ver = static_cast<int>(MAX_CUSTOM_OP_END_VER)) {
  return new OrtLiteCustomStruct<C>(op_name, execution_provider, start_ver, end_ver);
}

}  // namespace Custom
}  // namespace Ort
