#include "session/session.h"

#include <cstring>
#include <thread>

#include "base/file.h"
#include "base/thread_memory.h"
#include "session/observer.h"
#include "session/run_helpers.h"
#include "support/page_faults.h"
#include "support/sanitizers.h"

namespace rh::test {
namespace {

using Floats = std::vector<float>;
using Ints = std::vector<int64_t>;

constexpr char kAddRelu[] = R"(<opset_import: ["" : 17]>
main (float[batch, 3] x) => (float[batch, 3] y)
< float[3] w = {1, -2, 3} >
{
  t = Add (x, w)
  [last] y = Relu (t)
})";

std::string chain(int nodes) {
  std::string text = "<opset_import: [\"\" : 17]>\nmain (float[n, 64] x) => (float[n, 64] y)\n{\n  v0 = Relu (x)\n";
  for (int i = 1; i < nodes - 1; ++i) {
    text += i % 2 ? "  v" + std::to_string(i) + " = Sigmoid (v" + std::to_string(i - 1) + ")\n"
                  : "  v" + std::to_string(i) + " = Add (v" + std::to_string(i - 1) + ", v" + std::to_string(i - 1) + ")\n";
  }
  return text + "  y = Relu (v" + std::to_string(nodes - 2) + ")\n}";
}

TEST(Session, RunsAndGivesValuesThatTheCallerOwns) {
  auto session = make_session(kAddRelu);
  const auto first = run(*session, {{"x", floats({1, 3}, {1, 1, 1})}}, {"y"});
  const auto second = run(*session, {{"x", floats({2, 3}, {0, 2, 0, 5, 0, -9})}}, {"y"});
  EXPECT_EQ(elements(first[0]), (Floats{2, 0, 4}));
  EXPECT_EQ(elements(second[0]), (Floats{1, 0, 3, 6, 0, 0}));
  EXPECT_EQ(second[0].tensor().shape(), (Shape{2, 3}));
  EXPECT_TRUE(first[0].tensor().owns_memory());
}

TEST(Session, WritesInPlaceWhereAnOutputIsGiven) {
  auto session = make_session(kAddRelu);
  std::vector<float> memory(3, 99.0f);
  std::vector<Value> results{Tensor(DType::float32, Shape{1, 3}, memory.data(), nullptr)};
  ASSERT_TRUE(try_run(*session, {{"x", floats({1, 3}, {1, 1, 1})}}, {"y"}, &results).ok());
  EXPECT_EQ(memory, (Floats{2, 0, 4}));
  EXPECT_EQ(results[0].tensor().raw(), memory.data());
}

TEST(Session, DescribesItself) {
  auto session = make_session(kAddRelu);
  ASSERT_EQ(session->inputs().size(), 1u);
  EXPECT_EQ(session->inputs()[0].name, "x");
  EXPECT_EQ(session->inputs()[0].type.to_string(), "tensor(float)[batch, 3]");
  EXPECT_EQ(session->outputs()[0].type.to_string(), "tensor(float)[batch, 3]");
  EXPECT_EQ(session->providers(), (std::vector<std::string>{"CPUExecutionProvider"}));
  ASSERT_EQ(session->placement().size(), 2u);
  EXPECT_EQ(session->placement()[1].node, "last");
  EXPECT_EQ(session->placement()[1].provider, "CPUExecutionProvider");
}

struct BadCall {
  const char* what;
  std::vector<std::pair<const char*, Value>> inputs;
  std::vector<const char*> outputs;
  std::vector<const char*> message;
};

TEST(Session, OneOutputTwice) {
  auto session = make_session(kAddRelu);
  const std::vector<Value> results = run(*session, {{"x", floats({1, 3}, {1, 1, 1})}}, {"y", "y"});
  ASSERT_EQ(results.size(), 2u);
  EXPECT_EQ(elements(results[0]), (Floats{2, 0, 4}));
  EXPECT_EQ(elements(results[1]), (Floats{2, 0, 4}));

  const char* const names[] = {"x"};
  const Value x = floats({1, 3}, {1, 1, 1}), *inputs[] = {&x};
  const char* const asked[] = {"y", "y"};
  Value given[] = {Value(), floats({1, 3}, {9, 9, 9})};
  const void* const memory = given[1].tensor().raw();
  ASSERT_TRUE(session->run({}, names, inputs, asked, given).ok());
  EXPECT_EQ(given[1].tensor().raw(), memory);
  EXPECT_EQ(elements(given[1]), (Floats{2, 0, 4}));
  given[1] = floats({3}, {9, 9, 9});
  EXPECT_EQ(session->run({}, names, inputs, asked, given).code(), ErrorCode::invalid_argument);
}

TEST(Session, RefusesWhatDoesNotFit) {
  auto session = make_session(kAddRelu);
  const Value good = floats({1, 3}, {1, 1, 1});
  const BadCall calls[] = {
      {"no such input", {{"z", good}}, {"y"}, {"'z'", "'x'"}},
      {"no such output", {{"x", good}}, {"q"}, {"'q'", "'y'"}},
      {"missing", {}, {"y"}, {"'x'", "missing"}},
      {"type", {{"x", Tensor::ints(Ints{1, 2, 3})}}, {"y"}, {"tensor(int64)", "tensor(float)"}},
      {"rank", {{"x", floats({3}, {1, 1, 1})}}, {"y"}, {"rank 1", "rank 2"}},
      {"dimension", {{"x", floats({1, 4}, {1, 1, 1, 1})}}, {"y"}, {"dimension 1 is 4", "expected 3"}},
      {"kind", {{"x", Sequence{}}}, {"y"}, {"seq", "tensor(float)"}},
      {"nothing asked for", {{"x", good}}, {}, {"output"}},
  };
  for (const BadCall& call : calls) {
    SCOPED_TRACE(call.what);
    const Status status = try_run(*session, call.inputs, call.outputs);
    EXPECT_EQ(status.code(), ErrorCode::invalid_argument);
    for (const char* part : call.message) EXPECT_NE(status.message().find(part), std::string_view::npos) << status.message();
  }
  EXPECT_EQ(elements(run(*session, {{"x", good}}, {"y"})[0]), (Floats{2, 0, 4}));
}

TEST(Session, OneElementOfAnyRankIsTakenForAScalar) {
  const auto session = make_session(R"(
<ir_version: 8, opset_import: ["" : 18]>
g (float[] x, float[2] v) => (float[2] y, float[] z) {
  y = Mul(v, x)
  z = Neg(x)
})");
  const Tensor v = floats({2}, {1, 2});
  for (const Shape& shape : {Shape(), Shape{1}, Shape{1, 1}}) {
    const auto results = run(*session, {{"x", floats(shape, {3})}, {"v", v}}, {"y", "z"});
    EXPECT_EQ(elements(results[0]), (std::vector<float>{3, 6})) << shape.to_string();
    EXPECT_EQ(elements(results[1]), (std::vector<float>{-3})) << shape.to_string();
    EXPECT_EQ(results[1].tensor().shape().rank(), 0) << shape.to_string();
  }
  EXPECT_NE(try_run(*session, {{"x", floats({2}, {1, 2})}, {"v", v}}, {"y"}).message().find("expected [] of rank 0"), std::string::npos);
  EXPECT_NE(try_run(*session, {{"x", floats({0}, {})}, {"v", v}}, {"y"}).message().find("input 'x'"), std::string::npos);
}

TEST(Session, RefusesAnOutputOfAnotherShape) {
  auto session = make_session(kAddRelu);
  std::vector<Value> results{floats({3}, {0, 0, 0})};
  const Status status = try_run(*session, {{"x", floats({1, 3}, {1, 1, 1})}}, {"y"}, &results);
  EXPECT_EQ(status.code(), ErrorCode::invalid_argument);
  EXPECT_NE(status.message().find("'y'"), std::string_view::npos) << status.message();
}

TEST(Session, NamesNodeAndInputsWhereAKernelFails) {
  auto session = make_session(R"(<opset_import: ["" : 17]>
main (float[n] x, int64[2] s) => (float[...] y)
{
  ["odd one"] y = Reshape (x, s)
})");
  const Status status = try_run(*session, {{"x", floats({3}, {1, 2, 3})}, {"s", Tensor::ints(Ints{2, 2})}}, {"y"});
  EXPECT_FALSE(status.ok());
  for (const char* part : {"odd one", "Reshape(17)", "float[3]", "int64[2]"}) {
    EXPECT_NE(status.message().find(part), std::string_view::npos) << status.message();
  }
}

TEST(Session, OutputsThatAreInputsConstantsOrViews) {
  auto session = make_session(R"(<opset_import: ["" : 17]>
main (float[2] x) => (float[2] x, float[2] w, float[2] y, float[1, 2] v)
< float[2] w = {7, 8}, int64[2] s = {1, 2} >
{
  y = Relu (x)
  v = Reshape (x, s)
})");
  const Value x = floats({2}, {-1, 2});
  auto results = run(*session, {{"x", x}}, {"x", "w", "y", "v"});
  EXPECT_EQ(elements(results[0]), (Floats{-1, 2}));
  EXPECT_EQ(elements(results[1]), (Floats{7, 8}));
  EXPECT_EQ(elements(results[2]), (Floats{0, 2}));
  EXPECT_EQ(elements(results[3]), (Floats{-1, 2}));
  for (Value& result : results) {
    EXPECT_NE(result.tensor().raw(), x.tensor().raw());
    result.tensor().data<float>()[0] = 55;
  }
  EXPECT_EQ(elements(x), (Floats{-1, 2}));
  EXPECT_EQ(elements(run(*session, {{"x", x}}, {"w"})[0]), (Floats{7, 8}));
}

TEST(Session, OverridableInitializersMayBeGiven) {
  auto session = make_session(R"(<opset_import: ["" : 17]>
main (float[2] x, float[2] bias = {10, 20}) => (float[2] y)
{
  y = Add (x, bias)
})");
  ASSERT_EQ(session->overridable_initializers().size(), 1u);
  EXPECT_EQ(session->inputs().size(), 1u);
  const Value x = floats({2}, {1, 2});
  EXPECT_EQ(elements(run(*session, {{"x", x}}, {"y"})[0]), (Floats{11, 22}));
  EXPECT_EQ(elements(run(*session, {{"x", x}, {"bias", floats({2}, {5, 6})}}, {"y"})[0]), (Floats{6, 8}));
  EXPECT_EQ(elements(run(*session, {{"x", x}}, {"y"})[0]), (Floats{11, 22}));
}

TEST(Session, InitializersAndFreeDimensionsOfTheOptions) {
  SessionOptions options;
  options.initializers["w"] = floats({3}, {0, 0, 100});
  options.dims_by_name = {{"batch", 1}};
  auto session = make_session(kAddRelu, options);
  EXPECT_EQ(session->inputs()[0].type.to_string(), "tensor(float)[1, 3]");
  EXPECT_EQ(elements(run(*session, {{"x", floats({1, 3}, {1, 1, 1})}}, {"y"})[0]), (Floats{1, 1, 101}));
  EXPECT_FALSE(try_run(*session, {{"x", filled({2, 3}, 1)}}, {"y"}).ok());
  options.initializers["nothing"] = floats({1}, {1});  // of another model, say
  const auto other = make_session(kAddRelu, options);
  EXPECT_EQ(elements(run(*other, {{"x", floats({1, 3}, {1, 1, 1})}}, {"y"})[0]), (Floats{1, 1, 101}));
  options.initializers["w"] = Tensor::from<int64_t>({3}, std::vector<int64_t>{0, 0, 100});
  EXPECT_THROW(make_session(kAddRelu, options), Error) << "another type";
}

TEST(Session, SizesThatOnlyARunTells) {
  auto session = make_session(R"(<opset_import: ["" : 17]>
main (float[n] x) => (int64[...] where, float[...] doubled)
{
  at = NonZero (x)
  where = Add (at, at)
  f = Cast <to = 1> (where)
  g = Relu (f)
  doubled = Add (g, g)
})");
  for (const Floats& x : {Floats{0, 1, 0, 1}, Floats{0, 0}, Floats{1, 1, 1, 1, 1, 1}}) {
    Ints expected;
    Floats doubled;
    for (size_t i = 0; i < x.size(); ++i) {
      if (x[i] == 0) continue;
      expected.push_back(static_cast<int64_t>(2 * i));
      doubled.push_back(static_cast<float>(4 * i));
    }
    const auto results = run(*session, {{"x", floats({static_cast<int64_t>(x.size())}, x)}}, {"where", "doubled"});
    EXPECT_EQ(ints(results[0]), expected);
    EXPECT_EQ(elements(results[1]), doubled);
  }
}

TEST(Session, ConfigNamesTheNearestKeyAndValue) {
  const auto message = [](const char* key, const char* value) -> std::string {
    SessionOptions options;
    options.config = {{key, value}};
    try {
      make_session(kAddRelu, options);
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::invalid_argument);
      return error.what();
    }
    return "no error";
  };
  EXPECT_NE(message("roundhouse.precison", "fast").find("roundhouse.precision"), std::string::npos);
  EXPECT_NE(message("roundhouse.precision", "strickt").find("strict"), std::string::npos);
  EXPECT_NE(message("session.intra_op_num_threads", "two").find("'two'"), std::string::npos);
  EXPECT_EQ(message("some.other_key", "1"), "no error");
}

TEST(Session, UnknownProvidersAreAnErrorUnlessSkipped) {
  SessionOptions options;
  options.providers = {{"NoSuchExecutionProvider", {}}};
  EXPECT_THROW(make_session(kAddRelu, options), Error);
  options.config["roundhouse.fallback"] = "warn";
  EXPECT_EQ(make_session(kAddRelu, options)->providers().size(), 1u);
}

TEST(Session, RefusesToFallBackToTheCpuWhereForbidden) {
  SessionOptions options;
  options.config["session.disable_cpu_ep_fallback"] = "1";
  EXPECT_THROW(make_session(kAddRelu, options), Error);
  options.providers = {{"CPUExecutionProvider", {}}};
  EXPECT_THROW(make_session(kAddRelu, options), Error);
  options.config["session.disable_cpu_ep_fallback"] = "0";
  EXPECT_NO_THROW(make_session(kAddRelu, options));
}

TEST(Session, MemoryOfRunsIsKeptUnlessTheRunOrTheSessionSaysNo) {
  const Value x = floats({1, 3}, {1, 1, 1});
  SessionOptions options;
  options.disabled_passes = {"fuse_elementwise"};
  auto session = make_session(kAddRelu, options);
  RunOptions shrink;
  shrink.config["memory.enable_memory_arena_shrinkage"] = "cpu:0";
  apply_config(shrink);
  run(*session, {{"x", x}}, {"y"}, shrink);
  EXPECT_EQ(session->statistics().frame_bytes, 0u);
  run(*session, {{"x", x}}, {"y"});
  EXPECT_GT(session->statistics().frame_bytes, 0u);
  options.cpu_arena = false;
  auto bare = make_session(kAddRelu, options);
  run(*bare, {{"x", x}}, {"y"});
  EXPECT_EQ(bare->statistics().frame_bytes, 0u);
}

TEST(Session, WithoutAMemoryPatternEachValueIsAllocatedAsItComes) {
  SessionOptions options;
  options.memory_pattern = false;
  auto session = make_session(kAddRelu, options);
  EXPECT_EQ(elements(run(*session, {{"x", floats({1, 3}, {1, 1, 1})}}, {"y"})[0]), (Floats{2, 0, 4}));
  EXPECT_EQ(session->statistics().planned_peak_bytes, 0u);
}

TEST(Session, NamesTheNodesThatNobodyRuns) {
  try {
    make_session(R"(<opset_import: ["" : 17, "odd.domain" : 1]>
main (float[2] x) => (float[2] y)
{
  [strange] y = odd.domain.Thing (x)
})");
    FAIL() << "expected an error";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::fail);
    for (const char* part : {"strange", "odd.domain::Thing(1)", "CPUExecutionProvider"}) {
      EXPECT_NE(std::string_view(error.what()).find(part), std::string_view::npos) << error.what();
    }
  }
}

TEST(Session, StopsWhenTheFlagIsSet) {
  auto session = make_session(kAddRelu);
  std::atomic<bool> stop{true};
  RunOptions options;
  options.terminate = &stop;
  const Value x = floats({1, 3}, {1, 1, 1});
  EXPECT_EQ(try_run(*session, {{"x", x}}, {"y"}, nullptr, options).code(), ErrorCode::fail);
  stop = false;
  EXPECT_TRUE(try_run(*session, {{"x", x}}, {"y"}, nullptr, options).ok());
}

TEST(Session, ExecutesOnlyThePathToWhatIsAskedFor) {
  auto session = make_session(R"(<opset_import: ["" : 17]>
main (float[n] x, int64[1] s) => (float[n] y, float[...] z)
{
  y = Relu (x)
  z = Reshape (x, s)
})");
  RunOptions options;
  options.only_execute_path_to_fetches = true;
  const Value x = floats({3}, {1, -2, 3}), wrong = Tensor::ints(Ints{7});
  EXPECT_EQ(elements(run(*session, {{"x", x}, {"s", wrong}}, {"y"}, options)[0]), (Floats{1, 0, 3}));
  EXPECT_FALSE(try_run(*session, {{"x", x}, {"s", wrong}}, {"y"}).ok());
}

TEST(Session, WhatDoesNotFitIntoMemoryIsAnErrorAndTheSessionGoesOn) {
  auto session = make_session(R"(<opset_import: ["" : 17]>
main (int64[2] s) => (float[...] y, float[...] z)
{
  c = ConstantOfShape (s)
  y = Relu (c)
  z = Add (c, y)
})");
  for (const Ints& s : {Ints{int64_t{1} << 40, int64_t{1} << 40}, Ints{int64_t{1} << 62, 64}, Ints{-2, 3}}) {
    EXPECT_FALSE(try_run(*session, {{"s", Tensor::ints(s)}}, {"z"}).ok()) << s[0];
    EXPECT_EQ(elements(run(*session, {{"s", Tensor::ints(Ints{1, 2})}}, {"z"})[0]), (Floats{0, 0}));
  }
}

TEST(Session, AnArenaThatIsTooLargeIsAnErrorAndTheSessionGoesOn) {
  // The size of `t` is told from the shapes of the inputs, which themselves take no memory.
  auto session = make_session(R"(<opset_import: ["" : 17]>
main (float[n, k] a, float[k, m] b) => (float[n, m] y)
{
  t = MatMul (a, b)
  y = Relu (t)
})");
  const int64_t large = int64_t{1} << 24;
  const Value a = Tensor(DType::float32, Shape{large, 0}), b = Tensor(DType::float32, Shape{0, large});
  EXPECT_FALSE(try_run(*session, {{"a", a}, {"b", b}}, {"y"}).ok());
  EXPECT_EQ(elements(run(*session, {{"a", filled({1, 2}, 1)}, {"b", filled({2, 1}, 3)}}, {"y"})[0]), (Floats{6}));
}

TEST(Session, AGrowingDimensionBindsFewTimes) {
  auto session = make_session(chain(10));
  for (int64_t n = 1; n <= 200; ++n) run(*session, {{"x", filled({n, 64}, 1)}}, {"y"});
  EXPECT_LE(session->statistics().plan_bindings, 8);
  EXPECT_EQ(session->statistics().runs, 200);
}

TEST(Session, ASteadyStateAllocatesNothingOfItsOwn) {
  auto session = make_session(R"(<opset_import: ["" : 17]>
main (float[n] x) => (int64[...] y)
{
  a = Relu (x)
  b = NonZero (a)
  c = Add (b, b)
  d = Mul (c, b)
  y = Add (d, d)
})");
  const Value x = floats({4}, {1, 0, 2, 3});
  run(*session, {{"x", x}}, {"y"});
  const SessionStatistics before = session->statistics();
  for (int i = 0; i < 5; ++i) run(*session, {{"x", x}}, {"y"});
  const SessionStatistics after = session->statistics();
  EXPECT_EQ(before.late_allocations, after.late_allocations);
  EXPECT_EQ(before.frame_bytes, after.frame_bytes);
  EXPECT_EQ(before.plan_bindings, after.plan_bindings);
}

TEST(Session, MemoryOfTheFirstRunIsReadyWhereItsSizeIsKnown) {
  constexpr char kFixed[] = R"(<opset_import: ["" : 17]>
main (float[256, 1024] x) => (float[256] y)
{
  a = Exp (x)
  b = Transpose <perm = [1, 0]> (a)
  c = Softmax <axis = 0> (b)
  y = ReduceMax <axes = [0], keepdims = 0> (c)
})";
  auto session = make_session(kFixed);
  const SessionStatistics made = session->statistics();
  EXPECT_GE(made.frame_bytes, size_t{1} << 20);
  run(*session, {{"x", filled({256, 1024}, 1)}}, {"y"});
  EXPECT_EQ(session->statistics().plan_bindings, made.plan_bindings);
  EXPECT_EQ(session->statistics().planned_peak_bytes, made.planned_peak_bytes);
  SessionOptions options;
  options.cpu_arena = false;
  EXPECT_EQ(make_session(kFixed, options)->statistics().frame_bytes, 0u);
  options.cpu_arena = true;
  options.config["roundhouse.memory.budget_bytes"] = "67108864";
  EXPECT_EQ(make_session(kFixed, options)->statistics().frame_bytes, 0u);
  std::string large = kFixed;
  for (size_t at; (at = large.find("256")) != std::string::npos;) large.replace(at, 3, "9000");
  EXPECT_EQ(make_session(large)->statistics().frame_bytes, 0u) << "36 MB";
  EXPECT_EQ(make_session(chain(10))->statistics().frame_bytes, 0u) << "of any number of rows";
  SessionOptions lean;
  lean.config["roundhouse.memory"] = "lean";
  EXPECT_EQ(make_session(kFixed, lean)->statistics().frame_bytes, 0u);
}

TEST(Session, MemoryOfTheFirstRunMayBeAsLargeAsTheWeights) {
  // Weights of 31 MB, and values of 480 KB a row.
  const auto frame_bytes = [](const char* rows) {
    const std::string text = std::string("<opset_import: [\"\" : 17]>\nmain (float[") + rows + R"(, 64] x) => (float[1] y)
< float[64, 120000] w = {0.5, ...} >
{
  a = MatMul (x, w)
  b = Exp (a)
  y = ReduceMax <keepdims = 0> (b)
})";
    return make_session(text)->statistics().frame_bytes;
  };
  EXPECT_GE(frame_bytes("40"), size_t{40} * 480000);
  EXPECT_EQ(frame_bytes("80"), 0u);
}

TEST(Session, APageOfTheArenaIsReadyWhereSizesComeWithTheInputs) {
  constexpr size_t kLargePage = size_t{2} << 20;
  const auto session_of = [](const char* columns, const char* memory) {
    const std::string text = std::string("<opset_import: [\"\" : 17]>\nmain (float[n, 64] x) => (float[1] y)\n< float[64, ") + columns +
                             R"(] w = {0.5, ...} >
{
  a = MatMul (x, w)
  b = Exp (a)
  y = ReduceMax <keepdims = 0> (b)
})";
    SessionOptions options;
    options.config["roundhouse.memory"] = memory;
    return make_session(text, options);
  };
  EXPECT_EQ(session_of("20000", "lean")->statistics().frame_bytes, 0u);
  EXPECT_EQ(session_of("2000", "fast")->statistics().frame_bytes, 0u) << "of small weights";
  const auto session = session_of("20000", "fast");
  EXPECT_EQ(session->statistics().frame_bytes, kLargePage);
  for (const int64_t rows : {3, 100, 5}) {
    const auto outputs = run(*session, {{"x", filled({rows, 64}, 1.0f / 32)}}, {"y"});
    EXPECT_NEAR(elements(outputs[0])[0], 2.718282f, 1e-4f) << rows;
    const size_t bytes = session->statistics().frame_bytes;
    if (rows == 3) {
      EXPECT_EQ(bytes, kLargePage) << "the arena lies in it";
    } else {
      EXPECT_GE(bytes, size_t{100} * 80000);
    }
  }
}

#if defined(__linux__)
TEST(Session, ScratchMemoryOfTheFirstRunIsReadyWhereWeightsWerePacked) {
  if (kSanitized) GTEST_SKIP() << "sanitizers touch pages of their own";
  if (!takes_advice()) GTEST_SKIP() << "this system ignores advice";
  const auto faults = [](const char* rows, const char* memory) {
    const std::string text = std::string("<opset_import: [\"\" : 17]>\nmain (float[") + rows + R"(, 64] x) => (float[...] y)
< float[64, 20000] w = {0.5, ...} >
{
  y = MatMul (x, w)
})";
    SessionOptions options;
    options.intra_op_threads = 1;
    options.config["roundhouse.memory"] = memory;
    int64_t taken = 0;
    std::thread([&] {  // whose scratch memory nobody has used
      const auto session = make_session(text, options);
      constexpr size_t kBytes = size_t{200} << 10;
      ThreadMemory block;
      const int64_t before = page_faults();
      std::memset(block.grow(kBytes), 1, kBytes);
      taken = page_faults() - before;
    })
        .join();
    return taken;
  };
  EXPECT_LE(faults("4", "fast"), 8) << "of 50 pages";
  EXPECT_GE(faults("4", "lean"), 40);
  EXPECT_GE(faults("n", "fast"), 40) << "of any number of rows";
}
#endif

TEST(Session, MemoryOfLargeOutputsIsReadyWhereTheirSizesAreKnown) {
  constexpr size_t kOutput = size_t{4} << 20;
  constexpr char kFixed[] = R"(<opset_import: ["" : 17]>
main (float[1024, 1024] x) => (float[1024, 1024] y, float[1024, 1024] z)
{
  y = Exp (x)
  z = Neg (x)
})";
  const Value x = filled({1024, 1024}, 2);
  auto session = make_session(kFixed);
  const size_t made = session->statistics().memory_bytes;
  EXPECT_GE(made, 2 * kOutput);
  for (int i = 0; i < 2; ++i) {
    const auto outputs = run(*session, {{"x", x}}, {"y", "z"});
    EXPECT_NEAR(elements(outputs[0])[kOutput / 8], 7.389056f, 1e-5f);
    EXPECT_EQ(elements(outputs[1])[kOutput / 8], -2.0f);
    EXPECT_EQ(session->statistics().memory_bytes, made) << "run " << i << " took other memory";
  }
  EXPECT_GE(session->trim(), 2 * kOutput);
  EXPECT_LE(session->statistics().memory_bytes, made - 2 * kOutput);
  session = make_session(kFixed);
  std::vector<Value> outputs{Tensor(DType::float32, {1024, 1024}), Tensor(DType::float32, {1024, 1024})};
  ASSERT_TRUE(try_run(*session, {{"x", x}}, {"y", "z"}, &outputs).ok());
  EXPECT_LE(session->statistics().memory_bytes, made - 2 * kOutput) << "the caller's own memory was used";
  for (const char* key : {"roundhouse.memory", "roundhouse.memory.budget_bytes"}) {
    SessionOptions options;
    options.config[key] = key == std::string("roundhouse.memory") ? "lean" : "67108864";
    EXPECT_LE(make_session(kFixed, options)->statistics().memory_bytes, made - 2 * kOutput) << key;
  }
  SessionOptions options;
  options.cpu_arena = false;
  EXPECT_LE(make_session(kFixed, options)->statistics().memory_bytes, made - 2 * kOutput);
}

TEST(Session, AChainNeedsFewBuffers) {
  auto session = make_session(chain(100));
  run(*session, {{"x", filled({8, 64}, 1)}}, {"y"});
  EXPECT_LE(session->statistics().planned_peak_bytes, 2u * 8 * 64 * 4);
  EXPECT_GT(session->statistics().planned_peak_bytes, 0u);
}

TEST(Session, LoadsALongChain) {
  const auto session = Session::create(parse_model(chain(5000)));
  EXPECT_EQ(elements(run(*session, {{"x", filled({1, 64}, 0.5f)}}, {"y"})[0]).size(), 64u);
}

TEST(Session, ManyThreadsRunOneSession) {
  auto session = make_session(chain(12));
  const auto expected = elements(run(*session, {{"x", filled({4, 64}, 0.5f)}}, {"y"})[0]);
  std::vector<std::thread> threads;
  std::atomic<int> wrong{0};
  for (int t = 0; t < 6; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 20; ++i) {
        const int64_t n = 1 + (t * 7 + i) % 9;
        const Value x = filled({n, 64}, 0.5f);
        const char* in = "x";
        const char* out = "y";
        const Value* values = &x;
        Value result;
        const Status status = session->run({}, {&in, 1}, {&values, 1}, {&out, 1}, {&result, 1});
        if (!status.ok() || result.tensor().elements() != n * 64 || result.tensor().data<float>()[n * 64 - 1] != expected[0]) ++wrong;
      }
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(wrong.load(), 0);
}

class CountingObserver final : public RunObserver {
 public:
  void after_step(const StepEvent&) override { ++steps; }
  int steps = 0;
};

TEST(Session, ATraceAndAnObserverBothSeeEveryNode) {
  SessionOptions options;
  options.profiling = true;
  options.profile_prefix = ::testing::TempDir() + "roundhouse_watched";
  auto session = make_session(kAddRelu, options);
  RunOptions watched;
  const auto observer = std::make_shared<CountingObserver>();
  watched.observer = observer;
  run(*session, {{"x", filled({2, 3}, 1)}}, {"y"}, watched);
  const std::string path = session->end_profiling(), text = read_file(path);
  std::remove(path.c_str());
  int traced = 0;
  for (size_t at = 0; (at = text.find("\"op_name\"", at)) != std::string::npos; ++at) ++traced;
  EXPECT_GT(observer->steps, 0);
  EXPECT_EQ(traced, observer->steps);
}

TEST(Session, WritesATrace) {
  SessionOptions options;
  options.profiling = true;
  options.profile_prefix = ::testing::TempDir() + "roundhouse_trace";
  options.disabled_passes = {"fuse_elementwise"};
  auto session = make_session(kAddRelu, options);
  run(*session, {{"x", filled({2, 3}, 1)}}, {"y"});
  const std::string path = session->end_profiling();
  FILE* file = std::fopen(path.c_str(), "rb");
  ASSERT_NE(file, nullptr) << path;
  std::string text(4096, '\0');
  text.resize(std::fread(text.data(), 1, text.size(), file));
  std::fclose(file);
  std::remove(path.c_str());
  for (const char* part : {"last_kernel_time", "\"op_name\" : \"Relu\"", "CPUExecutionProvider", "model_run", "SequentialExecutor::Execute",
                           "\"activation_size\" : \"24\"", "\"parameter_size\" : \"0\"", "\"output_size\" : \"24\""}) {
    EXPECT_NE(text.find(part), std::string::npos) << text;
  }
}

}  // namespace
}  // namespace rh::test
