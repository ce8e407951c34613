// Providers of ours as shared libraries, in Roundhouse, and with RH_CAPI_LIBRARY in another runtime of the same interface.
#include <thread>

#include "providers/plugin_fixture.h"

namespace rh::test {
namespace {

TEST_F(PluginTest, ExampleListsItsDeviceAndRuns) {
  register_library("example", library("example"));
  const auto devices = devices_of(kExample);
  ASSERT_EQ(devices.size(), 1u);
  EXPECT_STREQ(api.EpDevice_EpVendor(devices[0]), "Roundhouse");
  EXPECT_EQ(api.HardwareDevice_Type(api.EpDevice_Device(devices[0])), OrtHardwareDeviceType_CPU);
  Ort::Session session = session_of(mixed_model(), options_for(kExample));
  expect_like_cpu(session);
}

TEST_F(PluginTest, FakeDeviceRunsWithKernelsAndUnits) {
  register_library("fake", library("fake_device"));
  for (const char* kind : {"kernels", "regions", "both"}) {
    for (const char* delay : {"0", "300"}) {
      Ort::Session session = session_of(mixed_model(), options_for(kFake, {{"kind", kind}, {"delay_us", delay}}));
      expect_like_cpu(session);
    }
  }
}

TEST_F(PluginTest, FakeDeviceLeavesUnknownShapesToOthers) {
  register_library("fake", library("fake_device"));
  Ort::Session session = session_of(mixed_model(false), options_for(kFake));
  expect_like_cpu(session, false);
}

TEST_F(PluginTest, RegionsRunSideBySideWithShapesOfTheirOwn) {
  register_library("fake", library("fake_device"));
  for (const char* arena : {"0", "1"}) {
    Ort::Session made = session_of(mixed_model(false), options_for(kFake, {{"claim", "=s_node,y_node,m_node,u_node"}, {"arena", arena}}));
    Ort::Session plain = session_of(mixed_model(false), Ort::SessionOptions());
    std::vector<std::thread> threads;
    for (const size_t size : {1, 2, 3, 7}) {
      threads.emplace_back([&, size] {
        const Floats x(size, 0.5f), z(size, static_cast<float>(size));
        const std::vector<Floats> expected = run(plain, x, z);
        for (int i = 0; i < 20; ++i) EXPECT_EQ(run(made, x, z), expected) << size;
      });
    }
    for (std::thread& thread : threads) thread.join();
  }
}

TEST_F(PluginTest, RegionsWhoseResultsNobodyTakesDoNothing) {
  register_library("fake", library("fake_device"));
  const std::string model = ModelBytes()
                                .node("Add", {"x", "z"}, {"s"})
                                .node("Relu", {"x"}, {"y"})
                                .node("Neg", {"x"}, {"u"})
                                .input("x", 1, {4})
                                .input("z", 1, {4})
                                .output("y", 1, {4})
                                .output("u", 1, {4})
                                .model();
  Ort::Session session = session_of(model, options_for(kFake, {{"claim", "=s_node"}}));
  EXPECT_EQ(run(session, {1, -2, 3, 4}, {0, 0, 0, 0}), (std::vector<Floats>{{1, 0, 3, 4}, {-1, 2, -3, -4}}));
}

/// "provider: operator name, ...": one for each group that a provider took.
std::vector<std::string> assignment_of(const Ort::Session& session) {
  std::vector<std::string> lines;
  for (const Ort::ConstEpAssignedSubgraph& subgraph : session.GetEpGraphAssignmentInfo()) {
    std::string line = subgraph.GetEpName() + ":";
    for (const Ort::ConstEpAssignedNode& node : subgraph.GetNodes()) {
      EXPECT_EQ(node.GetDomain(), "");
      line += " " + node.GetOperatorType() + " " + node.GetName();
    }
    lines.push_back(line);
  }
  return lines;
}

TEST_F(PluginTest, TellsWhoTookWhichNodes) {
  register_library("fake", library("fake_device"));
  register_library("example", library("example"));
  const auto recording = [](Ort::SessionOptions options) {
    options.AddConfigEntry("session.record_ep_graph_assignment_info", "1");
    return options;
  };
  EXPECT_EQ(assignment_of(session_of(mixed_model(), recording(options_for(kExample)))),
            (std::vector<std::string>{"ExampleExecutionProvider: Add s_node", "ExampleExecutionProvider: Relu y_node",
                                      "ExampleExecutionProvider: Mul m_node", "CPUExecutionProvider: Exp w_node",
                                      "CPUExecutionProvider: Tanh u_node"}));
  EXPECT_EQ(assignment_of(session_of(mixed_model(), recording(options_for(kFake)))),
            (std::vector<std::string>{"FakeDeviceExecutionProvider: Add s_node", "FakeDeviceExecutionProvider: Relu y_node",
                                      "FakeDeviceExecutionProvider: Mul m_node", "FakeDeviceExecutionProvider: Tanh u_node",
                                      "CPUExecutionProvider: Exp w_node"}));
  EXPECT_EQ(assignment_of(session_of(mixed_model(), recording(options_for(kFake, {{"kind", "regions"}})))),
            (std::vector<std::string>{"FakeDeviceExecutionProvider: Add s_node Relu y_node",
                                      "FakeDeviceExecutionProvider: Mul m_node Tanh u_node", "CPUExecutionProvider: Exp w_node"}));
  const Ort::Session silent = session_of(mixed_model(), options_for(kExample));
  const OrtEpAssignedSubgraph* const* subgraphs = nullptr;
  size_t count = 0;
  EXPECT_EQ(code_of(api.Session_GetEpGraphAssignmentInfo(silent, &subgraphs, &count)), ORT_FAIL);
}

void ORT_API_CALL keep_message(void* lines, OrtLoggingLevel, const char*, const char*, const char*, const char* message) {
  static_cast<std::vector<std::string>*>(lines)->emplace_back(message);
}

TEST_F(PluginTest, LogsWhereNodesAre) {
  register_library("example", library("example"));
  for (const bool mixed : {true, false}) {
    Ort::SessionOptions options = mixed ? options_for(kExample) : Ort::SessionOptions();
    options.SetGraphOptimizationLevel(ORT_DISABLE_ALL);
    options.SetLogSeverityLevel(0);
    std::vector<std::string> lines;
    Ort::ThrowOnError(api.SetUserLoggingFunction(options, keep_message, &lines));
    session_of(mixed_model(), options);
    ASSERT_NE(std::find(lines.begin(), lines.end(), "Node placements"), lines.end());
    using Block = std::vector<std::string>;
    const std::vector<Block> expected =
        mixed ? std::vector<Block>{{" Node(s) placed on [ExampleExecutionProvider]. Number of nodes: 3", "  Add (s_node)",
                                    "  Relu (y_node)", "  Mul (m_node)"},
                                   {" Node(s) placed on [CPUExecutionProvider]. Number of nodes: 2", "  Exp (w_node)", "  Tanh (u_node)"}}
              : std::vector<Block>{{" All nodes placed on [CPUExecutionProvider]. Number of nodes: 5"}};
    for (const Block& block : expected) {
      auto at = std::find(lines.begin(), lines.end(), block[0]);
      for (const std::string& line : block) {
        ASSERT_NE(at, lines.end()) << line;
        EXPECT_TRUE(at->starts_with(line)) << *at << " instead of " << line;
        ++at;
      }
    }
  }
}

TEST_F(PluginTest, WarnsOfNodesThatMissThePreferredProvider) {
  register_library("example", library("example"));
  register_library("fake", library("fake_device"));
  const std::string relu = ModelBytes().node("Relu", {"x"}, {"y"}).input("x", 1, {4}).output("y", 1, {4}).model(13);
  struct Case {
    const char* provider;
    std::string model;
    bool warned;
  };
  for (const Case& c : {Case{kExample, mixed_model(), true}, {kFake, relu, false}, {nullptr, mixed_model(), false}}) {
    Ort::SessionOptions options = c.provider ? options_for(c.provider) : Ort::SessionOptions();
    options.SetLogSeverityLevel(ORT_LOGGING_LEVEL_WARNING);
    std::vector<std::string> lines;
    Ort::ThrowOnError(api.SetUserLoggingFunction(options, keep_message, &lines));
    session_of(c.model, options);
    EXPECT_EQ(!lines.empty(), c.warned) << (c.provider ? c.provider : "the CPU");
    if (c.warned && Library::get().ours) {
      EXPECT_EQ(lines, std::vector<std::string>{"2 of 5 nodes are not on the preferred ExampleExecutionProvider: 1 Exp, 1 Tanh. At log "
                                                "severity 0 it is said where each node is, and why."});
    }
  }
}

TEST_F(PluginTest, BothAtOnce) {
  register_library("fake", library("fake_device"));
  register_library("example", library("example"));
  Ort::SessionOptions options = options_for(kExample);
  const auto devices = devices_of(kFake);
  Ort::ThrowOnError(api.SessionOptionsAppendExecutionProvider_V2(options, env(), devices.data(), devices.size(), nullptr, nullptr, 0));
  Ort::Session session = session_of(mixed_model(), options);
  expect_like_cpu(session);
}

TEST_F(PluginTest, AProviderIsAppendedOnce) {
  register_library("fake", library("fake_device"));
  const auto devices = devices_of(kFake);
  Ort::SessionOptions options = options_for(kFake);
  Ort::ThrowOnError(api.SessionOptionsAppendExecutionProvider_V2(options, env(), devices.data(), devices.size(), nullptr, nullptr, 0));
  const std::string message = message_of([&] { session_of(mixed_model(), options); });
  EXPECT_NE(message.find("Provider FakeDeviceExecutionProvider has already been registered"), std::string::npos) << message;
}

TEST_F(PluginTest, FailuresNameProviderAndCall) {
  register_library("fake", library("fake_device"));
  for (const char* call : {"create", "capability", "kernel"}) {
    if (!Library::get().ours && call == std::string("capability")) continue;  // the stock library logs it and goes on without
    const std::string message = message_of([&] { session_of(mixed_model(), options_for(kFake, {{"fail", call}})); });
    EXPECT_NE(message.find("failure injected at " + std::string(call)), std::string::npos) << message;
    EXPECT_TRUE(!Library::get().ours || message.find(kFake) != std::string::npos) << message;
  }
  Ort::Session session = session_of(mixed_model(), options_for(kFake, {{"fail", "run"}}));
  const std::string message = message_of([&] { run(session, {1, 2, 3, 4}, {1, 2, 3, 4}); });
  EXPECT_NE(message.find("failure injected at run"), std::string::npos) << message;
}

TEST_F(PluginTest, CopiesTensorsToTheDeviceAndBack) {
  register_library("fake", library("fake_device"));
  const auto devices = devices_of(kFake);
  const OrtMemoryInfo* info = api.EpDevice_MemoryInfo(devices[0], OrtDeviceMemoryType_DEFAULT);
  ASSERT_NE(info, nullptr);
  OrtAllocator* device = nullptr;
  Ort::ThrowOnError(api.GetSharedAllocator(env(), info, &device));
  ASSERT_NE(device, nullptr);
  Floats x = {1, 2, 3, 4}, back(4, 0.0f);
  const int64_t dims[] = {4};
  const Ort::Value from = Ort::Value::CreateTensor<float>(cpu, x.data(), 4, dims, 1);
  Ort::Value to = Ort::Value::CreateTensor<float>(cpu, back.data(), 4, dims, 1);
  Ort::Value there = Ort::Value::CreateTensor<float>(device, dims, 1);
  const OrtValue* sources[] = {from, there};
  OrtValue* targets[] = {there, to};
  Ort::ThrowOnError(api.CopyTensors(env(), sources, targets, nullptr, 1));
  Ort::ThrowOnError(api.CopyTensors(env(), sources + 1, targets + 1, nullptr, 1));
  EXPECT_EQ(back, x);
}

TEST_F(PluginTest, ValuesBoundOnTheDeviceAreNotCopied) {
  register_library("fake", library("fake_device"));
  const std::string model = ModelBytes()
                                .node("Add", {"x", "z"}, {"s"})
                                .node("Relu", {"s"}, {"y"})
                                .input("x", 1, {4})
                                .input("z", 1, {4})
                                .output("y", 1, {4})
                                .model();
  Ort::Session session = session_of(model, options_for(kFake, {{"delay_us", "100"}}));
  const OrtMemoryInfo* info = api.EpDevice_MemoryInfo(devices_of(kFake)[0], OrtDeviceMemoryType_DEFAULT);
  OrtAllocator* device = nullptr;
  Ort::ThrowOnError(api.GetSharedAllocator(env(), info, &device));
  Floats host = {1, -2, 3, -4};
  const int64_t dims[] = {4};
  const Ort::Value x = Ort::Value::CreateTensor<float>(cpu, host.data(), 4, dims, 1);
  Ort::Value there = Ort::Value::CreateTensor<float>(device, dims, 1);
  const OrtValue* source[] = {x};
  OrtValue* target[] = {there};
  Ort::ThrowOnError(api.CopyTensors(env(), source, target, nullptr, 1));
  OrtIoBinding* binding = nullptr;
  Ort::ThrowOnError(api.CreateIoBinding(session, &binding));
  Ort::ThrowOnError(api.BindInput(binding, "x", there));
  Ort::ThrowOnError(api.BindInput(binding, "z", there));
  Ort::ThrowOnError(api.BindOutputToDevice(binding, "y", info));
  for (int i = 0; i < 3; ++i) Ort::ThrowOnError(api.RunWithBinding(session, nullptr, binding));
  OrtAllocator* allocator = nullptr;
  OrtValue** values = nullptr;
  size_t count = 0;
  Ort::ThrowOnError(api.GetAllocatorWithDefaultOptions(&allocator));
  Ort::ThrowOnError(api.GetBoundOutputValues(binding, allocator, &values, &count));
  ASSERT_EQ(count, 1u);
  Ort::Value y(values[0]);
  allocator->Free(allocator, values);
  Floats result(4, 0.0f);
  Ort::Value back = Ort::Value::CreateTensor<float>(cpu, result.data(), 4, dims, 1);
  const OrtValue* made[] = {y};
  OrtValue* to[] = {back};
  Ort::ThrowOnError(api.CopyTensors(env(), made, to, nullptr, 1));
  EXPECT_EQ(result, (Floats{2, 0, 6, 0}));
  api.ReleaseIoBinding(binding);
  if (!Library::get().ours) return;
  for (const char* name : {"input_copies", "output_copies", "step_copies"}) EXPECT_EQ(counter(session, name), 0) << name;
  const OrtMemoryInfo* places[2] = {};
  Ort::ThrowOnError(api.SessionGetMemoryInfoForInputs(session, places, 2));
  EXPECT_EQ(places[0], info);
}

TEST_F(PluginTest, LibrariesThatAreNoneSaySo) {
  const std::string missing = message_of([&] { register_library("missing", "/nowhere/lib.so"); });
  EXPECT_NE(missing.find("/nowhere/lib.so"), std::string::npos) << missing;
  const std::string text = testing::TempDir() + "no_library.so";
  std::ofstream(text) << "text";
  EXPECT_NE(message_of([&] { register_library("text", text); }), "");
  EXPECT_NE(message_of([&] { Ort::ThrowOnError(api.UnregisterExecutionProviderLibrary(env(), "never")); }), "");
  EXPECT_TRUE(registered_.empty());
  if (!Library::get().ours) return;
  const std::string other = message_of([&] { register_library("self", Library::get().path); });
  EXPECT_NE(other.find("does not export CreateEpFactories"), std::string::npos) << other;
  register_library("example", library("example"));
  const std::string twice = message_of([&] { register_library("example", library("example")); });
  EXPECT_NE(twice.find("registered as 'example' already"), std::string::npos) << twice;
}

TEST_F(PluginTest, NamesOfRegisteredProvidersWorkAsProviders) {
  if (!Library::get().ours) GTEST_SKIP() << "the stock library takes devices alone";
  register_library("example", library("example"));
  Ort::SessionOptions options;
  options.SetGraphOptimizationLevel(ORT_DISABLE_ALL);
  options.AppendExecutionProvider(kExample, {});
  Ort::Session session = session_of(mixed_model(), options);
  expect_like_cpu(session);
  const auto available = Ort::GetAvailableProviders();
  EXPECT_EQ(available.front(), kExample);
}

struct VersionCase {
  const char* version;
  std::string fails;  ///< part of the message of the session; empty: it runs
};

// Each version has fields that the host must not read; its own, and newer ones, it must.
TEST_F(PluginTest, VersionsAreNegotiatedDownwards) {
  if (!Library::get().ours) GTEST_SKIP() << "the stock library reads fields that are newer than the version";
  const VersionCase cases[] = {
      {"0", "no GetCapability"}, {"22", "no GetCapability"}, {"23", ""}, {"24", ""}, {"27", ""}, {"31", ""}, {"99", ""}};
  for (const VersionCase& row : cases) {
    SCOPED_TRACE(row.version);
    setenv("RH_PLUGIN_VERSION", row.version, 1);
    register_library("versions", RH_BUILD_DIR "/lib/versions_plugin.so");
    {
      const Ort::SessionOptions options = options_for("VersionsExecutionProvider");
      const std::string message = message_of([&] {
        Ort::Session session = session_of(mixed_model(), options);
        expect_like_cpu(session);
      });
      EXPECT_EQ(message.empty(), row.fails.empty()) << message;
      EXPECT_NE(message.find(row.fails), std::string::npos) << message;
    }
    TearDown();
    registered_.clear();
  }
  unsetenv("RH_PLUGIN_VERSION");
}

// A registration name that ends so lets the plugin offer devices that have no hardware; others do not.
TEST_F(PluginTest, ANameThatEndsInVirtualAllowsVirtualDevices) {
  if (!Library::get().ours) GTEST_SKIP() << "the stock library reads fields that are newer than the version";
  for (const bool allowed : {false, true, false}) {
    register_library(allowed ? "versions.virtual" : "versions", RH_BUILD_DIR "/lib/versions_plugin.so");
    const auto devices = devices_of("VersionsExecutionProvider");
    ASSERT_EQ(devices.size(), 1u);
    const char* value = api.GetKeyValue(api.EpDevice_EpMetadata(devices[0]), "allow_virtual_devices");
    EXPECT_EQ(value ? std::string(value) : "", allowed ? "1" : "");
    TearDown();
    registered_.clear();
  }
}

OrtStatus* ORT_API_CALL choose_fake(const OrtEpDevice** devices, size_t count, const OrtKeyValuePairs*, const OrtKeyValuePairs*,
                                    const OrtEpDevice** selected, size_t, size_t* selected_count, void* state) {
  *selected_count = 0;
  ++*static_cast<int*>(state);
  for (size_t i = 0; i < count; ++i) {
    if (std::string(Ort::GetApi().EpDevice_EpName(devices[i])) == kFake) selected[(*selected_count)++] = devices[i];
  }
  return nullptr;
}

TEST_F(PluginTest, ADelegateChoosesDevices) {
  register_library("fake", library("fake_device"));
  Ort::SessionOptions options;
  int calls = 0;
  Ort::ThrowOnError(api.SessionOptionsSetEpSelectionPolicyDelegate(options, choose_fake, &calls));
  Ort::Session session = session_of(mixed_model(), options);
  EXPECT_EQ(calls, 1);
  expect_like_cpu(session);
}

}  // namespace
}  // namespace rh::test
