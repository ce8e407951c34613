// Plugins that go wrong: the host lives, and the error says who, in which call, and at which node.
#include "providers/plugin_fixture.h"

#include <unistd.h>

#include <chrono>
#include <iostream>

namespace rh::test {
namespace {

constexpr char kFaulty[] = "FaultyExecutionProvider";

/// y = Relu(x + z), u = Neg(y) + x.
std::string faulty_model() {
  return ModelBytes()
      .node("Add", {"x", "z"}, {"s"})
      .node("Relu", {"s"}, {"y"})
      .node("Neg", {"y"}, {"n"})
      .node("Add", {"n", "x"}, {"u"})
      .input("x", 1, {4})
      .input("z", 1, {4})
      .output("y", 1, {4})
      .output("u", 1, {4})
      .model();
}

class FaultsTest : public PluginTest {
 protected:
  void SetUp() override {
    if (!Library::get().ours) GTEST_SKIP() << "the stock library does not survive this";
  }
  void TearDown() override {
    unsetenv("RH_FAULT");
    PluginTest::TearDown();
  }
  void let_libraries_go() {
    PluginTest::TearDown();
    registered_.clear();
  }
  /// Where the plugin goes wrong, from here on.
  void set_fault(const char* fault) { setenv("RH_FAULT", fault, 1); }

  std::vector<std::string> parts_missing(const std::string& message, const std::vector<std::string>& parts) {
    std::vector<std::string> missing;
    for (const std::string& part : parts) {
      if (message.find(part) == std::string::npos) missing.push_back(part);
    }
    return missing;
  }
};

struct FaultCase {
  const char* fault;
  std::vector<std::string> says;  ///< empty: it works
};

TEST_F(FaultsTest, AtLoad) {
  const FaultCase cases[] = {
      {"factories_without_memory", {"faulty", "CreateEpFactories threw an exception", "out of memory"}},
      {"factories_throw", {"faulty", "CreateEpFactories threw an exception", "thrown in CreateEpFactories"}},
      {"no_factories", {"faulty", "CreateEpFactories gave 0 factories", "1 to"}},
      {"null_factory", {"faulty", "null factory"}},
      {"too_many_factories", {"faulty", "gave 1000 factories"}},
      {"host_is_too_old", {"faulty", "CreateEpFactories failed", "needs API version 99"}},
      {"factory_without_members", {"faulty", "lacks GetName", "CreateEp"}},
      {"factory_without_name", {"faulty", "has no name"}},
      {"factory_name_throws", {"faulty", "has no name"}},
      {"devices_throw", {kFaulty, "GetSupportedDevices threw an exception", "thrown in GetSupportedDevices"}},
      {"devices_without_memory", {kFaulty, "GetSupportedDevices threw an exception", "out of memory"}},
      {"devices_too_many", {kFaulty, "GetSupportedDevices gave 1000 devices"}},
      {"transfer_throws", {kFaulty, "CreateDataTransfer threw an exception"}},
  };
  for (const FaultCase& row : cases) {
    SCOPED_TRACE(row.fault);
    set_fault(row.fault);
    const std::string message = message_of([&] { register_library("faulty", test_plugin("faulty")); });
    EXPECT_TRUE(parts_missing(message, row.says).empty()) << message;
    EXPECT_TRUE(registered_.empty());
    EXPECT_TRUE(devices_of(kFaulty).empty());
  }
}

TEST_F(FaultsTest, InSessions) {
  const FaultCase cases[] = {
      {"none", {}},
      {"create_throws", {kFaulty, "CreateEp threw an exception", "thrown in CreateEp"}},
      {"create_without_memory", {kFaulty, "CreateEp failed", "out of memory"}},
      {"create_gives_nothing", {kFaulty, "CreateEp gave no provider"}},
      {"layout_is_unknown", {kFaulty, "GetPreferredDataLayout gave 17"}},
      {"ep_without_members", {kFaulty, "no GetCapability"}},
      {"ep_name_throws", {}},
      {"capability_throws", {kFaulty, "GetCapability threw an exception", "thrown in GetCapability"}},
      {"capability_claims_nothing", {kFaulty, "GetCapability failed", "at least one node"}},
      {"capability_claims_null", {kFaulty, "GetCapability failed", "node 0 of 1 is null"}},
      {"capability_claims_twice", {}},  // as it says to the log: claims_test.cc
      {"capability_makes_a_cycle", {}},
      {"capability_claims_without_kernel", {kFaulty, "has no kernel", "node s_node"}},
      {"ep_without_compile", {kFaulty, "no Compile"}},
      {"compile_throws", {kFaulty, "Compile threw an exception", "thrown in Compile", "node y_node"}},
      {"compile_without_memory", {kFaulty, "Compile failed", "out of memory", "node y_node"}},
      {"compile_gives_nothing", {kFaulty, "Compile gave nothing"}},
      {"unit_without_compute", {kFaulty, "has no Compute"}},
      {"unit_state_throws", {kFaulty, "CreateState threw an exception"}},
      {"unit_release_throws", {}},
      {"infos_release_throws", {}},
      {"release_throws", {}},
      {"release_without_memory", {}},
      {"factory_release_throws", {}},
      {"compute_throws", {kFaulty, "Compute failed", "FaultyExecutionProvider_0"}},
      {"compute_without_memory", {kFaulty, "Compute failed", "out of memory"}},
      {"compute_without_output", {kFaulty, "gave no output 0 ('y')", "[4]"}},
      {"compute_gives_a_longer_output", {kFaulty, "output 0 ('y') would have the shape [5], expected", "[4]"}},
      {"compute_gives_another_rank", {kFaulty, "would have the shape [4, 1], expected"}},
      {"compute_gives_a_negative_size", {kFaulty, "Compute failed", "-4"}},
      {"run_start_throws", {kFaulty, "OnRunStart threw an exception", "run start"}},
      {"run_end_fails", {kFaulty, "OnRunEnd failed", "out of memory"}},
  };
  for (const FaultCase& row : cases) {
    SCOPED_TRACE(row.fault);
    set_fault(row.fault);
    register_library("faulty", test_plugin("faulty"));
    const std::string message = message_of([&] {
      Ort::Session session = session_of(faulty_model(), options_for(kFaulty));
      EXPECT_EQ(run(session, {1, -2, 3, -4}, {1, 1, 1, 1}), (std::vector<Floats>{{2, 0, 4, 0}, {-1, -2, -1, -4}}));
    });
    EXPECT_EQ(message.empty(), row.says.empty()) << message;
    EXPECT_TRUE(parts_missing(message, row.says).empty()) << message;
    let_libraries_go();
  }
}

TEST_F(FaultsTest, ThatHangAreLeftBehind) {
  set_fault("create_hangs");
  register_library("faulty", test_plugin("faulty"));
  Ort::SessionOptions options = options_for(kFaulty);
  options.AddConfigEntry("roundhouse.plugin.timeout_ms", "50");
  const std::string message = message_of([&] { session_of(faulty_model(), options); });
  EXPECT_TRUE(parts_missing(message, {kFaulty, "CreateEp did not return in 50 ms", "roundhouse.plugin.timeout_ms"}).empty()) << message;
  options.AddConfigEntry("roundhouse.plugin.timeout_ms", "soon");
  EXPECT_NE(message_of([&] { session_of(faulty_model(), options); }).find("expected a number of milliseconds"), std::string::npos);
}

/// In an environment of its own, whose libraries have so long to load, make factories and list devices, registers the library under each
/// name; what went wrong goes to stderr. Ends the process, since a library that hangs while it is loaded keeps the system's loader locked.
[[noreturn]] void register_impatiently(const char* fault, const char* milliseconds, const std::vector<const char*>& names) {
  setenv("RH_FAULT", fault, 1);
  const OrtApi& api = Ort::GetApi();
  OrtKeyValuePairs* config = nullptr;
  api.CreateKeyValuePairs(&config);
  api.AddKeyValuePair(config, "roundhouse.plugin.timeout_ms", milliseconds);
  OrtEnvCreationOptions options{};
  options.version = ORT_API_VERSION;
  options.logging_severity_level = ORT_LOGGING_LEVEL_FATAL;
  options.log_id = "impatient";
  options.config_entries = config;
  OrtEnv* env = nullptr;
  Ort::ThrowOnError(api.CreateEnvWithOptions(&options, &env));
  for (const char* name : names) {
    OrtStatus* status = api.RegisterExecutionProviderLibrary(env, name, test_plugin("faulty").c_str());
    std::cerr << (status ? api.GetErrorMessage(status) : "registered") << "\n";
  }
  _exit(3);
}

TEST_F(FaultsTest, ThatHangWhileRegisteredAreLeftBehind) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(register_impatiently("load_hangs", "50", {"faulty", "again"}), testing::ExitedWithCode(3),
              "'faulty'.*: loading '.*faulty_plugin.so' did not return in 50 ms.*\n.*'again'.*did not return");
  // Longer than it takes to load the library on a busy machine.
  EXPECT_EXIT(register_impatiently("factories_hang", "2000", {"faulty"}), testing::ExitedWithCode(3),
              "faulty: CreateEpFactories did not return in 2000 ms.*roundhouse.plugin.timeout_ms");
  EXPECT_EXIT(register_impatiently("devices_hang", "2000", {"faulty"}), testing::ExitedWithCode(3),
              "FaultyExecutionProvider: OrtEpFactory::GetSupportedDevices did not return in 2000 ms");
}

// As programs do that make their options before their environment.
TEST_F(FaultsTest, OptionsBeforeTheEnvironmentFindLibrariesByName) {
  const std::string folder = testing::TempDir() + "rh_by_name";
  std::filesystem::create_directories(folder);
  std::filesystem::copy_file(test_plugin("faulty"), folder + "/roundhouse_provider_xnnpack.so",
                             std::filesystem::copy_options::overwrite_existing);
  const auto make_session = [&](const char* fault) {
    setenv("ROUNDHOUSE_PROVIDER_PATH", folder.c_str(), 1);
    setenv("RH_PLUGIN_NAME", "XnnpackExecutionProvider", 1);
    setenv("RH_FAULT", fault, 1);
    Ort::SessionOptions options;
    options.AppendExecutionProvider("XNNPACK", {});
    const std::string message = message_of([&] {
      Ort::Session session = session_of(faulty_model(), options);
      run(session, {1, -2, 3, -4}, {1, 1, 1, 1});
    });
    std::cerr << message;
    _exit(3);
  };
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(make_session("compute_throws"), testing::ExitedWithCode(3), "XnnpackExecutionProvider: .*Compute failed");
  EXPECT_EXIT(make_session("no_devices"), testing::ExitedWithCode(3), "finds no device");
}

TEST_F(FaultsTest, LeaksAreToldWhenTheLibraryGoes) {
  Ort::ThrowOnError(api.UpdateEnvWithCustomLogLevel(env(), ORT_LOGGING_LEVEL_WARNING));
  set_fault("leaks");
  register_library("faulty", test_plugin("faulty"));
  testing::internal::CaptureStderr();
  let_libraries_go();
  const std::string log = testing::internal::GetCapturedStderr();
  Ort::ThrowOnError(api.UpdateEnvWithCustomLogLevel(env(), ORT_LOGGING_LEVEL_FATAL));
  EXPECT_TRUE(parts_missing(log, {"faulty", "ReleaseEpFactory failed", "3 allocations were not given back"}).empty()) << log;
}

struct DeviceFault {
  const char* call;
  const char* kind;               ///< whether nodes go to kernels or become units
  std::vector<std::string> says;  ///< beside the provider
};
const DeviceFault kAtCreation[] = {
    {"create", "kernels", {"CreateEp failed"}},
    {"capability", "kernels", {"GetCapability failed"}},
    {"kernel", "kernels", {"creating the kernel of Add(17) failed", "node s_node"}},
    {"compile", "regions", {"Compile failed", "node s_node"}},
    {"alloc", "kernels", {"OrtAllocator::Alloc gave no memory for 16 bytes", "constant 'k'"}},
    {"copy_in", "kernels", {"CopyTensors failed", "constant 'k'"}},
};
const DeviceFault kInRuns[] = {
    {"stream", "kernels", {"CreateSyncStreamForDevice failed"}},
    {"run", "kernels", {"OrtKernelImpl::Compute failed", "node s_node"}},
    {"run", "regions", {"OrtNodeComputeInfo::Compute failed", "node FakeDeviceExecutionProvider_0"}},
    {"alloc", "kernels", {"OrtAllocator::Alloc gave no memory for 16 bytes", "input 'x'"}},
    {"copy_in", "kernels", {"CopyTensors failed", "input 'x'"}},
    {"copy_out", "kernels", {"CopyTensors failed", "node copy_y"}},
    {"work", "kernels", {"CopyTensors failed", "node copy_y"}},
    {"record", "kernels", {"CreateNotification failed"}},
    {"wait", "kernels", {"WaitOnHost failed", "node w_node"}},
    {"end_run", "kernels", {"OnSessionRunEnd failed"}},
};

/// A constant beside the nodes of mixed_model.
std::string model_with_constant() {
  return ModelBytes()
      .initializer("k", {1, 2, 3, 4})
      .node("Add", {"x", "z"}, {"s"})
      .node("Mul", {"s", "k"}, {"y"})
      .node("Neg", {"y"}, {"u"})
      .input("x", 1, {4})
      .input("z", 1, {4})
      .output("y", 1, {4})
      .output("u", 1, {4})
      .model();
}

// A device with memory and streams: what fails is said, the session goes on, and the device gets its memory back.
TEST_F(FaultsTest, OfADevice) {
  Ort::ThrowOnError(api.UpdateEnvWithCustomLogLevel(env(), ORT_LOGGING_LEVEL_WARNING));
  testing::internal::CaptureStderr();
  register_library("fake", library("fake_device"));
  const Floats x = {1, 2, 3, 4}, z = {4, -9, 2, 1};
  Ort::Session plain = session_of(mixed_model(), Ort::SessionOptions());
  const std::vector<Floats> expected = run(plain, x, z);
  const auto options = [&](const DeviceFault& row, const char* with) {
    return options_for(kFake, {{"fail", row.call}, {"fail_times", "1"}, {"fail_with", with}, {"delay_us", "10"}, {"kind", row.kind}});
  };
  const auto expect_said = [&](const std::string& message, const DeviceFault& row, const std::string& with) {
    EXPECT_TRUE(parts_missing(message, {kFake}).empty()) << message;
    EXPECT_TRUE(parts_missing(message, row.says).empty()) << message;
    if (row.call == std::string("alloc")) return;  // allocators give no cause
    EXPECT_NE(message.find(with == "memory" ? "out of memory" : "failure injected at"), std::string::npos) << message;
  };
  for (const char* with : {"error", "memory"}) {
    for (const DeviceFault& row : kAtCreation) {
      SCOPED_TRACE(std::string(row.call) + " " + with);
      expect_said(message_of([&] { session_of(model_with_constant(), options(row, with)); }), row, with);
    }
    for (const DeviceFault& row : kInRuns) {
      SCOPED_TRACE(std::string(row.call) + " " + with);
      Ort::Session session = session_of(mixed_model(), options(row, with));
      expect_said(message_of([&] { run(session, x, z); }), row, with);
      EXPECT_EQ(message_of([&] { EXPECT_EQ(run(session, x, z), expected); }), "");
    }
  }
  let_libraries_go();
  const std::string log = testing::internal::GetCapturedStderr();
  Ort::ThrowOnError(api.UpdateEnvWithCustomLogLevel(env(), ORT_LOGGING_LEVEL_FATAL));
  EXPECT_EQ(log.find("ReleaseEpFactory failed"), std::string::npos) << log;
}

/// A copy of a library that needs another one, which is nowhere.
std::string without_dependency() {
  std::ifstream in(test_plugin("faulty"), std::ios::binary);
  std::string bytes((std::istreambuf_iterator<char>(in)), {});
  const std::string needed = "libstdc++.so.6", gone = "libgone_rh.so.";
  for (size_t at = bytes.find(needed); at != std::string::npos; at = bytes.find(needed, at + 1)) bytes.replace(at, gone.size(), gone);
  std::string path = testing::TempDir() + "needs_gone.so";
  std::ofstream(path, std::ios::binary) << bytes;
  return path;
}

// Ways in which a wanted provider cannot be had: each has an error of its own, with its cause and a remedy.
TEST_F(FaultsTest, EachWayNotToHaveAProviderHasItsError) {
  const auto append = [&](const char* name) {
    return message_of([&] {
      Ort::SessionOptions options;
      options.AppendExecutionProvider(name, {});
    });
  };
  const auto load = [&](const std::string& path, const char* fault) {
    set_fault(fault);
    return message_of([&] { register_library("faulty", path); });
  };
  const std::string text = testing::TempDir() + "text.so";
  std::ofstream(text) << "no library";
  struct Way {
    const char* name;
    std::string message;
    std::vector<std::string> says;
  };
  std::vector<Way> ways = {
      {"unknown name", append("CUDDAExecutionProvider"), {"no execution provider is called", "nearest name is 'CUDAExecutionProvider'"}},
      {"gone for good", append("ArmNNExecutionProvider"), {"was removed", "ACLExecutionProvider takes its place"}},
      {"another system's", append("DmlExecutionProvider"), {"runs on Windows only", "leave it out"}},
      {"not installed",
       append("TensorrtExecutionProvider"),
       {"is not installed", "roundhouse_provider_tensorrt", "ROUNDHOUSE_PROVIDER_PATH"}},
      {"no file", load("/nowhere/provider.so", "none"), {"there is no file '/nowhere/provider.so'", "give the path"}},
      {"no library", load(text, "none"), {"does not load", "text.so", "built for this system"}},
      {"a missing dependency",
       load(without_dependency(), "none"),
       {"does not load", "libgone_rh.so", "install the library", "LD_LIBRARY_PATH"}},
      {"no provider", load(Library::get().path, "none"), {"no provider library", "does not export CreateEpFactories", "give the path"}},
      {"another version", load(test_plugin("faulty"), "host_is_too_old"), {"CreateEpFactories failed", "needs API version 99"}},
  };
  set_fault("no_devices");
  register_library("faulty", test_plugin("faulty"));
  ways.push_back({"no device", append(kFaulty), {"finds no device", "faulty_plugin.so", "leave it out"}});
  let_libraries_go();
  set_fault("create_without_memory");
  register_library("faulty", test_plugin("faulty"));
  ways.push_back({"it fails", message_of([&] { session_of(faulty_model(), options_for(kFaulty)); }), {"CreateEp failed", "out of memory"}});
  set_fault("create_refuses_options");
  ways.push_back(
      {"options", message_of([&] { session_of(faulty_model(), options_for(kFaulty, {{"speed", "9"}})); }), {"no option 'speed'"}});
  set_fault("create_hangs");
  Ort::SessionOptions impatient = options_for(kFaulty);
  impatient.AddConfigEntry("roundhouse.plugin.timeout_ms", "20");
  ways.push_back({"it hangs", message_of([&] { session_of(faulty_model(), impatient); }), {"did not return in 20 ms"}});
  std::set<std::string> distinct;
  for (const Way& way : ways) {
    EXPECT_TRUE(parts_missing(way.message, way.says).empty()) << way.name << ": " << way.message;
    distinct.insert(way.message);
  }
  EXPECT_EQ(distinct.size(), ways.size());
}

}  // namespace
}  // namespace rh::test
