// Uses the names of the C++ interface (names.txt) against the library that it is linked with, and checks what each call gives. It is
// compiled as C++17 and C++20, with exceptions and without. Its argument is a folder with what more_names.cc wants.
#include "checks.h"

#include <onnxruntime_env_config_keys.h>
#include <onnxruntime_ep_device_ep_metadata_keys.h>
#include <onnxruntime_error_code.h>
#include <onnxruntime_float16.h>
#include <onnxruntime_lite_custom_op.h>
#include <onnxruntime_run_options_config_keys.h>
#include <onnxruntime_session_options_config_keys.h>

#include <cpu_provider_factory.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <string>

namespace {

Ort::ValueInfo floats(const char* name) {
  const Ort::TensorTypeAndShapeInfo shape(ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT, kShape);
  return Ort::ValueInfo(name, Ort::TypeInfo::CreateTensorInfo(shape.GetConst()).GetConst());
}

/// y = Relu(x) + w, built in memory.
Ort::Model relu_add() {
  Ort::Graph graph;
  std::vector<Ort::ValueInfo> inputs, outputs;
  inputs.push_back(floats("x"));
  outputs.push_back(floats("y"));
  graph.SetInputs(inputs);
  graph.SetOutputs(outputs);
  Ort::Node relu("Relu", "", "relu", {"x"}, {"h"}), add("Add", "", "add", {"h", "w"}, {"y"});
  CHECK(relu.GetOperatorType() == "Relu" && add.GetName() == "add" && relu.GetConst().GetDomain().empty());
  graph.AddNode(relu);
  graph.AddNode(add);
  Ort::AllocatorWithDefaultOptions allocator;
  const int64_t three[] = {3};
  Ort::Value w = Ort::Value::CreateTensor<float>(allocator, three, 1);
  for (int i = 0; i < 3; ++i) w.GetTensorMutableData<float>()[i] = 1;
  graph.AddInitializer("w", w, false);
  Ort::Model model({{"", 17}});
  model.AddGraph(graph);
  return model;
}

void statuses() {
  CHECK(Ort::Status().IsOK() && Ort::Status(nullptr).GetErrorCode() == ORT_OK);
  const Ort::Status failed("what", ORT_EP_FAIL), text(std::string("more"), ORT_FAIL);
  CHECK(!failed.IsOK() && failed.GetErrorMessage() == "what" && failed.GetErrorCode() == ORT_EP_FAIL && text.GetErrorMessage() == "more");
  const Ort::Exception error("thrown", ORT_NOT_IMPLEMENTED);
  CHECK(error.GetOrtErrorCode() == ORT_NOT_IMPLEMENTED && Ort::Status(error).GetErrorMessage() == "thrown");
  CHECK(Ort::Status(std::runtime_error("plain")).GetErrorCode() == ORT_FAIL);
  const auto returned = [](OrtErrorCode code) {
    ORT_CXX_RETURN_ON_API_FAIL(code == ORT_OK ? nullptr : Ort::GetApi().CreateStatus(code, "returned"));
    ORT_CXX_IF_CONSTEXPR(sizeof(int) >= 2) return Ort::Status("went on", ORT_FAIL);
  };
  CHECK(returned(ORT_NO_MODEL).GetErrorMessage() == "returned" && returned(ORT_OK).GetErrorMessage() == "went on");
#ifndef ORT_NO_EXCEPTIONS
  try {
    Ort::ThrowOnError(failed);
    CHECK(false);
  } catch (const Ort::Exception& thrown) {
    CHECK(std::string(thrown.what()) == "what");
  }
#endif
  CHECK(!Ort::GetVersionString().empty() && !Ort::GetBuildInfoString().empty());
  CHECK(Ort::GetAvailableProviders().back() == "CPUExecutionProvider");
}

void numbers() {
  const Ort::Float16_t half(1.5f);
  CHECK(half.ToFloat() == 1.5f && static_cast<float>(half) == 1.5f && half.val == 0x3e00);
  CHECK(Ort::Float16_t::FromBits(Ort::Float16_t::kPositiveInfinityBits).IsPositiveInfinity());
  CHECK(Ort::Float16_t::FromBits(Ort::Float16_t::kPositiveQNaNBits).IsNaN());
  CHECK(Ort::Float16_t::FromBits(Ort::Float16_t::kMaxValueBits).ToFloat() == 65504);
  CHECK(Ort::Float16_t::FromBits(Ort::Float16_t::kNegativeInfinityBits).IsNegativeInfinity());
  CHECK(half.Negate().IsNegative() && half.Negate().Abs() == half && half.IsFinite() && half.IsNormal() && !half.IsSubnormal());
  CHECK(!half.IsInfinity() && !half.IsNaNOrZero() && half < Ort::Float16_t(2.0f) && half != Ort::Float16_t(2.0f));
  CHECK(Ort::Float16_t::AreZero(Ort::Float16_t(0.0f), Ort::Float16_t(-0.0f)));
  const Ort::BFloat16_t brain(2.0f);
  CHECK(brain.ToFloat() == 2 && Ort::BFloat16_t::FromBits(Ort::BFloat16_t::kOneBits).ToFloat() == 1);
  CHECK(Ort::BFloat16_t::FromBits(Ort::BFloat16_t::kPositiveQNaNBits).IsNaN());
  CHECK(Ort::BFloat16_t::FromBits(Ort::BFloat16_t::kMaxValueBits).IsFinite());
  const Ort::Float8E4M3FN_t eight = 3;
  CHECK(eight == Ort::Float8E4M3FN_t(3) && Ort::Float8E5M2_t(1) != Ort::Float8E5M2_t(2) && Ort::Float8E4M3FNUZ_t(1).value == 1);
  CHECK(Ort::Float8E5M2FNUZ_t(7) == Ort::Float8E5M2FNUZ_t(7));
}

void pairs_and_memory() {
  Ort::KeyValuePairs pairs(std::unordered_map<std::string, std::string>{{"a", "1"}});
  pairs.Add("b", "2");
  CHECK(std::string(pairs.GetValue("b")) == "2" && pairs.GetKeyValuePairs().size() == 2 && pairs.GetConst().GetKeyValuePairs().count("a"));
  pairs.Remove("b");
  CHECK(pairs.GetValue("b") == nullptr);

  const Ort::MemoryInfo info = host(), named("Cpu", OrtDeviceAllocator, 0, OrtMemTypeDefault);
  const Ort::MemoryInfo device("device", OrtMemoryInfoDeviceType_GPU, 0xbeef, 1, OrtDeviceMemoryType_DEFAULT, 256, OrtDeviceAllocator);
  CHECK(info == named && info.GetAllocatorName() == "Cpu" && info.GetAllocatorType() == OrtDeviceAllocator && info.GetDeviceId() == 0);
  CHECK(info.GetDeviceType() == OrtMemoryInfoDeviceType_CPU && info.GetMemoryType() == OrtMemTypeDefault);
  CHECK(device.GetVendorId() == 0xbeef && device.GetDeviceMemoryType() == OrtDeviceMemoryType_DEFAULT &&
        device.GetConst().GetDeviceId() == 1);

  Ort::AllocatorWithDefaultOptions allocator;
  void* block = allocator.Alloc(16);
  CHECK(block);
  allocator.Free(block);
  Ort::MemoryAllocation owned = allocator.GetAllocation(32);
  CHECK(owned.get() && owned.size() == 32 && allocator.GetInfo().GetDeviceType() == OrtMemoryInfoDeviceType_CPU);
  CHECK(allocator.GetStats().GetKeyValuePairs().empty());
  const Ort::ArenaCfg arena(0, -1, -1, -1), settings({{"max_mem", size_t{1} << 30}});
  CHECK(static_cast<OrtArenaCfg*>(arena) && static_cast<OrtArenaCfg*>(settings));
}

void environments(Ort::Env& env) {
  Ort::ThreadingOptions threads;
  threads.SetGlobalIntraOpNumThreads(1).SetGlobalInterOpNumThreads(1).SetGlobalSpinControl(0).SetGlobalDenormalAsZero();
  env.EnableTelemetryEvents().DisableTelemetryEvents().UpdateEnvWithCustomLogLevel(ORT_LOGGING_LEVEL_ERROR);
  const auto hardware = env.GetHardwareDevices();
  const auto devices = env.GetEpDevices();
  CHECK(!hardware.empty() && hardware[0].Type() == OrtHardwareDeviceType_CPU && hardware[0].Vendor());
  CHECK(!devices.empty() && std::string(devices[0].EpName()) == "CPUExecutionProvider" && devices[0].EpVendor());
  CHECK(devices[0].Device().Type() == OrtHardwareDeviceType_CPU && devices[0].EpOptions().GetKeyValuePairs().empty());
  CHECK(devices[0].GetMemoryInfo(OrtDeviceMemoryType_DEFAULT) == nullptr || true);
  static_cast<void>(devices[0].EpMetadata().GetKeyValuePairs());
  CHECK(Ort::GetEnvConfigEntries().GetKeyValuePairs().empty());
  const Ort::DeviceEpIncompatibilityDetails details(nullptr);
  CHECK(!static_cast<OrtDeviceEpIncompatibilityDetails*>(details));

  // Tensors are copied between memories of the environment; the host's is the one that is always there.
  float from[] = {1, 2, 3}, to[3] = {};
  const int64_t three[] = {3};
  const Ort::MemoryInfo memory = host();
  std::vector<Ort::Value> sources, targets;
  sources.push_back(Ort::Value::CreateTensor<float>(memory, from, 3, three, 1));
  targets.push_back(Ort::Value::CreateTensor<float>(memory, to, 3, three, 1));
  CHECK(env.CopyTensors(sources, targets, nullptr).IsOK() == env.CopyTensor(sources[0], targets[0], nullptr).IsOK());
  CHECK(!env.CopyTensors(sources, {}, nullptr).IsOK());
  static_cast<void>(env.GetSharedAllocator(memory));
}

void session_options(Ort::Env& env) {
  Ort::SessionOptions options;
  options.SetIntraOpNumThreads(1).SetInterOpNumThreads(1).SetGraphOptimizationLevel(ORT_ENABLE_BASIC).SetDeterministicCompute(true);
  options.EnableCpuMemArena().DisableCpuMemArena().EnableMemPattern();
  CHECK(options.GetMemPatternEnabled());
  options.DisableMemPattern();
  CHECK(!options.GetMemPatternEnabled() && options.GetExecutionMode() == ORT_SEQUENTIAL);
  options.SetExecutionMode(ORT_PARALLEL);
  CHECK(options.GetConst().GetExecutionMode() == ORT_PARALLEL);
  options.SetExecutionMode(ORT_SEQUENTIAL).SetLogId("id").SetLogSeverityLevel(4).SetLogVerbosityLevel(0).DisableProfiling();
  options.AddConfigEntry(kOrtSessionOptionsConfigAllowIntraOpSpinning, "0").AddFreeDimensionOverrideByName("n", 2);
  options.AddFreeDimensionOverride("batch", 2).SetLoadCancellationFlag(false);
  CHECK(options.HasConfigEntry(kOrtSessionOptionsConfigAllowIntraOpSpinning));
  CHECK(options.GetConfigEntry(kOrtSessionOptionsConfigAllowIntraOpSpinning) == "0");
  CHECK(options.GetConfigEntryOrDefault("none", "otherwise") == "otherwise" &&
        options.Clone().GetUnowned().HasConfigEntry("none") == false);
#ifndef ORT_API_MANUAL_INIT
  options.AppendExecutionProvider_CPU(1);
#endif
  options.SetEpSelectionPolicy(OrtExecutionProviderDevicePolicy_PREFER_CPU);
  Ort::SessionOptions chosen;
  chosen.AppendExecutionProvider_V2(env, {env.GetEpDevices()[0]}, std::unordered_map<std::string, std::string>{});
  Ort::CustomOpConfigs configs;
  configs.AddConfig("op", "key", "value");
  CHECK(configs.GetFlattenedConfigs().at("custom_op.op.key") == "value");

  Ort::RunOptions run;
  run.SetRunLogSeverityLevel(3).SetRunLogVerbosityLevel(1).SetRunTag("tag").SetTerminate().UnsetTerminate();
  run.AddConfigEntry(kOrtRunOptionsConfigDisableSynchronizeExecutionProviders, "1");
  CHECK(run.GetRunLogSeverityLevel() == 3 && run.GetRunLogVerbosityLevel() == 1 && std::string(run.GetRunTag()) == "tag");
  CHECK(std::string(run.GetConfigEntry(kOrtRunOptionsConfigDisableSynchronizeExecutionProviders)) == "1");
}

void values() {
  const Ort::MemoryInfo memory = host();
  Ort::AllocatorWithDefaultOptions allocator;
  float data[6] = {0, 1, 2, 3, 4, 5};
  Ort::Value tensor = Ort::Value::CreateTensor<float>(memory, data, 6, kShape.data(), 2);
  CHECK(tensor.IsTensor() && !tensor.IsSparseTensor() && tensor.HasValue() && tensor.GetTensorSizeInBytes() == 24);
  CHECK(tensor.GetTensorTypeAndShapeInfo().GetShape() == kShape && tensor.GetTensorTypeAndShapeInfo().GetElementCount() == 6);
  CHECK(tensor.GetTypeInfo().GetONNXType() == ONNX_TYPE_TENSOR && tensor.At<float>({1, 2}) == 5);
  CHECK(tensor.GetTensorData<float>() == data && tensor.GetTensorRawData() == data && tensor.GetTensorMutableRawData() == data);
  CHECK(tensor.GetTensorMemoryInfo().GetDeviceType() == OrtMemoryInfoDeviceType_CPU && tensor.GetConst().IsTensor());
  Ort::Value::Shape shape{};
  ONNXTensorElementDataType type = ONNX_TENSOR_ELEMENT_DATA_TYPE_UNDEFINED;
  tensor.GetTensorElementTypeAndShapeDataReference(type, shape);
  CHECK(type == ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT && shape.shape_len == 2 && shape.shape[1] == 3);

  const int64_t two[] = {2};
  Ort::Value text = Ort::Value::CreateTensor(allocator, two, 1, ONNX_TENSOR_ELEMENT_DATA_TYPE_STRING);
  const char* words[] = {"one", "three"};
  text.FillStringTensor(words, 2);
  text.FillStringTensorElement("two", 1);
  std::memcpy(text.GetResizedStringTensorElementBuffer(0, 4), "zero", 4);
  CHECK(text.GetStringTensorElement(0) == "zero" && text.GetStringTensorElementLength(1) == 3 && text.GetStringTensorDataLength() == 7);
  char content[8] = {};
  size_t offsets[2] = {};
  text.GetStringTensorContent(content, 7, offsets, 2);
  CHECK(std::string(content) == "zerotwo" && offsets[1] == 4);

  std::vector<Ort::Value> parts;
  parts.push_back(Ort::Value::CreateTensor<float>(memory, data, 6, kShape.data(), 2));
  const Ort::Value sequence = Ort::Value::CreateSequence(parts);
  CHECK(sequence.GetCount() == 1 && sequence.GetValue(0, allocator).IsTensor());
  int64_t keys[] = {1, 2};
  const Ort::Value map = Ort::Value::CreateMap(Ort::Value::CreateTensor<int64_t>(memory, keys, 2, two, 1),
                                               Ort::Value::CreateTensor<float>(memory, data, 2, two, 1));
  CHECK(map.GetCount() == 2 && map.GetTypeInfo().GetMapTypeInfo().GetMapKeyType() == ONNX_TENSOR_ELEMENT_DATA_TYPE_INT64);
}

void sparse_values() {
  const Ort::MemoryInfo memory = host();
  Ort::AllocatorWithDefaultOptions allocator;
  const int64_t dense[] = {3, 3}, count[] = {2}, positions[] = {0, 8}, inner[] = {0, 2}, outer[] = {0, 1, 1, 2};
  const float numbers[] = {1, 2};
  const Ort::Value::Shape dense_shape{dense, 2};
  const Ort::Value::OrtSparseValuesParam given{count, 1, {numbers}};
  Ort::Value coo = Ort::Value::CreateSparseTensor<float>(allocator, dense_shape);
  coo.FillSparseTensorCoo(memory, given, positions, 2);
  CHECK(coo.IsSparseTensor() && coo.GetSparseFormat() == ORT_SPARSE_COO && coo.GetSparseTensorValues<float>()[1] == 2);
  CHECK(coo.GetSparseTensorValuesTypeAndShapeInfo().GetElementCount() == 2);
  size_t number = 0;
  CHECK(coo.GetSparseTensorIndicesData<int64_t>(ORT_SPARSE_COO_INDICES, number)[1] == 8 && number == 2);
  CHECK(coo.GetSparseTensorIndicesTypeShapeInfo(ORT_SPARSE_COO_INDICES).GetElementCount() == 2);
  Ort::Value csr = Ort::Value::CreateSparseTensor(allocator, dense_shape, ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT);
  csr.FillSparseTensorCsr(memory, given, inner, 2, outer, 4);
  CHECK(csr.GetSparseFormat() == ORT_SPARSE_CSRC);
  const int64_t block_dense[] = {4, 4}, block_values[] = {2, 2, 1}, block_indices[] = {2, 1};
  const float block[] = {1, 2, 3, 4};
  const int32_t places[] = {0, 1};
  Ort::Value blocks = Ort::Value::CreateSparseTensor<float>(allocator, {block_dense, 2});
  blocks.FillSparseTensorBlockSparse(memory, {block_values, 3, {block}}, {block_indices, 2}, places);
  CHECK(blocks.GetSparseFormat() == ORT_SPARSE_BLOCK_SPARSE);
  float own[] = {1, 2};
  int64_t own_positions[] = {0, 8};
  Ort::Value over = Ort::Value::CreateSparseTensor<float>(memory, own, dense_shape, {count, 1});
  over.UseCooIndices(own_positions, 2);
  CHECK(over.GetSparseTensorValues<float>() == own);
}

void sessions(Ort::Env& env) {
  const Ort::Model model = relu_add();
  Ort::SessionOptions options;
  options.AddConfigEntry(kOrtSessionOptionsRecordEpGraphAssignmentInfo, "1");
  Ort::Session session(env, model, options);
  Ort::AllocatorWithDefaultOptions allocator;
  CHECK(session.GetInputCount() == 1 && session.GetOutputCount() == 1 && session.GetOverridableInitializerCount() == 0);
  CHECK(session.GetInputNames()[0] == "x" && std::string(session.GetOutputNameAllocated(0, allocator).get()) == "y");
  CHECK(session.GetInputs()[0].GetName() == "x" && session.GetOutputs()[0].GetConst().GetName() == "y");
  CHECK(session.GetOverridableInitializers().empty() && session.GetOverridableInitializerNames().empty());
  CHECK(session.GetInputTypeInfo(0).GetTensorTypeAndShapeInfo().GetShape() == kShape && session.GetOpset("") == 17);
  CHECK(session.GetMemoryInfoForInputs()[0].GetDeviceType() == OrtMemoryInfoDeviceType_CPU);
  CHECK(session.GetMemoryInfoForOutputs().size() == 1 && session.GetEpDeviceForInputs().size() == 1);
  CHECK(session.GetEpDeviceForOutputs().size() == 1 && session.GetEpGraphAssignmentInfo()[0].GetEpName() == "CPUExecutionProvider");
  CHECK(!session.GetEpGraphAssignmentInfo()[0].GetNodes().empty() && session.GetProfilingStartTimeNs() + 1 > 0);
  const Ort::ModelMetadata metadata = session.GetModelMetadata();
  CHECK(metadata.GetCustomMetadataMapKeysAllocated(allocator).empty() && metadata.GetProducerNameAllocated(allocator));
  CHECK(!metadata.LookupCustomMetadataMapAllocated("none", allocator) && metadata.GetGraphNameAllocated(allocator));

  float x[] = {-1, 0, 1, 2, 3, -4}, y[6] = {};
  const Ort::MemoryInfo memory = host();
  Ort::Value input = Ort::Value::CreateTensor<float>(memory, x, 6, kShape.data(), 2);
  Ort::Value output = Ort::Value::CreateTensor<float>(memory, y, 6, kShape.data(), 2);
  const char *x_name = "x", *y_name = "y";
  const auto results = session.Run(Ort::RunOptions{nullptr}, &x_name, &input, 1, &y_name, 1);
  CHECK(results[0].GetTensorData<float>()[4] == 4 && results[0].GetTensorData<float>()[0] == 1);
  Ort::IoBinding binding(session);
  binding.BindInput("x", input);
  binding.BindOutput("y", output);
  binding.SynchronizeInputs();
  session.Run(Ort::RunOptions{}, binding);
  binding.SynchronizeOutputs();
  CHECK(y[4] == 4 && binding.GetOutputNames()[0] == "y" && binding.GetOutputValues().size() == 1);
  binding.ClearBoundInputs();
  binding.ClearBoundOutputs();
  Ort::Allocator own(session, memory);
  CHECK(own.GetAllocation(8).get());
  CHECK(session.GetConst().GetInputCount() == 1 && session.GetUnowned().GetOutputCount() == 1);
}

void providers() {
  Ort::KernelDefBuilder builder;
  builder.SetOperatorType("Mul").SetDomain("").SetSinceVersion(14, 14).SetExecutionProvider("AProvider");
  builder.SetInputMemType(0, OrtMemTypeCPUInput).SetOutputMemType(0, OrtMemTypeCPUOutput).AddInputOutputMutableAlias(0, 0);
  builder.AddTypeConstraint("T", Ort::GetTensorDataType(ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT));
  const Ort::KernelDef definition = builder.Build();
  CHECK(std::string(definition.GetOperatorType()) == "Mul" && std::string(definition.GetDomain()).empty());
  CHECK(definition.GetSinceVersion() == std::make_pair(14, 14) && std::string(definition.GetExecutionProvider()) == "AProvider");
  CHECK(definition.GetInputMemType(0) == OrtMemTypeCPUInput && definition.GetConst().GetOutputMemType(0) == OrtMemTypeCPUOutput);
  Ort::KernelRegistry registry;
  CHECK(registry.AddKernel(definition, [](void*, const OrtKernelInfo*, OrtKernelImpl**) -> OrtStatus* { return nullptr; }, nullptr).IsOK());

  const Ort::OpSchema schema = Ort::GetOpSchema("Mul", 14, "");
  CHECK(schema.GetSinceVersion() == 14 && schema.GetNumInputs() == 2 && schema.GetNumOutputs() == 1 && schema.GetInputName(0) == "A");
  CHECK(schema.GetOutputName(0) == "C" && schema.GetTypeConstraintCount() == 1 && schema.GetConst().GetNumInputs() == 2);
  CHECK(schema.GetTypeConstraint(0).GetTypeParamName() == "T" && schema.GetInputTypeConstraint(1).GetInputIndices().size() == 2);
  CHECK(schema.GetOutputTypeConstraint(0).GetOutputIndices().size() == 1 && !schema.GetTypeConstraint(0).GetAllowedTypes().empty());
  CHECK(!static_cast<OrtOpSchema*>(Ort::GetOpSchema("NoSuchOperator", 14, "")));

  const Ort::ProfilingEvent event(OrtProfilingEventCategory_KERNEL, 1, 2, "work", 30, 4, {{"key", "value"}});
  CHECK(event.GetCategory() == OrtProfilingEventCategory_KERNEL && std::string(event.GetName()) == "work");
  CHECK(event.GetTimestampUs() == 30 && event.GetDurationUs() == 4 && std::string(event.GetConst().GetArgValue("key")) == "value");
}

/// y = x + x, an operator of the program's own.
struct TwiceKernel {
  explicit TwiceKernel(const OrtKernelInfo* handle) {
    const Ort::ConstKernelInfo info(handle);
    CHECK(info.GetOperatorType() == "Twice" && info.GetOperatorDomain() == "a.domain" && info.GetOperatorSinceVersion() == 1);
    CHECK(info.GetInputCount() == 1 && info.GetOutputCount() == 1 && info.GetInputName(0) == "x" && info.GetOutputName(0) == "y");
    CHECK(info.GetInputTypeInfo(0).GetTensorTypeAndShapeInfo().GetShape() == kShape);
    CHECK(info.GetOutputTypeInfo(0).GetONNXType() == ONNX_TYPE_TENSOR && info.GetConfigEntries().GetKeyValuePairs().empty());
    const Ort::KernelInfo copy = info.Copy();
    name = copy.GetNodeName();
  }
  void Compute(OrtKernelContext* raw) {
    Ort::KernelContext context(raw);
    CHECK(context.GetInputCount() == 1 && context.GetOutputCount() == 1 && context.GetSyncStream() == nullptr);
    CHECK(context.GetOrtKernelContext() == raw && context.GetGPUComputeStream() == nullptr);
    const Ort::Logger logger = context.GetLogger();
    CHECK(logger.GetLoggingSeverityLevel() >= ORT_LOGGING_LEVEL_VERBOSE);
    CHECK(logger.LogMessage(ORT_LOGGING_LEVEL_VERBOSE, ORT_FILE, __LINE__, "Compute", "runs").IsOK());
    CHECK(logger.LogFormattedMessage(ORT_LOGGING_LEVEL_VERBOSE, ORT_FILE, __LINE__, "Compute", "%d runs", 1).IsOK());
    const Ort::ConstValue x = context.GetInput(0);
    Ort::UnownedValue y = context.GetOutput(0, x.GetTensorTypeAndShapeInfo().GetShape());
    const size_t count = x.GetTensorTypeAndShapeInfo().GetElementCount();
    for (size_t i = 0; i < count; ++i) y.GetTensorMutableData<float>()[i] = 2 * x.GetTensorData<float>()[i];
  }
  std::string name;
};
struct Twice : Ort::CustomOpBase<Twice, TwiceKernel> {
  void* CreateKernel(const OrtApi&, const OrtKernelInfo* info) const { return new TwiceKernel(info); }
  const char* GetName() const { return "Twice"; }
  size_t GetInputTypeCount() const { return 1; }
  ONNXTensorElementDataType GetInputType(size_t) const { return ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT; }
  size_t GetOutputTypeCount() const { return 1; }
  ONNXTensorElementDataType GetOutputType(size_t) const { return ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT; }
  /// The handle itself, as older programs give it.
  static OrtStatusPtr InferOutputShape(Ort::ShapeInferContext& context) {
    const Ort::ShapeInferContext::Shape& shape = context.GetInputShape(0);
    CHECK(context.GetInputCount() == 1 && shape[0].IsInt() && shape[0].AsInt() == 2 && !shape[0].AsSym());
    CHECK(shape[0] == Ort::ShapeInferContext::SymbolicInteger(2));
    return context.SetOutputShape(0, shape).release();
  }
};

/// y = Twice(x) of "a.domain", as ONNX.
const unsigned char kTwice[] = {
    0x08, 0x08, 0x12, 0x00, 0x3a, 0x46, 0x0a, 0x17, 0x0a, 0x01, 0x78, 0x12, 0x01, 0x79, 0x22, 0x05, 0x54, 0x77, 0x69, 0x63,
    0x65, 0x3a, 0x08, 0x61, 0x2e, 0x64, 0x6f, 0x6d, 0x61, 0x69, 0x6e, 0x12, 0x01, 0x67, 0x5a, 0x13, 0x0a, 0x01, 0x78, 0x12,
    0x0e, 0x0a, 0x0c, 0x08, 0x01, 0x12, 0x08, 0x0a, 0x02, 0x08, 0x02, 0x0a, 0x02, 0x08, 0x03, 0x62, 0x13, 0x0a, 0x01, 0x79,
    0x12, 0x0e, 0x0a, 0x0c, 0x08, 0x01, 0x12, 0x08, 0x0a, 0x02, 0x08, 0x02, 0x0a, 0x02, 0x08, 0x03, 0x42, 0x04, 0x0a, 0x00,
    0x10, 0x11, 0x42, 0x0c, 0x0a, 0x08, 0x61, 0x2e, 0x64, 0x6f, 0x6d, 0x61, 0x69, 0x6e, 0x10, 0x01,
};

void custom_operators(Ort::Env& env) {
  static const Twice twice;
  Ort::CustomOpDomain domain("a.domain");
  domain.Add(&twice);
  Ort::SessionOptions options;
  options.Add(domain);
  Ort::Session session(env, kTwice, sizeof(kTwice), options);
  float x[] = {1, 2, 3, 4, 5, 6};
  const Ort::Value input = Ort::Value::CreateTensor<float>(host(), x, 6, kShape.data(), 2);
  const char *x_name = "x", *y_name = "y";
  CHECK(session.Run(Ort::RunOptions{}, &x_name, &input, 1, &y_name, 1)[0].GetTensorData<float>()[5] == 12);
}

/// What needs a provider, a device or a library that is not here says so.
void what_is_not_there([[maybe_unused]] Ort::Env& env) {
#ifndef ORT_NO_EXCEPTIONS
  Ort::SessionOptions options;
  const std::unordered_map<std::string, std::string> none;
  CHECK(throws([&] { options.AppendExecutionProvider_CUDA(OrtCUDAProviderOptions{}); }));
  CHECK(throws([&] { options.AppendExecutionProvider_ROCM(OrtROCMProviderOptions{}); }));
  CHECK(throws([&] { options.AppendExecutionProvider_TensorRT(OrtTensorRTProviderOptions{}); }));
  CHECK(throws([&] { options.AppendExecutionProvider_MIGraphX(OrtMIGraphXProviderOptions{}); }));
  CHECK(throws([&] { options.AppendExecutionProvider_VitisAI(none); }));
  CHECK(throws([&] { options.EnableOrtCustomOps(); }));
  CHECK(throws([&] { options.RegisterCustomOpsLibrary(ORT_TSTR("/nowhere/lib.so"), Ort::CustomOpConfigs()); }));
  CHECK(throws([&] { env.RegisterExecutionProviderLibrary("nowhere", ORT_TSTR("/nowhere/lib.so")); }));
  CHECK(throws([&] { env.UnregisterExecutionProviderLibrary("nowhere"); }));
  CHECK(throws([&] { env.GetEpDevices()[0].CreateSyncStream(); }));
  CHECK(throws([&] { env.CreateSharedAllocator(env.GetEpDevices()[0], OrtDeviceMemoryType_DEFAULT, OrtDeviceAllocator, nullptr); }));
  CHECK(throws([&] { env.ReleaseSharedAllocator(env.GetEpDevices()[0], OrtDeviceMemoryType_DEFAULT); }) || true);
  CHECK(throws([&] { Ort::Value::CreateOpaque<int>("a.domain", "AType", 1); }));
  CHECK(throws([&] { Ort::LoraAdapter::CreateLoraAdapter(ORT_TSTR("/nowhere"), nullptr); }));
  CHECK(throws([] { Ort::CUDAProviderOptions().Update({{"device_id", "0"}}); }) || true);  // a build for CUDA has them
  CHECK(throws([] { Ort::TensorRTProviderOptions().UpdateWithValue("user_compute_stream", nullptr); }) || true);
#endif
}

void graphs() {
  Ort::Graph graph;
  std::vector<Ort::ValueInfo> inputs, outputs;
  inputs.push_back(floats("x"));
  outputs.push_back(floats("y"));
  graph.SetInputs(inputs);
  graph.SetOutputs(outputs);
  const float alpha = 0.5f;
  std::vector<Ort::OpAttr> attributes;
  attributes.emplace_back("alpha", &alpha, 1, ORT_OP_ATTR_FLOAT);
  CHECK(attributes[0].GetName() == "alpha" && attributes[0].GetType() == ORT_OP_ATTR_FLOAT);
  float value = 0;
  CHECK(attributes[0].GetConst().GetValue(value).IsOK() && value == 0.5f);
  Ort::Node node("LeakyRelu", "", "leaky", {"x"}, {"y"}, attributes);
  graph.AddNode(node);
  const Ort::TensorTypeAndShapeInfo info(ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT, kShape);
  CHECK(info.GetDimensionsCount() == 2 && info.HasShape() && info.GetSymbolicDimensions().size() == 2);
  int64_t dims[2] = {};
  info.GetDimensions(dims, 2);
  CHECK(dims[1] == 3);
  const Ort::TypeInfo tensor = Ort::TypeInfo::CreateTensorInfo(info.GetConst());
  CHECK(Ort::TypeInfo::CreateSparseTensorInfo(info.GetConst()).GetONNXType() == ONNX_TYPE_SPARSETENSOR && tensor.GetDenotation().empty());
  const Ort::TypeInfo sequence = Ort::TypeInfo::CreateSequenceTypeInfo(tensor.GetConst());
  CHECK(sequence.GetSequenceTypeInfo().GetSequenceElementType().GetONNXType() == ONNX_TYPE_TENSOR);
  const Ort::TypeInfo map = Ort::TypeInfo::CreateMapTypeInfo(ONNX_TENSOR_ELEMENT_DATA_TYPE_INT64, tensor.GetConst());
  CHECK(map.GetMapTypeInfo().GetMapValueType().GetONNXType() == ONNX_TYPE_TENSOR);
  const Ort::TypeInfo optional = Ort::TypeInfo::CreateOptionalTypeInfo(tensor.GetConst());
  CHECK(optional.GetOptionalTypeInfo().GetOptionalElementType().GetONNXType() == ONNX_TYPE_TENSOR);
}

void compiled_models(Ort::Env& env) {
  const Ort::Model model = relu_add();
  Ort::SessionOptions options;
  Ort::AllocatorWithDefaultOptions allocator;
  Ort::ModelCompilationOptions compilation(env, options);
  void* bytes = nullptr;
  size_t size = 0;
  compilation.SetInputModel(model).SetOutputModelBuffer(allocator, &bytes, &size).SetEpContextEmbedMode(true);
  compilation.SetFlags(OrtCompileApiFlags_NONE).SetGraphOptimizationLevel(ORT_ENABLE_BASIC);
  const Ort::Status status = Ort::CompileModel(env, compilation);
  CHECK(status.IsOK() && size > 0);
  Ort::Session session(env, bytes, size, options);
  CHECK(session.GetOutputTypeInfo(0).GetTensorTypeAndShapeInfo().GetShape() == kShape);
  allocator.Free(bytes);
  Ort::PrepackedWeightsContainer weights;
  CHECK(static_cast<OrtPrepackedWeightsContainer*>(weights));
}

}  // namespace

int main(int count, char** arguments) {
  CHECK(count == 2);
  statuses();
  numbers();
  pairs_and_memory();
  Ort::Env env(ORT_LOGGING_LEVEL_FATAL, "every_name");
  environments(env);
  session_options(env);
  values();
  sparse_values();
  sessions(env);
  providers();
  custom_operators(env);
  what_is_not_there(env);
  graphs();
  compiled_models(env);
  more_names(env, arguments[1]);
  std::puts("every name works");
  return 0;
}
