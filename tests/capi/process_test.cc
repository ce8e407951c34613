// What runs leave alone in the threads and processes around them: the treatment of denormals, children of a fork.
#include <future>

#include "library.h"
#include "model_bytes.h"
#include "support/sanitizers.h"

#if defined(__SSE2__)
#include <xmmintrin.h>
#endif
#if defined(__linux__)
#include <sys/wait.h>
#include <unistd.h>
#endif

namespace rh::test {
namespace {

class ProcessTest : public ApiTest {
 protected:
  /// y = x / 256 by eight halvings; meant for enough elements for several threads.
  static Ort::Session load(const Ort::Env& env, const char* flush = nullptr, int threads = 2) {
    ModelBytes bytes;
    std::string from = "x";
    for (int i = 0; i < 8; ++i) {
      const std::string to = i == 7 ? "y" : "v" + std::to_string(i);
      bytes.node("Mul", {from, "half"}, {to});
      from = to;
    }
    const std::string model = bytes.initializer("half", {0.5f}).input("x", 1, {"N"}).output("y", 1, {"N"}).model();
    Ort::SessionOptions options;
    options.SetIntraOpNumThreads(threads);
    if (flush) options.AddConfigEntry("session.set_denormal_as_zero", flush);
    return Ort::Session(env, model.data(), model.size(), options);
  }

  std::vector<float> x = std::vector<float>(200'000, 1e-38f);
  const int64_t shape[1] = {200'000};
  Ort::Value value = Ort::Value::CreateTensor<float>(cpu, x.data(), x.size(), shape, 1);
  const char* inputs[1] = {"x"};
  const char* outputs[1] = {"y"};
};

/// The end of an asynchronous run, with what its callback saw.
struct Ended {
  std::promise<unsigned> control;
  static void ORT_API_CALL done(void* self, OrtValue**, size_t, OrtStatusPtr status) {
    EXPECT_TRUE(Ort::Status(status).IsOK());
#if defined(__SSE2__)
    static_cast<Ended*>(self)->control.set_value(_mm_getcsr());
#else
    static_cast<Ended*>(self)->control.set_value(0);
#endif
  }
};

#if defined(__SSE2__)
constexpr unsigned kFlush = 0x8040, kStatusFlags = 0x3f;

// Whatever a session does with denormals in its own work, the caller's control register and that of callbacks stay as they were.
TEST_F(ProcessTest, ControlRegistersStayAsTheyWere) {
  if (!Library::get().ours) GTEST_SKIP() << "a promise of ours";
  const unsigned before = _mm_getcsr();
  const Ort::Env env(ORT_LOGGING_LEVEL_FATAL);
  for (const char* flush : {"1", "0"}) {
    SCOPED_TRACE(flush);
    Ort::Session session = load(env, flush);
    for (const unsigned mode : {0u, kFlush}) {
      SCOPED_TRACE(mode);
      _mm_setcsr((before & ~kFlush) | mode);
      const auto results = session.Run(Ort::RunOptions(), inputs, &value, 1, outputs, 1);
      EXPECT_EQ(_mm_getcsr() & ~kStatusFlags, ((before & ~kFlush) | mode) & ~kStatusFlags);
      const Ort::RunOptions run_options;
      Ort::Value result;
      Ended ended;
      session.RunAsync(run_options, inputs, &value, 1, outputs, &result, 1, Ended::done, &ended);
      EXPECT_EQ(_mm_getcsr() & ~kStatusFlags, ((before & ~kFlush) | mode) & ~kStatusFlags);
      const unsigned in_callback = ended.control.get_future().get();
      EXPECT_EQ(in_callback & 0x6000u, before & 0x6000u) << "rounding of the callback's thread";
      // Threads are born with the mode of whoever starts them; a session that flushes leaves no trace of its own there.
      if (mode == 0) {
        EXPECT_EQ(in_callback & kFlush, 0u);
      }
      _mm_setcsr(before);
      const bool flushed = *flush == '1';
      EXPECT_EQ(results[0].GetTensorData<float>()[0] == 0, flushed || mode == kFlush);
      EXPECT_EQ(result.GetTensorData<float>()[199'999] == 0, flushed || (in_callback & kFlush) != 0);
    }
  }
}
#endif

#if defined(__linux__)
/// How a child that runs `work` ends: its exit code, or 100 and the signal.
template <typename Work>
int in_child(Work&& work) {
  const pid_t child = ::fork();
  if (child == 0) {
    ::alarm(60);
    work();
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 100 + WTERMSIG(status);
}

// A child of a fork may make sessions of its own; those of its parent it leaves alone.
TEST_F(ProcessTest, ChildrenOfAForkMakeSessionsOfTheirOwn) {
  if (!Library::get().ours) GTEST_SKIP() << "a promise of ours";
  if (kSanitized) GTEST_SKIP() << "a fork copies the sanitizer's own locks as they are, and nobody in the child opens them";
  const Ort::Env env(ORT_LOGGING_LEVEL_FATAL);
  Ort::Session session = load(env, nullptr, 0);
  (void)session.Run(Ort::RunOptions(), inputs, &value, 1, outputs, 1);
  const Ort::RunOptions run_options;
  for (int round = 0; round < 5; ++round) {
    Ort::Value result;
    Ended ended;
    session.RunAsync(run_options, inputs, &value, 1, outputs, &result, 1, Ended::done, &ended);
    EXPECT_EQ(in_child([] { std::exit(7); }), 7) << "a child that leaves the session alone";
    EXPECT_EQ(in_child([&] {
                std::vector<float> own_x(200'000, 2.0f);
                const Ort::Value own_value = Ort::Value::CreateTensor<float>(cpu, own_x.data(), own_x.size(), shape, 1);
                float first = 0;
                {
                  Ort::Session own = load(env, nullptr, 0);
                  first = own.Run(Ort::RunOptions(), inputs, &own_value, 1, outputs, 1)[0].GetTensorData<float>()[0];
                  Ort::Value own_result;
                  Ended own_ended;
                  own.RunAsync(run_options, inputs, &own_value, 1, outputs, &own_result, 1, Ended::done, &own_ended);
                  (void)own_ended.control.get_future().get();
                  if (own_result.GetTensorData<float>()[199'999] != first) std::_Exit(2);
                }
                std::_Exit(first == 2.0f / 256 ? 0 : 1);
              }),
              0);
    (void)ended.control.get_future().get();
    EXPECT_TRUE(result);
  }
}
#endif

}  // namespace
}  // namespace rh::test
