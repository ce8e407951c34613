// Asynchronous runs, threads made by the caller, global pools, profiles and messages of single runs.
#include <atomic>
#include <filesystem>
#include <future>
#include <mutex>
#include <thread>

#include "library.h"
#include "model_bytes.h"
#include "roundhouse/roundhouse_c_api.h"

namespace rh::test {
namespace {

/// Functions that make and join threads, and count.
struct Threads {
  std::atomic<int> created{0}, joined{0};

  static OrtCustomThreadHandle ORT_API_CALL create(void* self, OrtThreadWorkerFn work, void* parameter) {
    ++static_cast<Threads*>(self)->created;
    return reinterpret_cast<OrtCustomThreadHandle>(new Made{std::thread(work, parameter), static_cast<Threads*>(self)});
  }
  static void ORT_API_CALL join(OrtCustomThreadHandle handle) {
    const std::unique_ptr<Made> made(const_cast<Made*>(reinterpret_cast<const Made*>(handle)));
    made->thread.join();
    ++made->owner->joined;
  }

 private:
  struct Made {
    std::thread thread;
    Threads* owner;
  };
};

/// Log messages of any thread.
struct Messages {
  std::mutex mutex;
  std::string text;

  static void ORT_API_CALL take(void* self, OrtLoggingLevel, const char*, const char*, const char*, const char* message) {
    auto& messages = *static_cast<Messages*>(self);
    const std::lock_guard lock(messages.mutex);
    messages.text += message + std::string("\n");
  }
};

class RunControlTest : public ApiTest {
 protected:
  Ort::Session load(const Ort::Env& env, const Ort::SessionOptions& options) {
    const std::string bytes = add_relu_model();
    return Ort::Session(env, bytes.data(), bytes.size(), options);
  }
  std::vector<Ort::Value> run(Ort::Session& session, const Ort::RunOptions& options = Ort::RunOptions()) {
    return session.Run(options, inputs, &value, 1, outputs, 1);
  }

  std::vector<float> x{-3, -2, -1, 0, 1, 2};
  const int64_t shape[2] = {2, 3};
  Ort::Value value = Ort::Value::CreateTensor<float>(cpu, x.data(), x.size(), shape, 2);
  const char* inputs[1] = {"x"};
  const char* outputs[1] = {"y"};
};

/// Counts down as callbacks come.
struct Pending {
  std::atomic<int> left;
  std::atomic<int> failed{0};
  std::promise<void> over;

  explicit Pending(int count) : left(count) {}
  static void ORT_API_CALL done(void* self, OrtValue** results, size_t count, OrtStatusPtr status) {
    auto& pending = *static_cast<Pending*>(self);
    const Ort::Status owned(status);
    if (!owned.IsOK() || count != 1 || !results[0]) ++pending.failed;
    if (--pending.left == 0) pending.over.set_value();
  }
};

TEST_F(RunControlTest, ManyAsynchronousRunsAtOnce) {
  const Ort::Env env(ORT_LOGGING_LEVEL_FATAL);
  for (const int threads : {1, 2}) {
    if (threads == 1 && !Library::get().ours) continue;
    Ort::SessionOptions options;
    options.SetIntraOpNumThreads(threads);
    Ort::Session session = load(env, options);
    constexpr int kRuns = 100;
    Pending pending(kRuns);
    const Ort::RunOptions run_options;
    std::vector<Ort::Value> results(kRuns);
    for (Ort::Value& result : results) session.RunAsync(run_options, inputs, &value, 1, outputs, &result, 1, Pending::done, &pending);
    pending.over.get_future().wait();
    EXPECT_EQ(pending.failed, 0);
    for (const Ort::Value& result : results) EXPECT_EQ(result.GetTensorData<float>()[5], 5);
  }
}

TEST_F(RunControlTest, ErrorsOfAsynchronousRunsGoToTheCallback) {
  const Ort::Env env(ORT_LOGGING_LEVEL_FATAL);
  Ort::SessionOptions options;
  options.SetIntraOpNumThreads(2);
  Ort::Session session = load(env, options);
  struct Failure {
    std::promise<std::string> message;
    static void ORT_API_CALL done(void* self, OrtValue**, size_t count, OrtStatusPtr status) {
      const Ort::Status owned(status);
      EXPECT_EQ(count, 0u);
      static_cast<Failure*>(self)->message.set_value(owned.GetErrorMessage());
    }
  };
  Ort::RunOptions stopped;
  stopped.SetTerminate();
  const Ort::RunOptions plain;
  const char* wrong[] = {"nothing"};
  for (const auto& [run_options, names, expected] :
       {std::tuple(&stopped, outputs, "terminate flag"), std::tuple(const_cast<Ort::RunOptions*>(&plain), wrong, "nothing")}) {
    Failure failure;
    Ort::Value result;
    session.RunAsync(*run_options, inputs, &value, 1, names, &result, 1, Failure::done, &failure);
    const std::string message = failure.message.get_future().get();
    EXPECT_NE(message.find(expected), std::string::npos) << message;
    EXPECT_FALSE(result);
  }
  if (!Library::get().ours) return;
  OrtValue* none = nullptr;
  const OrtValue* given[] = {value};
  EXPECT_EQ(code_of(api.RunAsync(session, nullptr, inputs, given, 1, outputs, 1, &none, nullptr, nullptr)), ORT_INVALID_ARGUMENT);
}

TEST_F(RunControlTest, ASessionMayBeReleasedWhileAndInsideAsynchronousRuns) {
  if (!Library::get().ours) GTEST_SKIP() << "a promise of ours";
  const Ort::Env env(ORT_LOGGING_LEVEL_FATAL);
  const Ort::RunOptions run_options;
  {
    auto session = std::make_unique<Ort::Session>(load(env, Ort::SessionOptions()));
    Pending pending(20);
    std::vector<Ort::Value> results(20);
    for (Ort::Value& result : results) session->RunAsync(run_options, inputs, &value, 1, outputs, &result, 1, Pending::done, &pending);
    session.reset();
    EXPECT_EQ(pending.left, 0);
    EXPECT_EQ(pending.failed, 0);
  }
  struct Releasing {
    std::unique_ptr<Ort::Session> session;
    std::promise<void> over;
    static void ORT_API_CALL done(void* self, OrtValue**, size_t, OrtStatusPtr status) {
      const Ort::Status owned(status);
      auto& releasing = *static_cast<Releasing*>(self);
      releasing.session.reset();
      releasing.over.set_value();
    }
  } releasing;
  releasing.session = std::make_unique<Ort::Session>(load(env, Ort::SessionOptions()));
  Ort::Value result;
  releasing.session->RunAsync(run_options, inputs, &value, 1, outputs, &result, 1, Releasing::done, &releasing);
  releasing.over.get_future().wait();
  EXPECT_EQ(result.GetTensorData<float>()[5], 5);
}

TEST_F(RunControlTest, ThreadsOfASessionAreMadeByTheCallersFunctions) {
  const Ort::Env env(ORT_LOGGING_LEVEL_FATAL);
  Threads threads;
  {
    Ort::SessionOptions options;
    options.SetIntraOpNumThreads(3);
    options.SetCustomCreateThreadFn(Threads::create).SetCustomThreadCreationOptions(&threads).SetCustomJoinThreadFn(Threads::join);
    Ort::Session session = load(env, options);
    EXPECT_EQ(threads.created, 2);
    EXPECT_EQ(run(session)[0].GetTensorData<float>()[5], 5);
  }
  EXPECT_EQ(threads.joined, threads.created);
}

TEST_F(RunControlTest, ThreadsThatDoNotStartAreAnError) {
  const Ort::Env env(ORT_LOGGING_LEVEL_FATAL);
  Ort::SessionOptions options;
  options.SetIntraOpNumThreads(3);
  options.SetCustomCreateThreadFn([](void*, OrtThreadWorkerFn, void*) -> OrtCustomThreadHandle { return nullptr; });
  options.SetCustomJoinThreadFn(Threads::join);
  EXPECT_THROW(load(env, options), Ort::Exception);
}

TEST_F(RunControlTest, GlobalPoolsServeSessionsWithoutThreadsOfTheirOwn) {
  Threads threads;
  Ort::ThreadingOptions threading;
  threading.SetGlobalIntraOpNumThreads(3).SetGlobalInterOpNumThreads(1).SetGlobalSpinControl(0).SetGlobalDenormalAsZero();
  threading.SetGlobalCustomCreateThreadFn(Threads::create).SetGlobalCustomThreadCreationOptions(&threads);
  threading.SetGlobalCustomJoinThreadFn(Threads::join);
  {
    const Ort::Env env(threading, ORT_LOGGING_LEVEL_FATAL);
    const int created = threads.created;
    EXPECT_EQ(created, 2);
    Ort::SessionOptions options;
    options.DisablePerSessionThreads();
    std::vector<Ort::Session> sessions;
    for (int i = 0; i < 4; ++i) EXPECT_EQ(run(sessions.emplace_back(load(env, options)))[0].GetTensorData<float>()[5], 5);
    EXPECT_EQ(threads.created, created);
  }
  EXPECT_EQ(threads.joined, threads.created);
}

TEST_F(RunControlTest, GlobalPoolsMayComeLater) {
  if (!Library::get().ours) GTEST_SKIP() << "a call of ours";
  const auto make = reinterpret_cast<decltype(&RhEnvMakeGlobalThreadPools)>(Library::get().function("RhEnvMakeGlobalThreadPools"));
  Ort::Env env(ORT_LOGGING_LEVEL_FATAL);
  Ort::SessionOptions shared;
  shared.DisablePerSessionThreads();
  const auto runs = [&](const Ort::SessionOptions& options) {
    Ort::Session session = load(env, options);
    return run(session)[0].GetTensorData<float>()[5] == 5;
  };
  EXPECT_TRUE(runs(Ort::SessionOptions()));
  EXPECT_THROW(load(env, shared), Ort::Exception);
  Ort::ThreadingOptions threading;
  threading.SetGlobalIntraOpNumThreads(2);
  EXPECT_EQ(code_of(make(nullptr, threading)), ORT_INVALID_ARGUMENT);
  EXPECT_EQ(code_of(make(env, nullptr)), ORT_INVALID_ARGUMENT);
  ASSERT_EQ(code_of(make(env, threading)), ORT_OK);
  EXPECT_TRUE(runs(shared));
  EXPECT_TRUE(runs(Ort::SessionOptions()));
  EXPECT_EQ(code_of(make(env, threading)), ORT_FAIL);
}

TEST_F(RunControlTest, GlobalAffinitiesMustSuitTheNumberOfThreads) {
  OrtThreadingOptions* threading = nullptr;
  ASSERT_EQ(code_of(api.CreateThreadingOptions(&threading)), ORT_OK);
  EXPECT_EQ(code_of(api.SetGlobalIntraOpNumThreads(threading, 3)), ORT_OK);
  EXPECT_EQ(code_of(api.SetGlobalIntraOpThreadAffinity(threading, "1")), ORT_OK);
  OrtEnv* env = nullptr;
  EXPECT_NE(code_of(api.CreateEnvWithGlobalThreadPools(ORT_LOGGING_LEVEL_FATAL, "", threading, &env)), ORT_OK);
  EXPECT_EQ(code_of(api.SetGlobalIntraOpThreadAffinity(threading, "1;1")), ORT_OK);
  EXPECT_EQ(code_of(api.CreateEnvWithGlobalThreadPools(ORT_LOGGING_LEVEL_FATAL, "", threading, &env)), ORT_OK);
  api.ReleaseEnv(env);
  api.ReleaseThreadingOptions(threading);
}

TEST_F(RunControlTest, ATimeLimitOfARun) {
  if (!Library::get().ours) GTEST_SKIP() << "an option of ours";
  const Ort::Env env(ORT_LOGGING_LEVEL_FATAL);
  Ort::Session session = load(env, Ort::SessionOptions());
  Ort::RunOptions options;
  options.AddConfigEntry("roundhouse.run.timeout_ms", "60000");
  EXPECT_EQ(run(session, options)[0].GetTensorData<float>()[5], 5);
  options.AddConfigEntry("roundhouse.run.timeout_ms", "never");
  EXPECT_THROW(run(session, options), Ort::Exception);
  Ort::RunOptions misspelt;
  misspelt.AddConfigEntry("roundhouse.run.time_out", "1");
  EXPECT_THROW(run(session, misspelt), Ort::Exception);
}

TEST_F(RunControlTest, ProfilesOfSingleRuns) {
  const Ort::Env env(ORT_LOGGING_LEVEL_FATAL);
  const std::filesystem::path folder = std::filesystem::path(testing::TempDir()) / "roundhouse_run_profiles";
  std::filesystem::remove_all(folder);
  std::filesystem::create_directories(folder);
  Ort::Session session = load(env, Ort::SessionOptions());
  Ort::RunOptions options;
  options.EnableProfiling((folder / "one").c_str());
  for (int i = 0; i < 3; ++i) run(session, options);
  options.DisableProfiling();
  run(session, options);
  int files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    EXPECT_TRUE(entry.path().filename().string().starts_with("one")) << entry.path();
    EXPECT_GT(entry.file_size(), 100u);
    ++files;
  }
  EXPECT_TRUE(files == 3 || !Library::get().ours) << files;  // others write over the file of the same millisecond
  std::filesystem::remove_all(folder);
}

TEST_F(RunControlTest, MessagesOfSingleRuns) {
  if (!Library::get().ours) GTEST_SKIP() << "what is logged is ours";
  Messages messages;
  const Ort::Env env(ORT_LOGGING_LEVEL_WARNING, "", Messages::take, &messages);
  Ort::Session session = load(env, Ort::SessionOptions());
  run(session);
  EXPECT_EQ(messages.text, "");
  Ort::RunOptions options;
  options.SetRunTag("the-tag").SetRunLogSeverityLevel(ORT_LOGGING_LEVEL_VERBOSE);
  run(session, options);
  EXPECT_NE(messages.text.find("the-tag"), std::string::npos) << messages.text;
  messages.text.clear();
  options.SetRunLogSeverityLevel(ORT_LOGGING_LEVEL_INFO).SetTerminate();
  EXPECT_THROW(run(session, options), Ort::Exception);
  EXPECT_NE(messages.text.find("terminate flag"), std::string::npos) << messages.text;
}

}  // namespace
}  // namespace rh::test
