#include <algorithm>
#include <cmath>
#include <thread>

#include "base/shared_bytes.h"
#include "base/thread_memory.h"
#include "session/run_helpers.h"

namespace rh::test {
namespace {

// At n = 64 a and b have 1 MiB each and both live when b is made; y is the output.
constexpr char kWide[] = R"(<opset_import: ["" : 17]>
main (float[n, 16] x) => (float[n, 4096] y)
< float[16, 4096] w = {0.5, ...} >
{
  [first] a = MatMul (x, w)
  [second] b = Softmax (a)
  c = Add (a, b)
  y = Neg (c)
})";

constexpr size_t kWeights = 16 * 4096 * sizeof(float);

SessionOptions with_budget(size_t bytes) {
  SessionOptions options;
  options.config["roundhouse.memory.budget_bytes"] = std::to_string(bytes);
  return options;
}

Value ones(int64_t n) { return filled({n, 16}, 1); }

TEST(MemoryForecast, IsWhatTheRunThenTakes) {
  auto session = make_session(kWide);
  const std::vector<InputShape> shapes{{"x", {64, 16}}};
  const MemoryForecast before = session->forecast(shapes, {});
  EXPECT_EQ(before.packed_bytes, kWeights);
  EXPECT_EQ(before.weight_bytes, 0u);
  EXPECT_EQ(before.output_bytes, size_t{64} * 4096 * 4);
  EXPECT_EQ(before.peak_node, "second");
  ASSERT_GE(before.at_peak.size(), 2u);
  EXPECT_EQ(before.at_peak[0].tensor, "a");
  EXPECT_EQ(before.at_peak[0].node, "first");
  EXPECT_EQ(before.at_peak[0].bytes, size_t{64} * 4096 * 4);
  EXPECT_EQ(before.at_peak[1].tensor, "b");
  ASSERT_EQ(before.weights.size(), 1u);
  EXPECT_EQ(before.weights[0].tensor, "w");
  run(*session, {{"x", ones(64)}}, {"y"});
  EXPECT_EQ(session->statistics().planned_peak_bytes, before.arena_bytes);
  EXPECT_EQ(session->statistics().late_allocations, 1);
}

TEST(MemoryForecast, TakesNamesOfDimensionsAndSaysWhatItAssumes) {
  auto session = make_session(kWide);
  const std::vector<std::pair<std::string, int64_t>> n{{"n", 64}};
  EXPECT_EQ(session->forecast({}, n).arena_bytes, session->forecast(std::vector<InputShape>{{"x", {64, 16}}}, {}).arena_bytes);
  EXPECT_EQ(session->forecast({}, {}).assumed, std::vector<std::string>{"n"});
  EXPECT_THROW(session->forecast(std::vector<InputShape>{{"x", {64, 17}}}, {}), Error);
  EXPECT_THROW(session->forecast(std::vector<InputShape>{{"z", {64, 16}}}, {}), Error);
  const std::vector<std::pair<std::string, int64_t>> m{{"m", 64}};
  EXPECT_THROW(session->forecast({}, m), Error);
}

TEST(MemoryBudget, ARunBeyondItFailsWithABreakdownAndTheSessionGoesOn) {
  auto session = make_session(kWide, with_budget(size_t{1} << 20));
  const size_t at_rest = session->statistics().memory_bytes;
  const Status status = try_run(*session, {{"x", ones(64)}}, {"y"});
  ASSERT_FALSE(status.ok());
  for (const char* part : {"budget", "1048576", "'a' 1.0 MiB (node first)", "'b' 1.0 MiB (node second)", "'w' 256.0 KiB"}) {
    EXPECT_NE(status.message().find(part), std::string_view::npos) << part << " is not in: " << status.message();
  }
  EXPECT_EQ(session->statistics().memory_bytes, at_rest) << "a failed run must not keep what it was refused";
  for (int i = 0; i < 3; ++i) run(*session, {{"x", ones(2)}}, {"y"});
}

// By Winograd's algorithm weights of 3x3 take 16/9 of their memory.
TEST(LeanMemory, PackedWeightsTakeNoMoreThanInTheModel) {
  constexpr char kConvolution[] = R"(<opset_import: ["" : 17]>
main (float[1, 64, 56, 56] x) => (float[1, 64, 56, 56] y)
< float[64, 64, 3, 3] w = {0.5, ...} >
{
  y = Conv <pads = [1, 1, 1, 1]> (x, w)
})";
  constexpr size_t kOwn = 64 * 64 * 9 * sizeof(float), kSlack = 256;
  const auto with_memory = [&](const char* value) {
    SessionOptions options;
    options.config["roundhouse.memory"] = value;
    return make_session(kConvolution, options);
  };
  const auto fast = with_memory("fast"), lean = with_memory("lean");
  EXPECT_GT(fast->forecast({}, {}).packed_bytes, kOwn + kSlack);
  EXPECT_LE(lean->forecast({}, {}).packed_bytes, kOwn + kSlack);
  ASSERT_EQ(lean->variants().size(), 1u);
  EXPECT_EQ(std::ranges::count(lean->variants()[0].second.variants, "winograd"), 0);
  const auto expected = run(*fast, {{"x", filled({1, 64, 56, 56}, 1)}}, {"y"}),
             found = run(*lean, {{"x", filled({1, 64, 56, 56}, 1)}}, {"y"});
  for (int64_t i = 0; i < found[0].tensor().elements(); ++i) {
    ASSERT_NEAR(found[0].tensor().data<float>()[i], expected[0].tensor().data<float>()[i], 1e-3) << i;
  }
  EXPECT_THROW(with_memory("small"), Error);
}

TEST(MemoryBudget, CountsOutputsUntilTheirLastOwnerLetsGo) {
  auto session = make_session(kWide, with_budget(size_t{4} << 20));
  std::vector<std::vector<Value>> kept;
  Status status;
  for (int i = 0; i < 8 && status.ok(); ++i) {
    kept.emplace_back(1);
    status = try_run(*session, {{"x", ones(64)}}, {"y"}, &kept.back());
  }
  ASSERT_FALSE(status.ok());
  EXPECT_NE(status.message().find("outputs would take"), std::string_view::npos) << status.message();
  kept.clear();
  run(*session, {{"x", ones(64)}}, {"y"});
}

TEST(MemoryBudget, OutputsMayOutliveTheSession) {
  auto session = make_session(kWide, with_budget(size_t{64} << 20));
  std::vector<Value> results = run(*session, {{"x", ones(1)}}, {"y"});
  session.reset();
  EXPECT_FLOAT_EQ(elements(results[0])[0], -(8 + 1.0f / 4096));
}

TEST(MemoryBudget, HoldsValuesOfUnknownSizeToo) {
  const std::string text = R"(<opset_import: ["" : 17]>
main (float[n] x) => (int64[r, m] y)
{
  places = NonZero (x)
  y = Neg (places)
})";
  auto session = make_session(text, with_budget(size_t{1} << 20));
  const Status status = try_run(*session, {{"x", filled({1 << 18}, 1)}}, {"y"});
  ASSERT_FALSE(status.ok());
  EXPECT_NE(status.message().find("budget"), std::string_view::npos) << status.message();
  run(*session, {{"x", filled({100}, 1)}}, {"y"});
}

TEST(MemoryBudget, AModelBeyondItDoesNotLoad) {
  try {
    make_session(kWide, with_budget(kWeights / 2));
    FAIL() << "the weights are beyond the budget";
  } catch (const Error& error) {
    const std::string message = error.what();
    EXPECT_NE(message.find("'w' 256.0 KiB"), std::string::npos) << message;
  }
  EXPECT_THROW(make_session(kWide,
                            [] {
                              SessionOptions options;
                              options.config["roundhouse.memory.budget_bytes"] = "much";
                              return options;
                            }()),
               Error);
}

TEST(Trim, GivesBackWhatRunsKept) {
  auto session = make_session(kWide);
  const size_t at_rest = session->statistics().memory_bytes;
  run(*session, {{"x", ones(64)}}, {"y"});
  EXPECT_GE(session->statistics().memory_bytes, at_rest + (size_t{2} << 20));
  EXPECT_GE(session->trim(), size_t{2} << 20);
  EXPECT_EQ(session->statistics().memory_bytes, at_rest);
  EXPECT_EQ(thread_memory_bytes(), 0u);
  run(*session, {{"x", ones(64)}}, {"y"});
}

TEST(LargeOutputs, LiveInMemoryOfThoseBefore) {
  auto session = make_session(kWide);
  const size_t at_rest = session->statistics().memory_bytes, large = size_t{256} * 4096 * 4;
  const auto used = [&] { return session->statistics().memory_bytes - at_rest; };
  auto first = run(*session, {{"x", ones(256)}}, {"y"});
  const void* where = first[0].tensor().raw();
  auto second = run(*session, {{"x", ones(256)}}, {"y"});
  EXPECT_NE(second[0].tensor().raw(), where) << "the first output is still there";
  const size_t both = used();
  first.clear();
  EXPECT_EQ(used(), both) << "kept for the next run, and counted";
  first = run(*session, {{"x", ones(250)}}, {"y"});
  EXPECT_EQ(first[0].tensor().raw(), where);
  EXPECT_FLOAT_EQ(elements(first[0])[0], -(8 + 1.0f / 4096));
  EXPECT_EQ(used(), both);
  first.clear();
  EXPECT_GE(session->trim(), large);
  second.clear();
  session->trim();
  EXPECT_EQ(used(), 0u);
}

TEST(LargeOutputs, KeepNoMoreThanWhatWasOutAtOnce) {
  auto session = make_session(kWide);
  const size_t at_rest = session->statistics().memory_bytes;
  for (const int64_t n : {512, 200, 300, 400, 250, 350}) run(*session, {{"x", ones(n)}}, {"y"});
  const size_t frames = session->statistics().frame_bytes, largest = size_t{512} * 4096 * 4;
  EXPECT_LE(session->statistics().memory_bytes, at_rest + frames + largest / 4 * 5);
}

TEST(LargeOutputs, GoBeforeARunIsRefusedForTheBudget) {
  auto session = make_session(kWide, with_budget(size_t{28} << 20));
  run(*session, {{"x", ones(384)}}, {"y"});  // 12 MiB planned, an output of 6 MiB that is kept
  session->trim();
  run(*session, {{"x", ones(300)}}, {"y"});
  run(*session, {{"x", ones(512)}}, {"y"});  // 16 MiB and 8 MiB
}

TEST(LargeOutputs, AreNotKeptWithoutAnArena) {
  SessionOptions options;
  options.config["session.enable_cpu_mem_arena"] = "0";
  auto session = make_session(kWide, options);
  const size_t at_rest = session->statistics().memory_bytes;
  run(*session, {{"x", ones(256)}}, {"y"});
  EXPECT_EQ(session->statistics().memory_bytes, at_rest);
}

TEST(LargeOutputs, MayOutliveTheSession) {
  auto session = make_session(kWide);
  std::vector<Value> results = run(*session, {{"x", ones(256)}}, {"y"});
  session.reset();
  EXPECT_FLOAT_EQ(elements(results[0])[4096 * 256 - 1], -(8 + 1.0f / 4096));
}

TEST(Trim, MayComeWhileOthersRun) {
  auto session = make_session(kWide);
  std::vector<std::thread> threads;
  for (int t = 0; t < 3; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 20; ++i) {
        const auto results = run(*session, {{"x", ones(1 + (i + t) % 7)}}, {"y"});
        EXPECT_FLOAT_EQ(elements(results[0])[0], -(8 + 1.0f / 4096));
      }
    });
  }
  for (int i = 0; i < 50; ++i) session->trim();
  for (std::thread& thread : threads) thread.join();
}

TEST(RunStates, WhatManyRunsInARowDoNotUseIsLetGo) {
  auto session = make_session(kWide);
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 20; ++i) run(*session, {{"x", ones(64)}}, {"y"});
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (int i = 0; i < 200; ++i) run(*session, {{"x", ones(64)}}, {"y"});
  EXPECT_LT(session->statistics().frame_bytes, size_t{5} << 20) << "one run at a time needs one frame";
}

TEST(SharedWeights, SessionsOfOneModelPackOnce) {
  auto first = make_session(kWide);
  const SharedBytes one = shared_bytes();
  auto second = make_session(kWide);
  const SharedBytes two = shared_bytes();
  EXPECT_EQ(two.bytes, one.bytes);
  EXPECT_GE(one.bytes, kWeights);
  first.reset();
  EXPECT_FLOAT_EQ(elements(run(*second, {{"x", ones(1)}}, {"y"})[0])[0], -(8 + 1.0f / 4096));
  second.reset();
  EXPECT_LE(shared_bytes().bytes + kWeights, one.bytes);
}

TEST(LateValues, OfManySizesKeepNoMoreThanAQuarterBeyondTheLargest) {
  const std::string text = R"(<opset_import: ["" : 17]>
main (float[n] x) => (int64[r, m] y)
{
  a = NonZero (x)
  b = Neg (a)
  c = Neg (b)
  d = Add (b, c)
  y = Add (d, a)
})";
  auto session = make_session(text);
  size_t largest = 0;
  for (int i = 0; i < 300; ++i) {
    const int64_t n = 1000 + (i * 7919) % 60000;
    run(*session, {{"x", filled({n}, 1)}}, {"y"});
    largest = std::max(largest, static_cast<size_t>(n) * 8);
  }
  // a, b, c and d at most at a time, and the room of rounded sizes.
  EXPECT_LE(session->statistics().frame_bytes, 4 * largest * 9 / 8 * 5 / 4 + (size_t{1} << 20));
}

}  // namespace
}  // namespace rh::test
