// A library of custom operators, domain "test.ops", for the tests that register it in Roundhouse and in another runtime of the interface.
#include <cstring>
#include <stdexcept>
#include <tuple>

#include "plugins/lite_custom_ops.h"

namespace {

constexpr auto kFloat = ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT;
constexpr auto kInt64 = ONNX_TENSOR_ELEMENT_DATA_TYPE_INT64;
constexpr auto kAny = ONNX_TENSOR_ELEMENT_DATA_TYPE_UNDEFINED;

size_t count_of(const Ort::ConstValue& value) { return value.GetTensorTypeAndShapeInfo().GetElementCount(); }

/// What the kernels here share: its node, and functions for inputs and outputs of floats.
struct Kernel {
  explicit Kernel(const OrtKernelInfo* kernel_info) : info(Ort::ConstKernelInfo(kernel_info).Copy()) {}

  static const float* input(const Ort::KernelContext& context, size_t i) { return context.GetInput(i).GetTensorData<float>(); }
  static float* output_like(const Ort::KernelContext& context, size_t like) {
    return context.GetOutput(0, context.GetInput(like).GetTensorTypeAndShapeInfo().GetShape()).GetTensorMutableData<float>();
  }

  Ort::KernelInfo info;
};

/// An operator with `inputs` inputs of one type and one output of another; kernels of class K, which computes in Compute.
template <typename Op, typename K, ONNXTensorElementDataType kIn, ONNXTensorElementDataType kOut, size_t kInputs = 1>
struct Simple : Ort::CustomOpBase<Op, K> {
  void* CreateKernel(const OrtApi&, const OrtKernelInfo* info) const { return new K(info); }
  size_t GetInputTypeCount() const { return kInputs; }
  ONNXTensorElementDataType GetInputType(size_t) const { return kIn; }
  size_t GetOutputTypeCount() const { return 1; }
  ONNXTensorElementDataType GetOutputType(size_t) const { return kOut; }
};

// y = a + scale * b + sum(table) + constant
struct AddScaledKernel : Kernel {
  explicit AddScaledKernel(const OrtKernelInfo* kernel_info) : Kernel(kernel_info), scale(info.GetAttribute<float>("scale")) {
    for (float value : info.GetAttributes<float>("more")) bias += value;
    for (int64_t value : info.GetAttributes<int64_t>("counts")) bias += static_cast<float>(value);
    for (const std::string& text : info.GetAttributes<std::string>("names")) bias += static_cast<float>(text.size());
    bias += static_cast<float>(info.GetAttribute<std::string>("label").size());
    Ort::AllocatorWithDefaultOptions allocator;
    const Ort::Value table = info.GetTensorAttribute("table", allocator);
    for (size_t i = 0; i < count_of(table.GetConst()); ++i) bias += table.GetTensorData<float>()[i];
    int is_constant = 0;
    const Ort::ConstValue constant = info.GetTensorConstantInput(2, &is_constant);
    bias += is_constant ? constant.GetTensorData<float>()[0] : -1000.f;
    if (info.GetNodeName() != "y_node" || info.GetInputName(1) != "b" || info.GetOutputName(0) != "y" || info.GetInputCount() != 3 ||
        info.GetOutputCount() != 1 || info.GetInputTypeInfo(0).GetTensorTypeAndShapeInfo().GetElementType() != kFloat) {
      throw std::runtime_error("the node is described wrongly: " + info.GetNodeName() + " " + info.GetInputName(1));
    }
    ORT_CXX_LOG(info.GetLogger(), ORT_LOGGING_LEVEL_INFO, "a kernel of AddScaled");
  }
  void Compute(OrtKernelContext* raw) {
    const Ort::KernelContext context(raw);
    const float *a = input(context, 0), *b = input(context, 1);
    float* y = output_like(context, 0);
    for (size_t i = 0; i < count_of(context.GetInput(0)); ++i) y[i] = a[i] + scale * b[i] + bias;
  }

  float scale, bias = 0;
};
struct AddScaled : Simple<AddScaled, AddScaledKernel, kFloat, kFloat, 3> {
  const char* GetName() const { return "AddScaled"; }
  static Ort::Status InferOutputShape(Ort::ShapeInferContext& context) {
    if (context.GetAttrFloat("scale") > 100 || context.GetAttrInts("counts").empty() || context.GetAttrFloats("more").empty() ||
        context.GetAttrString("label").empty()) {
      return Ort::Status("the scale is too large", ORT_INVALID_ARGUMENT);
    }
    return context.SetOutputShape(0, context.GetInputShape(0));
  }
};

// Two operators of one name
template <typename T>
struct TwiceKernel : Kernel {
  using Kernel::Kernel;
  void Compute(OrtKernelContext* raw) {
    const Ort::KernelContext context(raw);
    const Ort::ConstValue x = context.GetInput(0);
    T* y = context.GetOutput(0, x.GetTensorTypeAndShapeInfo().GetShape()).GetTensorMutableData<T>();
    for (size_t i = 0; i < count_of(x); ++i) y[i] = 2 * x.GetTensorData<T>()[i];
  }
};
template <typename T, ONNXTensorElementDataType kType>
struct Twice : Simple<Twice<T, kType>, TwiceKernel<T>, kType, kType> {
  const char* GetName() const { return "Twice"; }
};

// The sum of two or more
struct SumAllKernel : Kernel {
  using Kernel::Kernel;
  void Compute(OrtKernelContext* raw) {
    const Ort::KernelContext context(raw);
    float* y = output_like(context, 0);
    const size_t count = count_of(context.GetInput(0));
    for (size_t i = 0; i < count; ++i) y[i] = 0;
    for (size_t k = 0; k < context.GetInputCount(); ++k) {
      for (size_t i = 0; i < count; ++i) y[i] += input(context, k)[i];
    }
  }
};
struct SumAll : Simple<SumAll, SumAllKernel, kFloat, kFloat> {
  const char* GetName() const { return "SumAll"; }
  OrtCustomOpInputOutputCharacteristic GetInputCharacteristic(size_t) const { return INPUT_OUTPUT_VARIADIC; }
  int GetVariadicInputMinArity() const { return 2; }
};

// y = x, plus the second input where there is one; the second output counts the inputs, where it is wanted
struct MaybeAddKernel : Kernel {
  using Kernel::Kernel;
  void Compute(OrtKernelContext* raw) {
    const Ort::KernelContext context(raw);
    const Ort::ConstValue more = context.GetInputCount() > 1 ? context.GetInput(1) : Ort::ConstValue(nullptr);
    const bool has_more = static_cast<const OrtValue*>(more) != nullptr;
    float* y = output_like(context, 0);
    for (size_t i = 0; i < count_of(context.GetInput(0)); ++i)
      y[i] = input(context, 0)[i] + (has_more ? more.GetTensorData<float>()[i] : 0.f);
    if (context.GetOutputCount() < 2) return;
    Ort::UnownedValue count = context.GetOutput(1, std::vector<int64_t>{});
    if (static_cast<OrtValue*>(count)) *count.GetTensorMutableData<int64_t>() = has_more ? 2 : 1;
  }
};
struct MaybeAdd : Simple<MaybeAdd, MaybeAddKernel, kFloat, kFloat, 2> {
  const char* GetName() const { return "MaybeAdd"; }
  OrtCustomOpInputOutputCharacteristic GetInputCharacteristic(size_t i) const {
    return i == 0 ? INPUT_OUTPUT_REQUIRED : INPUT_OUTPUT_OPTIONAL;
  }
  size_t GetOutputTypeCount() const { return 2; }
  ONNXTensorElementDataType GetOutputType(size_t i) const { return i == 0 ? kFloat : kInt64; }
  OrtCustomOpInputOutputCharacteristic GetOutputCharacteristic(size_t i) const {
    return i == 0 ? INPUT_OUTPUT_REQUIRED : INPUT_OUTPUT_OPTIONAL;
  }
};

// The input's bytes, of any type
struct CopyAnyKernel : Kernel {
  using Kernel::Kernel;
  void Compute(OrtKernelContext* raw) {
    const Ort::KernelContext context(raw);
    const Ort::ConstValue x = context.GetInput(0);
    Ort::UnownedValue y = context.GetOutput(0, x.GetTensorTypeAndShapeInfo().GetShape());
    std::memcpy(y.GetTensorMutableRawData(), x.GetTensorRawData(), x.GetTensorSizeInBytes());
  }
};
struct CopyAny : Simple<CopyAny, CopyAnyKernel, kAny, kAny> {
  const char* GetName() const { return "CopyAny"; }
};

// x + 1, computed by the runtime's Add; the largest two by its TopK
struct StandaloneKernel : Kernel {
  explicit StandaloneKernel(const OrtKernelInfo* kernel_info) : Kernel(kernel_info) {
    const char* names[] = {"T"};
    const ONNXTensorElementDataType types[] = {kFloat};
    add = Ort::Op::Create(info, "Add", "", 14, names, types, 1, nullptr, 0, 2, 1);
    const char* top_names[] = {"T", "I"};
    const ONNXTensorElementDataType top_types[] = {kFloat, kInt64};
    const int64_t axis = -1, largest = 1, sorted = 1;
    const Ort::OpAttr attributes[] = {Ort::OpAttr("axis", &axis, 1, ORT_OP_ATTR_INT), Ort::OpAttr("largest", &largest, 1, ORT_OP_ATTR_INT),
                                      Ort::OpAttr("sorted", &sorted, 1, ORT_OP_ATTR_INT)};
    top = Ort::Op::Create(info, "TopK", "", 11, top_names, top_types, 2, attributes, 3, 2, 2);
  }
  void Compute(OrtKernelContext* raw) {
    const Ort::KernelContext context(raw);
    const Ort::MemoryInfo cpu = Ort::MemoryInfo::CreateCpu(OrtArenaAllocator, OrtMemTypeDefault);
    Ort::AllocatorWithDefaultOptions allocator;
    const auto shape = context.GetInput(0).GetTensorTypeAndShapeInfo().GetShape();
    float one[] = {1};
    int64_t two[] = {2};
    const int64_t single[] = {1}, pair[] = {2};
    const Ort::Value ones = Ort::Value::CreateTensor<float>(cpu, one, 1, single, 1);
    const Ort::Value twos = Ort::Value::CreateTensor<int64_t>(cpu, two, 1, single, 1);
    Ort::Value sum = Ort::Value::CreateTensor<float>(allocator, shape.data(), shape.size());
    Ort::Value places = Ort::Value::CreateTensor<int64_t>(allocator, pair, 1);
    const OrtValue* inputs[] = {context.GetInput(0), ones};
    OrtValue* sums[] = {sum};
    add.Invoke(raw, inputs, 2, sums, 1);
    const OrtValue* top_inputs[] = {sum, twos};
    OrtValue* outputs[] = {context.GetOutput(0, {2}), places};
    top.Invoke(raw, top_inputs, 2, outputs, 2);
  }

  Ort::Op add, top;
};
struct Standalone : Simple<Standalone, StandaloneKernel, kFloat, kFloat> {
  const char* GetName() const { return "Standalone"; }
};

// x * x, in parallel, by way of working memory
struct ParallelSquareKernel : Kernel {
  using Kernel::Kernel;
  struct Work {
    const float* x;
    float* squares;
  };
  void Compute(OrtKernelContext* raw) {
    const Ort::KernelContext context(raw);
    const Ort::MemoryInfo cpu = Ort::MemoryInfo::CreateCpu(OrtArenaAllocator, OrtMemTypeDefault);
    const size_t count = count_of(context.GetInput(0));
    Ort::Allocator allocator = context.GetAllocator(*cpu);
    Ort::MemoryAllocation memory = allocator.GetAllocation(count * sizeof(float));
    Work work{input(context, 0), static_cast<float*>(memory.get())};
    context.ParallelFor(
        [](void* data, size_t i) {
          static_cast<Work*>(data)->squares[i] = static_cast<Work*>(data)->x[i] * static_cast<Work*>(data)->x[i];
        },
        count, 4, &work);
    std::memcpy(output_like(context, 0), work.squares, count * sizeof(float));
  }
};
struct ParallelSquare : Simple<ParallelSquare, ParallelSquareKernel, kFloat, kFloat> {
  const char* GetName() const { return "ParallelSquare"; }
};

// Adds 1 where its input lies: the output is the same memory
struct BumpKernel : Kernel {
  using Kernel::Kernel;
  void Compute(OrtKernelContext* raw) {
    const Ort::KernelContext context(raw);
    float* y = output_like(context, 0);
    for (size_t i = 0; i < count_of(context.GetInput(0)); ++i) y[i] += 1;
  }
};
struct Bump : Simple<Bump, BumpKernel, kFloat, kFloat> {
  Bump() {
    OrtCustomOp::GetAliasMap = [](int** inputs, int** outputs) -> size_t {
      *inputs = new int[1]{0};
      *outputs = new int[1]{0};
      return 1;
    };
    OrtCustomOp::ReleaseAliasMap = [](int* inputs, int* outputs) {
      delete[] inputs;
      delete[] outputs;
    };
  }
  const char* GetName() const { return "Bump"; }
};

// For versions 2 and 3 of the domain
struct Versioned : Simple<Versioned, TwiceKernel<float>, kFloat, kFloat> {
  Versioned() {
    start_ver_ = 2;
    end_ver_ = 3;
  }
  const char* GetName() const { return "Versioned"; }
};

// Fails where its attribute says: creating, computing, both by an exception; with a status the same
struct FailingKernel : Kernel {
  explicit FailingKernel(const OrtKernelInfo* kernel_info) : Kernel(kernel_info), when(info.GetAttribute<std::string>("when")) {
    if (when == "create") throw std::runtime_error("failure at create");
  }
  void Compute(OrtKernelContext*) { throw std::runtime_error("failure at compute"); }
  OrtStatus* ComputeV2(OrtKernelContext*) { return Ort::GetApi().CreateStatus(ORT_ENGINE_ERROR, "failure with a status"); }
  std::string when;
};
struct Failing : Simple<Failing, FailingKernel, kFloat, kFloat> {
  const char* GetName() const { return "Failing"; }
};
struct FailingStatus : Ort::CustomOpBase<FailingStatus, FailingKernel, true> {
  const char* GetName() const { return "FailingStatus"; }
  OrtStatus* CreateKernelV2(const OrtApi&, const OrtKernelInfo* info, void** kernel) const {
    *kernel = new FailingKernel(info);
    return nullptr;
  }
  size_t GetInputTypeCount() const { return 1; }
  ONNXTensorElementDataType GetInputType(size_t) const { return kFloat; }
  size_t GetOutputTypeCount() const { return 1; }
  ONNXTensorElementDataType GetOutputType(size_t) const { return kFloat; }
};

// -x under a name of the standard
struct NegatingReluKernel : Kernel {
  using Kernel::Kernel;
  void Compute(OrtKernelContext* raw) {
    const Ort::KernelContext context(raw);
    float* y = output_like(context, 0);
    for (size_t i = 0; i < count_of(context.GetInput(0)); ++i) y[i] = -input(context, 0)[i];
  }
};
struct NegatingRelu : Simple<NegatingRelu, NegatingReluKernel, kFloat, kFloat> {
  const char* GetName() const { return "Relu"; }
};

template <typename... Ops>
void add(Ort::CustomOpDomain& domain) {
  static const std::tuple<Ops...> ops;
  std::apply([&](const auto&... op) { (domain.Add(&op), ...); }, ops);
}

const Ort::CustomOpDomain& domain() {
  static const Ort::CustomOpDomain made = [] {
    Ort::CustomOpDomain domain("test.ops");
    add<AddScaled, Twice<float, kFloat>, Twice<int64_t, kInt64>, SumAll, MaybeAdd, CopyAny, Standalone, ParallelSquare, Bump, Versioned,
        Failing, FailingStatus>(domain);
    rh::test::add_lite_ops(domain);
    return domain;
  }();
  return made;
}

}  // namespace

extern "C" ORT_EXPORT OrtStatus* RegisterCustomOps(OrtSessionOptions* options, const OrtApiBase* api) {
  Ort::InitApi(api->GetApi(ORT_API_VERSION));
  return Ort::GetApi().AddCustomOpDomain(options, const_cast<OrtCustomOpDomain*>(static_cast<const OrtCustomOpDomain*>(domain())));
}

/// The domain of the standard, with a Relu of our own.
extern "C" ORT_EXPORT OrtStatus* register_relu(OrtSessionOptions* options, const OrtApiBase* api) {
  Ort::InitApi(api->GetApi(ORT_API_VERSION));
  static const Ort::CustomOpDomain standard = [] {
    Ort::CustomOpDomain made("");
    add<NegatingRelu>(made);
    return made;
  }();
  return Ort::GetApi().AddCustomOpDomain(options, const_cast<OrtCustomOpDomain*>(static_cast<const OrtCustomOpDomain*>(standard)));
}
