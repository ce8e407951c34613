// Stopping runs: the terminate flag, time limits, and what is left behind.
#include <chrono>
#include <random>
#include <thread>

#include "base/denormals.h"
#include "session/run_helpers.h"
#include "support/sanitizers.h"

namespace rh::test {
namespace {

using std::chrono::milliseconds;

Value trips(int64_t count) { return Tensor::scalar<int64_t>(count); }

/// A loop whose steps multiply, branch and scan; `trips` says how long it takes.
constexpr char kControlFlow[] = R"(<opset_import: ["" : 17]>
main (int64[] trips, float[n, n] x) => (float[n, n] last, float[...] all)
< bool[] go = {1}, float[1] half = {0.5} >
{
  last, all = Loop (trips, go, x) <
    body = step (int64[] i, bool[] c, float[n, n] v) => (bool[] c2, float[n, n] v2, float[n, n] v3) {
      c2 = Identity (c)
      p = MatMul (v, x)
      t = Tanh (p)
      v2 = If (c) <
        then_branch = yes () => (float[n, n] r) { r = Add (t, half) },
        else_branch = no () => (float[n, n] s) { s = Sub (t, half) }
      >
      z0 = Shape (v)
      first = Gather <axis = 0> (v2, i0)
      sum, v3 = Scan <num_scan_inputs = 1,
        body = row (float[n] a, float[n] b) => (float[n] a2, float[n] b2) {
          a2 = Add (a, b)
          b2 = Identity (a2)
        }
      > (first, v2)
    }
  >
})";

std::string control_flow() {
  std::string text = kControlFlow;
  text.replace(text.find("float[1] half"), 0, "int64[] i0 = {0}, ");
  text.erase(text.find("      z0 = Shape (v)\n"), 23);
  return text;
}

/// Models with one kernel that takes long, and an input that makes it so.
struct LongKernel {
  const char* name;
  const char* text;
  std::vector<std::pair<const char*, Value>> inputs;
};

Tensor ramp(Shape shape) {
  Tensor tensor(DType::float32, std::move(shape));
  uint32_t state = 1;
  float* const first = tensor.data<float>();
  for (float *value = first, *end = first + tensor.elements(); value != end; ++value) {
    state = state * 1664525 + 1013904223;
    *value = static_cast<float>(state >> 8) * 0x1p-24f;
  }
  return tensor;
}

Tensor zeros(Shape shape) {
  Tensor tensor(DType::int64, std::move(shape));
  std::fill_n(tensor.data<int64_t>(), tensor.elements(), 0);
  return tensor;
}

std::vector<LongKernel> long_kernels() {
  constexpr int64_t k = kSanitized ? 250 : 1000;  // what the sanitizers watch takes longer than four times as long
  const Value square = ramp({3000, 3000});
  Tensor boxes = ramp({1, 300 * k, 4});
  for (int64_t i = 0; i < 300 * k; ++i) {
    float* box = boxes.data<float>() + 4 * i;
    for (int c : {0, 1}) box[c] = box[c] * 1e6f, box[c + 2] = box[c] + 1;
  }
  return {
      {"MatMul", "<opset_import: [\"\" : 17]>\nmain (float[n, n] a) => (float[n, n] y) { y = MatMul (a, a) }", {{"a", square}}},
      {"TopK",
       "<opset_import: [\"\" : 17]>\nmain (float[n] a, int64[1] k) => (float[k] y, int64[k] i) { y, i = TopK (a, k) }",
       {{"a", ramp({4'000 * k})}, {"k", Tensor::ints(std::vector<int64_t>{4'000 * k})}}},
      {"NonMaxSuppression",
       "<opset_import: [\"\" : 17]>\nmain (float[1, n, 4] b, float[1, 1, n] s, int64[1] k) => (int64[m, 3] y) { y = NonMaxSuppression (b, "
       "s, "
       "k) }",
       {{"b", boxes}, {"s", ramp({1, 1, 300 * k})}, {"k", Tensor::ints(std::vector<int64_t>{300 * k})}}},
      {"LSTM",
       "<opset_import: [\"\" : 17]>\nmain (float[t, 1, 16] x, float[1, 1024, 16] w, float[1, 1024, 256] r) => (float[t, 1, 1, 256] y) { y "
       "= "
       "LSTM <hidden_size = 256> (x, w, r) }",
       {{"x", ramp({20 * k, 1, 16})}, {"w", filled({1, 1024, 16}, 0.01f)}, {"r", filled({1, 1024, 256}, 0.01f)}}},
      {"NonZero", "<opset_import: [\"\" : 17]>\nmain (float[n] a) => (int64[1, m] y) { y = NonZero (a) }", {{"a", ramp({20'000 * k})}}},
      {"CumSum",
       "<opset_import: [\"\" : 17]>\nmain (float[n] a) => (float[n] y) < int64[] axis = {0} > { y = CumSum (a, axis) }",
       {{"a", ramp({20'000 * k})}}},
      {"ScatterElements",
       "<opset_import: [\"\" : 17]>\nmain (float[n] a, int64[n] i) => (float[n] y) { y = ScatterElements (a, i, a) }",
       {{"a", ramp({5'000 * k})}, {"i", zeros({5'000 * k})}}},
      {"ScatterND",
       "<opset_import: [\"\" : 18]>\nmain (float[n] a, int64[n, 1] i) => (float[n] y) { y = ScatterND <reduction = \"add\"> (a, i, a) }",
       {{"a", ramp({5'000 * k})}, {"i", zeros({5'000 * k, 1})}}},
      {"Unique", "<opset_import: [\"\" : 17]>\nmain (float[n] a) => (float[m] y) { y = Unique (a) }", {{"a", ramp({2'000 * k})}}},
      {"Exp", "<opset_import: [\"\" : 17]>\nmain (float[n] a) => (float[n] y) { y = Erf (a) }", {{"a", ramp({40'000 * k})}}},
  };
}

Status run_all(Session& session, const std::vector<std::pair<const char*, Value>>& inputs, const RunOptions& options) {
  return try_run(session, inputs, {session.outputs()[0].name.c_str()}, nullptr, options);
}

TEST(Cancel, ATimeLimitStopsInsideLongKernels) {
  const std::vector<LongKernel> kernels = long_kernels();
  for (const int threads : {1, 2}) {
    for (const LongKernel& kernel : kernels) {
      SessionOptions session_options;
      session_options.intra_op_threads = threads;
      auto session = make_session(kernel.text, session_options);
      RunOptions options;
      options.time_limit = milliseconds(3);
      // What a kernel that does not look would give is a result: each takes far longer than the limit.
      const Status status = run_all(*session, kernel.inputs, options);
      EXPECT_EQ(status.code(), ErrorCode::fail) << kernel.name;
      EXPECT_NE(status.message().find("time limit of 3 ms"), std::string_view::npos) << kernel.name << ": " << status.message();
      EXPECT_NE(status.message().find(kernel.name == std::string_view("Exp") ? "Erf" : kernel.name), std::string_view::npos)
          << status.message();
    }
  }
}

TEST(Cancel, TheFlagStopsARunFromAnotherThread) {
  auto session = make_session(control_flow());
  const Value x = filled({16, 16}, 0.01f);
  std::atomic<bool> stop{false};
  RunOptions options;
  options.terminate = &stop;
  std::thread other([&] {
    std::this_thread::sleep_for(milliseconds(20));
    stop = true;
  });
  const Status status = try_run(*session, {{"trips", trips(int64_t{1} << 40)}, {"x", x}}, {"last"}, nullptr, options);
  other.join();
  EXPECT_EQ(status.code(), ErrorCode::fail);
  EXPECT_NE(status.message().find("terminate flag"), std::string_view::npos) << status.message();
  EXPECT_EQ(status.message().find("time limit"), std::string_view::npos) << status.message();
  stop = false;
  run(*session, {{"trips", trips(2)}, {"x", x}}, {"last"}, options);
}

TEST(Cancel, ALimitThatIsNotReachedChangesNothing) {
  auto session = make_session(control_flow());
  const Value x = filled({16, 16}, 0.01f);
  RunOptions options;
  const auto expected = elements(run(*session, {{"trips", trips(5)}, {"x", x}}, {"all"})[0]);
  options.time_limit = milliseconds::max();
  EXPECT_EQ(elements(run(*session, {{"trips", trips(5)}, {"x", x}}, {"all"}, options)[0]), expected);
}

TEST(Cancel, RunConfigSetsTheLimitAndNamesTheNearestKey) {
  RunOptions options;
  options.config["roundhouse.run.timeout_ms"] = "250";
  apply_config(options);
  EXPECT_EQ(options.time_limit, milliseconds(250));
  options.config["roundhouse.run.timeout_ms"] = "0";
  apply_config(options);
  EXPECT_EQ(options.time_limit, std::nullopt);
  for (const char* wrong : {"-1", "soon", "1.5", "99999999999999"}) {
    options.config["roundhouse.run.timeout_ms"] = wrong;
    EXPECT_THROW(apply_config(options), Error) << wrong;
  }
  options.config = {{"roundhouse.run.timeout", "1"}};
  try {
    apply_config(options);
    FAIL() << "taken";
  } catch (const Error& error) {
    EXPECT_NE(error.message().find("roundhouse.run.timeout_ms"), std::string::npos) << error.message();
  }
}

// Four threads run one session ten thousand times in all, stopped at random moments by flag or limit; sanitizers watch.
TEST(Cancel, TenThousandRandomOnes) {
  auto session = make_session(control_flow());
  const Value x = filled({12, 12}, 0.01f);
  const auto expected = elements(run(*session, {{"trips", trips(3)}, {"x", x}}, {"all"})[0]);
  constexpr int kThreads = 4, kRuns = 2500;
  std::atomic<int> stopped{0}, finished{0}, wrong{0};
  std::atomic<bool> flags[kThreads] = {};
  std::atomic<bool> over{false};
  std::thread canceller([&] {
    std::mt19937 random(7);
    while (!over) {
      std::this_thread::sleep_for(std::chrono::microseconds(random() % 300));
      flags[random() % kThreads] = true;
    }
  });
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      std::mt19937 random(static_cast<uint32_t>(t));
      for (int i = 0; i < kRuns; ++i) {
        RunOptions options;
        flags[t] = false;
        options.terminate = &flags[t];
        const bool endless = random() % 8 != 0;
        if (random() % 2 == 0) options.time_limit = milliseconds(random() % 2);
        std::vector<Value> results(1);
        const Status status = try_run(*session, {{"trips", trips(endless ? int64_t{1} << 40 : 3)}, {"x", x}}, {"all"}, &results, options);
        if (status.ok()) {
          ++finished;
          wrong += endless || elements(results[0]) != expected;
        } else {
          ++stopped;
          wrong += status.message().find("was stopped") == std::string_view::npos;
        }
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  over = true;
  canceller.join();
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(stopped + finished, kThreads * kRuns);
  EXPECT_GT(stopped, kThreads * kRuns / 2);
  EXPECT_EQ(elements(run(*session, {{"trips", trips(3)}, {"x", x}}, {"all"})[0]), expected);
}

#if defined(__SSE2__)
TEST(Denormals, TheCallersModeStaysAsItWas) {
  auto session = make_session(control_flow());
  const Value x = filled({8, 8}, 0.01f);
  const std::atomic<bool> stop{true};
  RunOptions stopped, limited;
  stopped.terminate = &stop;
  limited.time_limit = milliseconds(0);
  const unsigned original = _mm_getcsr();
  for (const unsigned mode : {0x1f80u, 0x9fc0u, 0x1fc0u, 0x9f80u, 0x7f80u}) {  // none, both, DAZ, FTZ, rounding to zero
    _mm_setcsr(mode);
    const Status good = try_run(*session, {{"trips", trips(3)}, {"x", x}}, {"last"});
    const unsigned after_good = _mm_getcsr();
    _mm_setcsr(mode);
    const Status flagged = try_run(*session, {{"trips", trips(3)}, {"x", x}}, {"last"}, nullptr, stopped);
    const unsigned after_flagged = _mm_getcsr();
    _mm_setcsr(mode);
    const Status late = try_run(*session, {{"trips", trips(3)}, {"x", x}}, {"last"}, nullptr, limited);
    const unsigned after_late = _mm_getcsr();
    _mm_setcsr(mode);
    auto another = make_session(control_flow());
    const unsigned after_load = _mm_getcsr();
    _mm_setcsr(original);
    constexpr unsigned kModes = ~0x3fu;  // the lowest bits are sticky flags of what happened
    EXPECT_TRUE(good.ok());
    EXPECT_FALSE(flagged.ok());
    EXPECT_FALSE(late.ok());
    for (const unsigned after : {after_good, after_flagged, after_late, after_load})
      EXPECT_EQ(after & kModes & ~0x40u, mode & kModes & ~0x40u);
    for (const unsigned after : {after_good, after_flagged, after_late, after_load}) EXPECT_EQ(after & 0x40u, mode & 0x40u);
  }
}
#endif

// The number below zero is denormal.
TEST(Denormals, TheLargestOfARowIsFoundWhereItIsZero) {
  auto session = make_session("<opset_import: [\"\" : 17]>\nmain (float[n] x) => (float[n] y) { y = Hardmax (x) }");
  const auto y = run(*session, {{"x", filled({20}, 0.0f)}}, {"y"});
  for (int64_t i = 0; i < 20; ++i) EXPECT_EQ(y[0].tensor().data<float>()[i], i == 0 ? 1.0f : 0.0f) << i;
}

TEST(Denormals, CountAsZeroUnlessTheSessionKeepsThem) {
  constexpr char kText[] =
      "<opset_import: [\"\" : 17]>\nmain (float[n] x) => (float[n] y)\n< float[1] half = {0.5} > { y = Mul (x, half) }";
  const Value tiny = filled({200'000}, 2e-38f);
  for (const bool keep : {false, true, false}) {
    SessionOptions options;
    options.intra_op_threads = 2;
    if (keep) options.config["session.set_denormal_as_zero"] = "0";
    auto session = make_session(kText, options);
    const auto y = elements(run(*session, {{"x", tiny}}, {"y"})[0]);
    EXPECT_EQ(std::count(y.begin(), y.end(), 0.0f), keep ? 0 : 200'000);
  }
}

}  // namespace
}  // namespace rh::test
