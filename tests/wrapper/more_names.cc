// Names of the C++ interface that need models, or a provider, from the folder that the test makes.
#include "checks.h"

#include <atomic>
#include <chrono>
#include <cstring>
#include <fstream>
#include <iterator>
#include <map>
#include <thread>

namespace {

std::string content(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

Ort::SessionOptions as_written() {
  Ort::SessionOptions options;
  options.SetGraphOptimizationLevel(ORT_DISABLE_ALL);
  return options;
}

/// The last of the six numbers that the session makes of these.
float run(Ort::Session& session, float* x, bool with_choice = true, const Ort::RunOptions& options = Ort::RunOptions()) {
  static bool choice[] = {true};
  const Ort::MemoryInfo memory = host();
  std::vector<Ort::Value> inputs;
  inputs.push_back(over(memory, x));
  if (with_choice) inputs.push_back(Ort::Value::CreateTensor<bool>(memory, choice, 1, nullptr, 0));
  const char *names[] = {"x", "c"}, *y = "y";
  return session.Run(options, names, inputs.data(), inputs.size(), &y, 1)[0].GetTensorData<float>()[5];
}

void tables() {
  CHECK(&Ort::GetCompileApi() == Ort::GetApi().GetCompileApi() && &Ort::GetEpApi() == Ort::GetApi().GetEpApi());
  CHECK(&Ort::GetInteropApi() == Ort::GetApi().GetInteropApi() && &Ort::GetModelEditorApi() == Ort::GetApi().GetModelEditorApi());
}

/// The types of what calls give; those that are const or unowned are copied freely.
void types(Ort::Env& env, const std::string& folder) {
  const Ort::TensorTypeAndShapeInfo shape(Ort::TypeToTensorType<float>::type, kShape);
  const Ort::ConstTensorTypeAndShapeInfo same_shape = shape.GetConst();
  const Ort::TypeInfo tensor = Ort::TypeInfo::CreateTensorInfo(same_shape);
  const Ort::ConstTypeInfo of_element = tensor.GetConst();
  const Ort::TypeInfo sequence = Ort::TypeInfo::CreateSequenceTypeInfo(of_element),
                      optional = Ort::TypeInfo::CreateOptionalTypeInfo(of_element);
  const Ort::TypeInfo map = Ort::TypeInfo::CreateMapTypeInfo(ONNX_TENSOR_ELEMENT_DATA_TYPE_INT64, of_element);
  const Ort::ConstSequenceTypeInfo in_sequence = sequence.GetSequenceTypeInfo();
  const Ort::ConstMapTypeInfo in_map = map.GetMapTypeInfo();
  const Ort::ConstOptionalTypeInfo in_optional = optional.GetOptionalTypeInfo();
  CHECK(in_sequence.GetSequenceElementType().GetONNXType() == in_map.GetMapValueType().GetONNXType());
  CHECK(in_optional.GetOptionalElementType().GetTensorTypeAndShapeInfo().GetShape() == same_shape.GetShape());
  const Ort::SequenceTypeInfo no_sequence(nullptr);
  const Ort::MapTypeInfo no_map(nullptr);
  CHECK(!no_sequence.GetConst() && !no_map.GetConst());

  Ort::KernelDefBuilder builder;
  builder.SetOperatorType("Mul").SetDomain("").SetSinceVersion(14, 14).SetExecutionProvider("AProvider");
  builder.AddInputOutputAlias(0, 0).AddInputOutputAliases({1}, {1}).AddInputOutputMutableAliases({2}, {2});
  const Ort::KernelDef definition = builder.Build();
  const Ort::ConstKernelDef same_definition = definition.GetConst();
  CHECK(std::string(same_definition.GetOperatorType()) == "Mul");
  const Ort::OpSchema schema = Ort::GetOpSchema("Mul", 14, "");
  const Ort::ConstOpSchema same_schema = schema.GetConst();
  const Ort::ConstOpSchemaTypeConstraint constraint = same_schema.GetTypeConstraint(0);
  CHECK(constraint.GetTypeParamName() == "T");
  const Ort::ExternalInitializerInfo place(ORT_TSTR("w.bin"), 8, 16);
  const Ort::ConstExternalInitializerInfo same_place = place.GetConst();
  CHECK(same_place.GetFileOffset() == 8 && MAX_CUSTOM_OP_END_VER == 2147483647);

  Ort::SessionOptions options;
  const Ort::ConstSessionOptions same_options = options.GetConst();
  Ort::Graph graph;
  Ort::UnownedGraph same_graph(static_cast<OrtGraph*>(graph));
  Ort::Node node("Relu", "", "relu", {"x"}, {"y"});
  same_graph.AddNode(node);
  const std::vector<Ort::Model::DomainOpsetPair> opsets = {{"", 17}};
  Ort::Model model(opsets);
  model.AddGraph(graph);
  const Ort::ConstModel same_model = model.GetConst();
  CHECK(same_options.GetExecutionMode() == ORT_SEQUENTIAL && static_cast<const OrtModel*>(same_model) == model);

  Ort::Session session(env, (folder + "/relu_add.onnx").c_str(), options);
  Ort::IoBinding binding(session);
  float x[] = {1, 2, 3, 4, 5, 6};
  const Ort::MemoryInfo memory = host();
  Ort::UnownedIoBinding same_binding = binding.GetUnowned();
  same_binding.BindInput("x", over(memory, x));
  same_binding.BindOutput("y", memory);
  session.Run(Ort::RunOptions{}, binding);
  const Ort::ConstIoBinding results = binding.GetConst();
  CHECK(results.GetOutputNames()[0] == "y" && results.GetOutputValues()[0].GetTensorData<float>()[5] == 8);
  Ort::AllocatorWithDefaultOptions allocator;
  const Ort::AllocatedStringPtr name = session.GetInputNameAllocated(0, allocator);
  CHECK(std::string(name.get()) == "x");
}

void metadata(Ort::Env& env, const std::string& folder) {
  Ort::AllocatorWithDefaultOptions allocator;
  Ort::SessionOptions options = as_written();
  options.EnableProfiling((folder + "/session").c_str());
  Ort::Session session(env, (folder + "/model.onnx").c_str(), options);
  const Ort::ModelMetadata told = session.GetModelMetadata();
  CHECK(std::string(told.GetDescriptionAllocated(allocator).get()) == "what it is" && told.GetVersion() == 7);
  CHECK(std::string(told.GetDomainAllocated(allocator).get()) == "of.mine");
  CHECK(std::string(told.GetGraphDescriptionAllocated(allocator).get()) == "what the graph is");
  CHECK(std::string(session.GetInputNameAllocated(0, allocator).get()) == "x");
  CHECK(std::string(session.GetOverridableInitializerNameAllocated(0, allocator).get()) == "o");
  const Ort::TypeInfo type = session.GetOverridableInitializerTypeInfo(0);
  CHECK(type.GetTensorTypeAndShapeInfo().GetElementType() == ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT);
  Ort::RunOptions options_of_run;
  options_of_run.EnableProfiling((folder + "/run").c_str());
  float x[] = {1, 2, 3, 4, 5, 6};
  CHECK(run(session, x, true, options_of_run) == 26);
  CHECK(!content(session.EndProfilingAllocated(allocator).get()).empty());
  const Ort::ConstSession same = session.GetConst();
  const Ort::UnownedSession unowned = session.GetUnowned();
  CHECK(same.GetInputCount() == unowned.GetInputCount());
}

std::atomic<int> g_threads{0}, g_messages{0};
OrtCustomThreadHandle start_thread(void* count, OrtThreadWorkerFn work, void* argument) {
  ++*static_cast<std::atomic<int>*>(count);
  return reinterpret_cast<OrtCustomThreadHandle>(new std::thread(work, argument));
}
void join_thread(OrtCustomThreadHandle handle) {
  auto* thread = reinterpret_cast<std::thread*>(const_cast<OrtCustomHandleType*>(handle));
  thread->join();
  delete thread;
}
void count_message(void* count, OrtLoggingLevel, const char*, const char*, const char*, const char*) {
  ++*static_cast<std::atomic<int>*>(count);
}

void threads_and_messages(Ort::Env& env, const std::string& folder) {
  Ort::SessionOptions options = as_written();
  options.SetCustomCreateThreadFn(start_thread).SetCustomThreadCreationOptions(&g_threads).SetCustomJoinThreadFn(join_thread);
  options.SetIntraOpNumThreads(2).SetUserLoggingFunction(count_message, &g_messages).SetLogSeverityLevel(0);
  Ort::UnownedSessionOptions(options.GetUnowned()).SetOptimizedModelFilePath((folder + "/saved.onnx").c_str());
  float x[] = {1, 2, 3, 4, 5, 6};
  {
    Ort::Session session(env, (folder + "/model.onnx").c_str(), options);
    CHECK(run(session, x) == 26 && g_threads == 1 && g_messages > 0 && !content(folder + "/saved.onnx").empty());
    const Ort::MemoryInfo memory = host();
    bool choice[] = {false};
    Ort::Value inputs[] = {over(memory, x), Ort::Value::CreateTensor<bool>(memory, choice, 1, nullptr, 0)};
    Ort::Value output(nullptr);
    const char *names[] = {"x", "c"}, *y = "y";
    std::atomic<bool> done{false};
    const auto tell = [](void* flag, OrtValue**, size_t count, OrtStatusPtr status) {
      CHECK(count == 1 && !status);
      *static_cast<std::atomic<bool>*>(flag) = true;
    };
    session.RunAsync(Ort::RunOptions{nullptr}, names, inputs, 2, &y, &output, 1, tell, &done);
    while (!done) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    CHECK(output.GetTensorData<float>()[5] == 14);
  }
  Ort::ThreadingOptions pools;
  pools.SetGlobalCustomCreateThreadFn(start_thread).SetGlobalCustomThreadCreationOptions(&g_threads);
  pools.SetGlobalCustomJoinThreadFn(join_thread);
#ifndef ORT_NO_EXCEPTIONS
  Ort::SessionOptions without = as_written();
  without.DisablePerSessionThreads();
  CHECK(throws([&] { Ort::Session(env, (folder + "/model.onnx").c_str(), without); }));  // the environment has no pools
  CHECK(throws([&] { without.RegisterCustomOpsUsingFunction("nowhere"); }));
  CHECK(throws([&] { without.AppendExecutionProvider("NoSuchProvider", {}); }));
#endif
}

void allocators(Ort::Env& env) {
  const Ort::MemoryInfo memory("Cpu", OrtArenaAllocator, 0, OrtMemTypeDefault);
  const Ort::ArenaCfg arena(0, -1, -1, -1);
  env.CreateAndRegisterAllocator(memory, arena);
  env.UnregisterAllocator(memory);
  env.CreateAndRegisterAllocatorV2("CPUExecutionProvider", memory, {}, arena);
  Ort::UnownedAllocator shared = env.GetSharedAllocator(memory);
  CHECK(shared && shared.GetAllocation(8).get() && shared.GetInfo().GetAllocatorName() == "Cpu");
  env.UnregisterAllocator(memory);
  struct Own : OrtAllocator {
    Own() : OrtAllocator{} {
      version = ORT_API_VERSION;
      OrtAllocator::Alloc = [](OrtAllocator*, size_t bytes) { return std::malloc(bytes); };
      Reserve = OrtAllocator::Alloc;
      OrtAllocator::Free = [](OrtAllocator*, void* block) { std::free(block); };
      Info = [](const OrtAllocator* self) -> const OrtMemoryInfo* { return static_cast<const Own*>(self)->info; };
    }
    Ort::MemoryInfo info = host();
  } own;
  env.RegisterAllocator(&own);
  env.UnregisterAllocator(own.info);
}

void sparse_views() {
  const Ort::MemoryInfo memory = host();
  float numbers[] = {1, 2}, block[] = {1, 2, 3, 4};
  int64_t dense[] = {3, 3}, count[] = {2}, inner[] = {0, 2}, outer[] = {0, 1, 1, 2}, square[] = {4, 4}, blocks[] = {2, 2, 1},
          where[] = {2, 1};
  int32_t places[] = {0, 1};
  Ort::Value rows = Ort::Value::CreateSparseTensor<float>(memory, numbers, {dense, 2}, {count, 1});
  rows.UseCsrIndices(inner, 2, outer, 4);
  CHECK(rows.GetSparseFormat() == ORT_SPARSE_CSRC);
  Ort::Value pieces = Ort::Value::CreateSparseTensor<float>(memory, block, {square, 2}, {blocks, 3});
  pieces.UseBlockSparseIndices({where, 2}, places);
  CHECK(pieces.GetSparseFormat() == ORT_SPARSE_BLOCK_SPARSE && pieces.GetSparseTensorValues<float>()[3] == 4);
#ifndef ORT_NO_EXCEPTIONS
  int out = 0;
  CHECK(throws([&] { rows.GetOpaqueData("a.domain", "AType", out); }));
#endif
}

void external_weights(Ort::Env& env, const std::string& folder) {
  const Ort::ExternalInitializerInfo info(ORT_TSTR("w.bin"), 8, 16);
  CHECK(info.GetFilePath() == ORT_TSTR("w.bin") && info.GetFileOffset() == 8 && info.GetConst().GetByteSize() == 16);
  const std::string model = content(folder + "/elsewhere.onnx");
  float weights[] = {3, 3, 3, 3, 3, 3}, x[] = {1, 2, 3, 4, 5, 6};
  Ort::SessionOptions by_file = as_written(), by_name = as_written();
  by_file.AddExternalInitializersFromFilesInMemory({ORT_TSTR("nowhere.bin")}, {reinterpret_cast<char*>(weights)}, {sizeof(weights)});
  Ort::Session first(env, model.data(), model.size(), by_file);
  CHECK(run(first, x, false) == 18);
  const Ort::MemoryInfo memory = host();
  std::vector<Ort::Value> values;
  values.push_back(over(memory, weights));
  by_name.AddExternalInitializers({"w"}, values);
  Ort::Session second(env, model.data(), model.size(), by_name);
  CHECK(run(second, x, false) == 18);
}

void edited_models(Ort::Env& env, const std::string& folder) {
  Ort::SessionOptions options = as_written();
  Ort::Session session = Ort::Session::CreateModelEditorSession(env, (folder + "/relu.onnx").c_str(), options);
  Ort::Graph graph;
  Ort::Node node("Neg", "", "neg", {"h"}, {"y"});
  graph.AddNode(node);
  const Ort::TensorTypeAndShapeInfo shape(ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT, kShape);
  std::vector<Ort::ValueInfo> inputs, outputs;
  inputs.emplace_back("x", Ort::TypeInfo::CreateTensorInfo(shape.GetConst()).GetConst());
  outputs.emplace_back("y", Ort::TypeInfo::CreateTensorInfo(shape.GetConst()).GetConst());
  graph.SetInputs(inputs);
  graph.SetOutputs(outputs);
  Ort::Model addition({{"", 17}});
  addition.AddGraph(graph);
  session.FinalizeModelEditorSession(addition, options);
  float x[] = {1, 2, 3, 4, 5, 6};
  CHECK(run(session, x, false) == -6);
}

OrtStatus* ORT_API_CALL take_model(void* text, const void* data, size_t size) {
  static_cast<std::string*>(text)->append(static_cast<const char*>(data), size);
  return nullptr;
}
OrtStatus* ORT_API_CALL take_context(void*, const ORTCHAR_T*, const void*, size_t) { return nullptr; }
OrtStatus* ORT_API_CALL give_context(void*, const ORTCHAR_T*, OrtAllocator*, void**, size_t*) {
  return Ort::Status("none", ORT_FAIL).release();
}
OrtStatus* ORT_API_CALL keep_inside(void* count, const char*, const OrtValue*, const OrtExternalInitializerInfo*,
                                    OrtExternalInitializerInfo** out) {
  ++*static_cast<int*>(count);
  *out = nullptr;
  return nullptr;
}

void compiled(Ort::Env& env, const std::string& folder) {
  Ort::SessionOptions options;
  options.SetEpContextDataReadFunc(give_context, nullptr);
  Ort::ModelCompilationOptions to_file(env, options), to_text(env, options.GetConst());
  const std::string out = folder + "/compiled.onnx", model = content(folder + "/relu_add.onnx");
  to_file.SetInputModelPath((folder + "/relu_add.onnx").c_str()).SetOutputModelPath(out.c_str());
  to_file.SetOutputModelExternalInitializersFile(ORT_TSTR("compiled.bin"), 8).SetWeightlessEnabled(false);
  CHECK(Ort::CompileModel(env, to_file).IsOK() && !content(out).empty() && content(folder + "/compiled.bin").size() >= 24);
  std::string text;
  int asked = 0;
  to_text.SetInputModelFromBuffer(model.data(), model.size()).SetOutputModelWriteFunc(take_model, &text);
  to_text.SetEpContextBinaryInformation((folder + "/").c_str(), ORT_TSTR("name.onnx")).SetEpContextDataWriteFunc(take_context, nullptr);
  to_text.SetOutputModelGetInitializerLocationFunc(keep_inside, &asked);
  CHECK(Ort::CompileModel(env, to_text).IsOK() && !text.empty() && asked == 1);
}

void compatibility(Ort::Env& env, const std::string& folder) {
  const std::string path = folder + "/relu.onnx", bytes = content(path);
  Ort::AllocatorWithDefaultOptions allocator;
  const Ort::AllocatedStringPtr said = Ort::GetCompatibilityInfoFromModelAllocated(path.c_str(), "CPUExecutionProvider", allocator);
  CHECK(std::string(said.get()) == "of the CPU");
  CHECK(!Ort::GetCompatibilityInfoFromModelBytesAllocated(bytes.data(), bytes.size(), "NoExecutionProvider", allocator));
  std::vector<Ort::ConstEpDevice> cpu = env.GetEpDevices();
  cpu.resize(1);
  CHECK(Ort::GetModelCompatibilityForEpDevices(cpu, said.get()) == OrtCompiledModelCompatibility_EP_NOT_APPLICABLE);
}

void adapters(const std::string& folder) {
  const std::string bytes = content(folder + "/adapter.bin");
  const Ort::LoraAdapter adapter = Ort::LoraAdapter::CreateLoraAdapterFromArray(bytes.data(), bytes.size(), nullptr);
  Ort::RunOptions options;
  options.AddActiveLoraAdapter(adapter);
}

/// y = x + c, with an attribute of each type; it adds by an operator of the runtime's.
struct RichKernel {
  explicit RichKernel(const OrtKernelInfo* handle) {
    const Ort::ConstKernelInfo info(handle);
    Ort::AllocatorWithDefaultOptions allocator;
    CHECK(info.GetAttribute<float>("f") == 1.5f && info.GetAttribute<int64_t>("i") == 3 && info.GetAttribute<std::string>("s") == "text");
    CHECK(info.GetAttributes<float>("fs") == std::vector<float>({1, 2}) && info.GetAttributes<int64_t>("is").size() == 2);
    CHECK(info.GetAttributes<std::string>("ss") == std::vector<std::string>({"a", "bc"}));
    CHECK(info.GetTensorAttribute("t", allocator).GetTensorData<float>()[1] == 9);
    int is_constant = 0;
    CHECK(info.GetTensorConstantInput(1, &is_constant).GetTensorData<float>()[0] == 10 && is_constant == 1);
    const char* parameter = "T";
    const ONNXTensorElementDataType type = ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT;
    add = Ort::Op::Create(handle, "Add", "", 14, &parameter, &type, 1, nullptr, 0, 2, 1);
  }
  void Compute(OrtKernelContext* raw) {
    const Ort::KernelContext context(raw);
    const Ort::MemoryInfo memory = host();
    Ort::Allocator allocator = context.GetAllocator(*static_cast<OrtMemoryInfo*>(memory));
    CHECK(allocator.GetAllocation(8).get() && context.GetScratchBuffer(*static_cast<OrtMemoryInfo*>(memory), 16));
    std::atomic<int> calls{0};
    context.ParallelFor([](void* count, size_t) { ++*static_cast<std::atomic<int>*>(count); }, 10, 0, &calls);
    CHECK(calls == 10);
    const Ort::Logger logger = context.GetLogger();
    ORT_CXX_LOG(logger, ORT_LOGGING_LEVEL_VERBOSE, "runs");
    ORT_CXX_LOG_NOEXCEPT(logger, ORT_LOGGING_LEVEL_VERBOSE, "runs");
    ORT_CXX_LOGF(logger, ORT_LOGGING_LEVEL_VERBOSE, "%d runs", 1);
    ORT_CXX_LOGF_NOEXCEPT(logger, ORT_LOGGING_LEVEL_VERBOSE, "%d runs", 1);
    const OrtValue* inputs[] = {context.GetInput(0), context.GetInput(1)};
    OrtValue* outputs[] = {context.GetOutput(0, kShape)};
    add.Invoke(raw, inputs, 2, outputs, 1);
  }
  Ort::Op add;
};
struct Rich : Ort::CustomOpBase<Rich, RichKernel> {
  Rich() {
    start_ver_ = 1;
    end_ver_ = 5;
  }
  void* CreateKernel(const OrtApi&, const OrtKernelInfo* info) const { return new RichKernel(info); }
  const char* GetName() const { return "Rich"; }
  size_t GetInputTypeCount() const { return 2; }
  ONNXTensorElementDataType GetInputType(size_t) const { return ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT; }
  size_t GetOutputTypeCount() const { return 1; }
  ONNXTensorElementDataType GetOutputType(size_t) const { return ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT; }
  std::vector<std::string> GetSessionConfigKeys() const { return {"key"}; }
  static Ort::Status InferOutputShape(Ort::ShapeInferContext& context) {
    const Ort::ShapeInferFn self = &InferOutputShape;
    CHECK(self && context.GetAttrFloat("f") == 1.5f && context.GetAttrInt("i") == 3 && context.GetAttrString("s") == "text");
    CHECK(context.GetAttrFloats("fs").size() == 2 && context.GetAttrInts("is") == Ort::ShapeInferContext::Ints({4, 5}));
    CHECK(context.GetAttrStrings("ss") == Ort::ShapeInferContext::Strings({"a", "bc"}));
    return context.SetOutputShape(0, context.GetInputShape(0));
  }
  void check(const Ort::SessionOptions& options) const {
    std::unordered_map<std::string, std::string> found;
    GetSessionConfigs(found, options.GetConst());
    CHECK(found.at("key") == "value" && !GetExecutionProviderType() && GetInputMemoryType(0) == OrtMemTypeDefault);
    CHECK(GetInputCharacteristic(0) == INPUT_OUTPUT_REQUIRED && GetOutputCharacteristic(0) == INPUT_OUTPUT_REQUIRED);
    CHECK(GetVariadicInputMinArity() == 1 && GetVariadicOutputMinArity() == 1);
    CHECK(GetVariadicInputHomogeneity() && GetVariadicOutputHomogeneity());
  }
};

void rich_operator(Ort::Env& env, const std::string& folder) {
  static const Rich rich;
  Ort::CustomOpDomain domain("a.domain");
  domain.Add(&rich);
  Ort::SessionOptions options;
  options.Add(domain);
  options.AddConfigEntry("custom_op.Rich.key", "value");
  rich.check(options);
  Ort::Session session(env, (folder + "/rich.onnx").c_str(), options);
  float x[] = {1, 2, 3, 4, 5, 6};
  CHECK(run(session, x, false) == 16);
}

Ort::ConstEpDevice device_called(Ort::Env& env, const char* name) {
  for (const Ort::ConstEpDevice& device : env.GetEpDevices()) {
    if (std::string(device.EpName()) == name) return device;
  }
  CHECK(false);
  return Ort::ConstEpDevice(nullptr);
}

void sessions_of_provider(Ort::Env& env, const std::string& folder) {
  Ort::AllocatorWithDefaultOptions allocator;
  const Ort::ConstEpDevice device = device_called(env, "NamesProvider");
  Ort::SessionOptions options = as_written();
  options.AppendExecutionProvider_V2(env, {device}, Ort::KeyValuePairs());
  options.EnableProfiling((folder + "/provider").c_str());
  options.AddConfigEntry("session.record_ep_graph_assignment_info", "1");
  Ort::Session session(env, (folder + "/model.onnx").c_str(), options);
  float x[] = {1, 2, 3, 4, 5, 6}, w[] = {2, 2, 2, 2, 2, 2};
  CHECK(run(session, x) == 26);
  bool took = false;
  const std::vector<Ort::ConstEpAssignedSubgraph> assigned = session.GetEpGraphAssignmentInfo();
  for (const Ort::ConstEpAssignedSubgraph& part : assigned) {
    for (const Ort::ConstEpAssignedNode& node : part.GetNodes())
      took = took || (part.GetEpName() == "NamesProvider" && node.GetName() == "mul");
  }
  CHECK(took);
  const char *key = "right", *value = "1";
  session.SetEpDynamicOptions(&key, &value, 1);
#ifndef ORT_NO_EXCEPTIONS
  key = "wrong";
  CHECK(throws([&] { session.SetEpDynamicOptions(&key, &value, 1); }));
#endif
  CHECK(content(session.EndProfilingAllocated(allocator).get()).find("an event of the provider") != std::string::npos);

  // The kernel packs a weight that sessions share.
  const Ort::MemoryInfo memory = host();
  const Ort::Value shared = over(memory, w);
  Ort::PrepackedWeightsContainer container;
  Ort::SessionOptions sharing = as_written();
  sharing.AppendExecutionProvider_V2(env, {device}, Ort::KeyValuePairs()).AddInitializer("w", shared);
  Ort::Session packing(env, (folder + "/product.onnx").c_str(), sharing, container);
  CHECK(run(packing, x, false) == 12);
}

void provider(Ort::Env& env, const std::string& folder) {
  env.RegisterExecutionProviderLibrary("names", folder + "/names_provider.so");
  const Ort::ConstEpDevice device = device_called(env, "NamesProvider"), streaming = device_called(env, "NamesStreamProvider");
  const Ort::ConstHardwareDevice hardware = device.Device();
  CHECK(hardware.VendorId() == env.GetHardwareDevices()[0].VendorId() && hardware.DeviceId() + 1 > 0);
  const Ort::ConstKeyValuePairs facts = hardware.Metadata();
  CHECK(facts != nullptr && std::string(device.EpMetadata().GetValue("made")) == "here");
  const auto details = env.GetHardwareDeviceEpIncompatibilityDetails("NamesProvider", hardware);
  CHECK(details.GetReasonsBitmask() == static_cast<uint32_t>(OrtDeviceEpIncompatibility_UNKNOWN) && details.GetErrorCode() == 7);
  CHECK(details.GetNotes() == "because");
  {
    const Ort::ConstMemoryInfo memory = streaming.GetMemoryInfo(OrtDeviceMemoryType_DEFAULT);
    CHECK(memory.GetAllocatorName() == "names");
    Ort::SyncStream stream = streaming.CreateSyncStream();
    Ort::UnownedSyncStream same = stream.GetUnowned();
    CHECK(stream.GetHandle() == same.GetHandle() && std::string(static_cast<const char*>(stream.GetHandle())) == "NamesStreamProvider");
    Ort::RunOptions options;
    options.SetSyncStream(stream).SetSyncStream(nullptr);
  }
  sessions_of_provider(env, folder);
  env.UnregisterExecutionProviderLibrary("names");
}

}  // namespace

void more_names(Ort::Env& env, const std::string& folder) {
  tables();
  types(env, folder);
  metadata(env, folder);
  threads_and_messages(env, folder);
  allocators(env);
  sparse_views();
  external_weights(env, folder);
  edited_models(env, folder);
  compiled(env, folder);
  compatibility(env, folder);
  adapters(folder);
  rich_operator(env, folder);
  provider(env, folder);
}
