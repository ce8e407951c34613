// Arenas over the memory of a provider's device.
#include <map>
#include <memory>

#include "capi/library.h"
#include "capi/model_bytes.h"

namespace rh::test {
namespace {

using Floats = std::vector<float>;

class DeviceArenaTest : public ApiTest {
 protected:
  static Ort::Env& env() {
    static Ort::Env* made = new Ort::Env(ORT_LOGGING_LEVEL_FATAL, "device arenas");
    return *made;
  }
  void SetUp() override {
    if (!Library::get().ours) GTEST_SKIP() << "the stock library makes no arenas over the memory of plugins";
    Ort::ThrowOnError(api.RegisterExecutionProviderLibrary(env(), "fake", RH_BUILD_DIR "/lib/roundhouse_provider_fake_device.so"));
    const OrtEpDevice* const* devices = nullptr;
    size_t count = 0;
    Ort::ThrowOnError(api.GetEpDevices(env(), &devices, &count));
    device = devices[count - 1];
  }
  void TearDown() override {
    if (device) Ort::ThrowOnError(api.UnregisterExecutionProviderLibrary(env(), "fake"));
  }

  OrtAllocator* make_arena(const std::unordered_map<std::string, std::string>& options) {
    const Ort::KeyValuePairs pairs(options);
    OrtAllocator* arena = nullptr;
    Ort::ThrowOnError(api.CreateSharedAllocator(env(), device, OrtDeviceMemoryType_DEFAULT, OrtArenaAllocator, pairs, &arena));
    return arena;
  }

  std::map<std::string, int64_t> stats(OrtAllocator* allocator) {
    OrtKeyValuePairs* raw = nullptr;
    Ort::ThrowOnError(api.AllocatorGetStats(allocator, &raw));
    std::map<std::string, int64_t> numbers;
    for (const auto& [key, value] : Ort::KeyValuePairs(raw).GetKeyValuePairs()) numbers[key] = std::stoll(value);
    return numbers;
  }

  /// y = -Relu(x + x) on the device.
  Ort::Session session(bool shares) {
    const std::string model = ModelBytes()
                                  .node("Add", {"x", "x"}, {"s"})
                                  .node("Relu", {"s"}, {"r"})
                                  .node("Neg", {"r"}, {"y"})
                                  .input("x", 1, {64, 64})
                                  .output("y", 1, {64, 64})
                                  .model();
    Ort::SessionOptions options;
    options.SetGraphOptimizationLevel(ORT_DISABLE_ALL);
    if (shares) options.AddConfigEntry("session.use_env_allocators", "1");
    const char *key = "delay_us", *value = "50";
    Ort::ThrowOnError(api.SessionOptionsAppendExecutionProvider_V2(options, env(), &device, 1, &key, &value, 1));
    return Ort::Session(env(), model.data(), model.size(), options);
  }

  float run(Ort::Session& session, const char* shrink = nullptr) {
    Floats data(64 * 64, 2.0f);
    const int64_t dims[] = {64, 64};
    const Ort::Value x = Ort::Value::CreateTensor<float>(cpu, data.data(), data.size(), dims, 2);
    const char *in = "x", *out = "y";
    Ort::RunOptions options;
    if (shrink) options.AddConfigEntry("memory.enable_memory_arena_shrinkage", shrink);
    return session.Run(options, &in, &x, 1, &out, 1)[0].GetTensorData<float>()[64 * 64 - 1];
  }

  const OrtEpDevice* device = nullptr;
};

TEST_F(DeviceArenaTest, KeepsToItsBounds) {
  OrtAllocator* arena = make_arena({{"arena.max_mem", "100000"}, {"arena.extend_strategy", "1"}});
  EXPECT_EQ(Ort::UnownedAllocator(arena).GetInfo().GetAllocatorType(), OrtArenaAllocator);
  void* first = arena->Alloc(arena, 60000);
  ASSERT_NE(first, nullptr);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(first) >> 60, 1u);
  EXPECT_EQ(arena->Alloc(arena, 60000), nullptr);
  EXPECT_EQ(stats(arena)["Limit"], 100000);
  EXPECT_EQ(stats(arena)["TotalAllocated"], 60160);
  arena->Free(arena, first);
  EXPECT_EQ(arena->Alloc(arena, 50000), first);
  arena->Free(arena, first);
  Ort::ThrowOnError(arena->Shrink(arena));
  EXPECT_EQ(stats(arena)["TotalAllocated"], 0);
  OrtAllocator* again = nullptr;
  Ort::ThrowOnError(api.GetSharedAllocator(env(), api.EpDevice_MemoryInfo(device, OrtDeviceMemoryType_DEFAULT), &again));
  EXPECT_EQ(again, arena);
  Ort::ThrowOnError(api.ReleaseSharedAllocator(env(), device, OrtDeviceMemoryType_DEFAULT));
  const char* path = RH_BUILD_DIR "/lib/roundhouse_provider_fake_device.so";
  EXPECT_EQ(code_of(api.RegisterExecutionProviderLibrary(env(), "fake", path)), ORT_FAIL);  // of a name that is there
  Ort::KeyValuePairs wrong;
  wrong.Add("arena.max_mem", "much");
  EXPECT_EQ(code_of(api.CreateSharedAllocator(env(), device, OrtDeviceMemoryType_DEFAULT, OrtArenaAllocator, wrong, &arena)),
            ORT_INVALID_ARGUMENT);
}

TEST_F(DeviceArenaTest, SessionsShareItWhereTheyAskForIt) {
  OrtAllocator* arena = make_arena({{"arena.extend_strategy", "1"}});
  {
    Ort::Session own = session(false);
    EXPECT_EQ(run(own), -4.0f);
    EXPECT_EQ(stats(arena)["NumAllocs"], 0);
    Ort::Session first = session(true), second = session(true);
    for (int i = 0; i < 3; ++i) {
      EXPECT_EQ(run(first), -4.0f);
      EXPECT_EQ(run(second), -4.0f);
    }
    EXPECT_GT(stats(arena)["NumAllocs"], 0);
    EXPECT_GT(stats(arena)["InUse"], 0);
    run(first, "gpu:0");
    const int64_t one_shrunk = stats(arena)["InUse"];
    EXPECT_GT(one_shrunk, 0);  // that of the second session
    run(second, "gpu:0");
    EXPECT_EQ(stats(arena)["InUse"], 0);
    EXPECT_EQ(stats(arena)["TotalAllocated"], 0);
    EXPECT_EQ(run(first), -4.0f);
  }
  EXPECT_EQ(stats(arena)["InUse"], 0);
}

TEST_F(DeviceArenaTest, SessionsShareEqualWeightsThere) {
  OrtAllocator* arena = make_arena({{"arena.extend_strategy", "1"}});
  const auto made_with = [&](float weight, bool shares) {
    const Floats weights(4096, weight);
    const std::string model =
        ModelBytes().node("Add", {"x", "w"}, {"y"}).initializer("w", weights).input("x", 1, {4096}).output("y", 1, {4096}).model();
    Ort::SessionOptions options;
    options.SetGraphOptimizationLevel(ORT_DISABLE_ALL);
    if (shares) options.AddConfigEntry("session.use_env_allocators", "1");
    Ort::ThrowOnError(api.SessionOptionsAppendExecutionProvider_V2(options, env(), &device, 1, nullptr, nullptr, 0));
    return std::make_unique<Ort::Session>(env(), model.data(), model.size(), options);
  };
  const auto sum = [&](Ort::Session& session) {
    Floats data(4096, 1.0f);
    const int64_t dims[] = {4096};
    const Ort::Value x = Ort::Value::CreateTensor<float>(cpu, data.data(), data.size(), dims, 1);
    const char *in = "x", *out = "y";
    return session.Run(Ort::RunOptions{nullptr}, &in, &x, 1, &out, 1)[0].GetTensorData<float>()[4095];
  };
  constexpr int64_t kBytes = 4096 * 4;
  auto first = made_with(2, true);
  EXPECT_EQ(stats(arena)["InUse"], kBytes);
  auto second = made_with(2, true), other = made_with(5, true), own = made_with(2, false);
  EXPECT_EQ(stats(arena)["InUse"], 2 * kBytes);
  EXPECT_EQ(sum(*first), 3.0f);
  first.reset();
  EXPECT_EQ(sum(*second), 3.0f);
  EXPECT_EQ(sum(*other), 6.0f);
  EXPECT_EQ(sum(*own), 3.0f);
  second.reset();
  other.reset();
  EXPECT_EQ(stats(arena)["InUse"], 0);
}

TEST_F(DeviceArenaTest, TheLimitIsAnErrorOfTheRunAndNoMore) {
  make_arena({{"arena.max_mem", "20000"}, {"arena.extend_strategy", "1"}});
  Ort::Session made = session(true);
  for (int i = 0; i < 2; ++i) {
    try {
      run(made);
      ADD_FAILURE() << "three tensors of 16 KiB fit into 20000 bytes";
    } catch (const Ort::Exception& error) {
      EXPECT_NE(std::string(error.what()).find("FakeDeviceExecutionProvider"), std::string::npos) << error.what();
    }
  }
  make_arena({{"arena.max_mem", "1000000"}});  // for sessions made from here on
  EXPECT_THROW(run(made), Ort::Exception);
  Ort::Session other = session(true);
  EXPECT_EQ(run(other), -4.0f);
}

}  // namespace
}  // namespace rh::test
