// Arenas of the environment, which sessions share. The figures are those of ONNX Runtime 1.31, where this test passes as well.
#include <deque>
#include <map>

#include "capi/library.h"
#include "capi/model_bytes.h"

namespace rh::test {
namespace {

constexpr size_t kMiB = 1 << 20;

class ArenaTest : public ApiTest {
 protected:
  Ort::Env& env() { return env_; }

  void SetUp() override { info = Ort::MemoryInfo::CreateCpu(OrtArenaAllocator, OrtMemTypeDefault); }
  void TearDown() override {
    sessions.clear();
    if (OrtStatus* status = api.UnregisterAllocator(env(), info)) api.ReleaseStatus(status);
  }

  void register_arena(const std::unordered_map<std::string, size_t>& settings) {
    const Ort::ArenaCfg config(settings);
    Ort::ThrowOnError(api.CreateAndRegisterAllocator(env(), info, config));
  }

  /// y = Relu(x) of [n, 64].
  Ort::Session& session(bool shares) {
    const std::string model =
        ModelBytes().node("Relu", {"x"}, {"t"}).node("Neg", {"t"}, {"y"}).input("x", 1, {"n", 64}).output("y", 1, {"n", 64}).model();
    Ort::SessionOptions options;
    options.SetGraphOptimizationLevel(ORT_DISABLE_ALL);
    if (shares) options.AddConfigEntry("session.use_env_allocators", "1");
    sessions.emplace_back(env(), model.data(), model.size(), options);
    return sessions.back();
  }

  OrtAllocator* arena_of(Ort::Session& session) {
    OrtAllocator* allocator = nullptr;
    Ort::ThrowOnError(api.CreateAllocator(session, info, &allocator));
    return allocator;
  }

  std::map<std::string, int64_t> stats(OrtAllocator* allocator) {
    OrtKeyValuePairs* raw = nullptr;
    Ort::ThrowOnError(api.AllocatorGetStats(allocator, &raw));
    std::map<std::string, int64_t> numbers;
    for (const auto& [key, value] : Ort::KeyValuePairs(raw).GetKeyValuePairs()) numbers[key] = std::stoll(value);
    return numbers;
  }

  Ort::Value run(Ort::Session& session, int64_t rows, const char* shrink = nullptr) {
    std::vector<float> data(static_cast<size_t>(rows) * 64, 1.0f);
    const int64_t dims[] = {rows, 64};
    const Ort::Value x = Ort::Value::CreateTensor<float>(cpu, data.data(), data.size(), dims, 2);
    const char *in = "x", *out = "y";
    Ort::RunOptions options;
    if (shrink) options.AddConfigEntry("memory.enable_memory_arena_shrinkage", shrink);
    return std::move(session.Run(options, &in, &x, 1, &out, 1)[0]);
  }

  Ort::Env env_{ORT_LOGGING_LEVEL_FATAL, "arenas"};
  Ort::MemoryInfo info{nullptr};
  std::deque<Ort::Session> sessions;
};

using Row = std::map<std::string, int64_t>;

TEST_F(ArenaTest, DoublesItsRegionsUpToItsLimit) {
  register_arena(
      {{"max_mem", 10 * kMiB}, {"arena_extend_strategy", 0}, {"initial_chunk_size_bytes", kMiB}, {"max_dead_bytes_per_chunk", 1024}});
  OrtAllocator* arena = arena_of(session(true));
  EXPECT_EQ(stats(arena)["Limit"], static_cast<int64_t>(10 * kMiB));
  void* a = arena->Alloc(arena, 1000);
  void* b = arena->Alloc(arena, 700000);
  void* c = arena->Alloc(arena, 700000);
  EXPECT_EQ(stats(arena), (Row{{"InUse", 1401344},
                               {"Limit", 10485760},
                               {"MaxAllocSize", 700160},
                               {"MaxInUse", 1401344},
                               {"NumAllocs", 3},
                               {"NumArenaExtensions", 2},
                               {"NumArenaShrinkages", 0},
                               {"NumReserves", 0},
                               {"RequestedInUse", 1401000},
                               {"TotalAllocated", 3145728}}));
  void* none = nullptr;
  OrtStatus* status = api.AllocatorAlloc(arena, 9 * kMiB, &none);
  EXPECT_NE(status, nullptr);
  api.ReleaseStatus(status);
  void* apart = arena->Reserve(arena, 5000);
  EXPECT_EQ(stats(arena)["TotalAllocated"], 3150728);
  EXPECT_EQ(stats(arena)["NumReserves"], 1);
  for (void* memory : {b, c, a, apart}) arena->Free(arena, memory);
  Row end = stats(arena);
  EXPECT_EQ(end["InUse"], 0);
  EXPECT_EQ(end["TotalAllocated"], 3145728);
  EXPECT_EQ(end["MaxInUse"], 1406344);
  api.ReleaseAllocator(arena);
}

TEST_F(ArenaTest, GrowsByWhatIsAskedFor) {
  register_arena({{"max_mem", 10 * kMiB}, {"arena_extend_strategy", 1}});
  OrtAllocator* arena = arena_of(session(true));
  void* a = arena->Alloc(arena, 1000);
  void* b = arena->Alloc(arena, 700000);
  EXPECT_EQ(stats(arena)["TotalAllocated"], 701184);
  EXPECT_EQ(stats(arena)["NumArenaExtensions"], 2);
  arena->Free(arena, a);
  arena->Free(arena, b);
  api.ReleaseAllocator(arena);
}

TEST_F(ArenaTest, SessionsShareIt) {
  register_arena({{"arena_extend_strategy", 1}});
  Ort::Session &first = session(true), &second = session(true);
  const Ort::Value result = run(first, 100);
  OrtAllocator *one = arena_of(first), *other = arena_of(second);
  const int64_t after_one = stats(one)["NumAllocs"];
  EXPECT_GT(after_one, 0);
  EXPECT_GE(stats(one)["InUse"], 100 * 64 * 4);  // the result
  EXPECT_EQ(stats(other), stats(one));
  run(second, 200);
  EXPECT_GT(stats(one)["NumAllocs"], after_one);
  EXPECT_EQ(result.GetTensorData<float>()[0], -1.0f);
  api.ReleaseAllocator(one);
  api.ReleaseAllocator(other);
}

TEST_F(ArenaTest, SessionsThatDoNotAskForItDoNotUseIt) {
  register_arena({{"arena_extend_strategy", 1}});
  OrtAllocator* arena = arena_of(session(true));
  run(session(false), 100);
  EXPECT_EQ(stats(arena)["NumAllocs"], 0);
  api.ReleaseAllocator(arena);
}

TEST_F(ArenaTest, RunsShrinkIt) {
  register_arena({{"arena_extend_strategy", 1}});
  Ort::Session& made = session(true);
  run(made, 5000);
  OrtAllocator* arena = arena_of(made);
  const int64_t before = stats(arena)["TotalAllocated"];
  EXPECT_GE(before, 5000 * 64 * 4);
  run(made, 1, "cpu:0");
  EXPECT_LT(stats(arena)["TotalAllocated"], before);
  EXPECT_EQ(stats(arena)["NumArenaShrinkages"], 1);
  EXPECT_EQ(run(made, 3).GetTensorData<float>()[0], -1.0f);
  api.ReleaseAllocator(arena);
}

TEST_F(ArenaTest, ListsOfWhatToShrinkAreChecked) {
  Ort::Session& made = session(false);
  for (const char* list : {"cpu:0", "cpu", "cpu:0;", "cpu:0;gpu:0"}) EXPECT_NO_THROW(run(made, 1, list)) << list;
  for (const char* list : {"cpu:1", "gpu:0", "npu:0", "cpu:x", " cpu:0", "CPU:0", ":"})
    EXPECT_THROW(run(made, 1, list), Ort::Exception) << list;
}

TEST_F(ArenaTest, RegistrationsAreReplacedAndTakenBack) {
  register_arena({{"max_mem", kMiB}});
  register_arena({{"max_mem", 2 * kMiB}});
  OrtAllocator* arena = arena_of(session(true));
  EXPECT_EQ(stats(arena)["Limit"], static_cast<int64_t>(2 * kMiB));
  Ort::ThrowOnError(api.UnregisterAllocator(env(), info));
  EXPECT_EQ(run(sessions[0], 3).GetTensorData<float>()[0], -1.0f);  // the session keeps it
  api.ReleaseAllocator(arena);
  OrtStatus* status = api.UnregisterAllocator(env(), info);
  EXPECT_NE(status, nullptr);
  api.ReleaseStatus(status);
}

TEST_F(ArenaTest, ASessionsAllocatorIsOfTheSessionsKind) {
  const std::string model = ModelBytes().node("Relu", {"x"}, {"y"}).input("x", 1, {1}).output("y", 1, {1}).model();
  for (const bool wanted : {true, false}) {
    Ort::SessionOptions options;
    wanted ? options.EnableCpuMemArena() : options.DisableCpuMemArena();
    Ort::Session made(env(), model.data(), model.size(), options);
    for (const OrtAllocatorType type : {OrtDeviceAllocator, OrtArenaAllocator}) {  // whichever is asked for
      const auto asked = Ort::MemoryInfo::CreateCpu(type, OrtMemTypeCPUOutput);
      OrtAllocator* given = nullptr;
      Ort::ThrowOnError(api.CreateAllocator(made, asked, &given));
      const Ort::ConstMemoryInfo own = Ort::UnownedAllocator(given).GetInfo();
      EXPECT_EQ(own.GetAllocatorType(), wanted ? OrtArenaAllocator : OrtDeviceAllocator);
      EXPECT_EQ(own.GetMemoryType(), OrtMemTypeDefault);
      EXPECT_EQ(stats(given).size(), wanted ? 10u : 0u);
      if (wanted) {
        EXPECT_EQ(stats(given)["Limit"], -1);
      }
      api.ReleaseAllocator(given);
    }
  }
}

TEST_F(ArenaTest, MadeForAProvider) {
  Ort::ThrowOnError(api.CreateAndRegisterAllocatorV2(env(), "CPUExecutionProvider", info, nullptr, nullptr, nullptr, 0));
  OrtStatus* status = api.CreateAndRegisterAllocatorV2(env(), "NobodyExecutionProvider", info, nullptr, nullptr, nullptr, 0);
  ASSERT_NE(status, nullptr);
  EXPECT_NE(std::string(api.GetErrorMessage(status)).find("NobodyExecutionProvider"), std::string::npos);
  api.ReleaseStatus(status);
  OrtAllocator* shared = nullptr;
  Ort::ThrowOnError(api.GetSharedAllocator(env(), info, &shared));
  EXPECT_NE(shared, nullptr);
}

}  // namespace
}  // namespace rh::test
