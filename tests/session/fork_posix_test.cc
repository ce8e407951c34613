// Children of a fork that happens while other threads of the parent make, run and free sessions.
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstdlib>
#include <map>
#include <thread>

#include "onnx/writer.h"
#include "session/run_helpers.h"

#if defined(__SANITIZE_THREAD__)
#define RH_TSAN 1
#elif defined(__SANITIZE_ADDRESS__)
#define RH_ASAN 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define RH_TSAN 1
#elif __has_feature(address_sanitizer)
#define RH_ASAN 1
#endif
#endif

// With AddressSanitizer a fork copies that library's own locks as they are, and nobody in the child opens them.
#if defined(__linux__) && !defined(RH_ASAN)

namespace rh::test {
namespace {

#if defined(RH_TSAN)
constexpr int kForks = 100;
constexpr int kThreads = 1;  // a thread that it starts ends a child
#else
constexpr int kForks = 2000;
constexpr int kThreads = 2;
#endif
constexpr unsigned kSecondsUntilItHangs = 20;

SessionOptions with_threads(int threads) {
  SessionOptions options;
  options.intra_op_threads = threads;
  return options;
}

/// A model in a file, whose weights are large enough to be mapped, packed and shared between sessions.
class ForkTest : public ::testing::Test {
 protected:
  void SetUp() override {
    char name[] = "/tmp/rh_fork_XXXXXX";
    folder_ = ::mkdtemp(name);
    const Model model = parse_model(
        "<ir_version: 10, opset_import: [\"\" : 17]> g (float[n, 128] x) => (float[n, 128] y) < float[128, 128] w = {0.5, ...} >"
        "{ a = MatMul (x, w) y = Relu (a) }");
    onnx::write_model_file(model, path(), 1024);
  }
  void TearDown() override { (void)!std::system(("rm -r '" + folder_ + "'").c_str()); }

  std::string path() const { return folder_ + "/model.onnx"; }
  std::unique_ptr<Session> load(int threads) const { return Session::create(path(), with_threads(threads)); }
  static bool is_right(Session& session) { return elements(run(session, {{"x", filled({4, 128}, 1)}}, {"y"})[0])[5] == 64; }

  std::string folder_;
};

/// What a child did that runs `work`: "right", "wrong", or how it ended.
template <typename Work>
std::string in_child(Work&& work) {
  const pid_t child = ::fork();
  if (child == 0) {
    ::alarm(kSecondsUntilItHangs);
    ::_exit(work() ? 0 : 1);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  if (WIFEXITED(status)) return WEXITSTATUS(status) == 0 ? "right" : "wrong";
  return WTERMSIG(status) == SIGALRM ? "hangs" : "ended by signal " + std::to_string(WTERMSIG(status));
}

TEST_F(ForkTest, children_use_and_free_sessions_while_other_threads_make_and_free_theirs) {
  std::unique_ptr<Session> held = load(kThreads);
  ASSERT_TRUE(is_right(*held));
  std::atomic<bool> stop{false};
  std::atomic<int> loads{0};
  const auto busy = [&] {
    while (!stop.load(std::memory_order_relaxed)) {
      const std::unique_ptr<Session> session = load(1);
      EXPECT_TRUE(is_right(*session));
      loads.fetch_add(1, std::memory_order_relaxed);
    }
  };
  std::thread first(busy), second(busy);
  std::map<std::string, int> ends;
  for (int i = 0; i < kForks; ++i) {
    ++ends[in_child([&] {
      if (i % 4 == 0) return true;
      if (i % 4 == 1) return is_right(*held);
      if (i % 4 == 2) held.reset();
      const std::unique_ptr<Session> own = load(kThreads);
      return is_right(*own);
    })];
  }
  stop = true;
  first.join();
  second.join();
  EXPECT_EQ(ends, (std::map<std::string, int>{{"right", kForks}}));
  EXPECT_GT(loads.load(), 0);
}

}  // namespace
}  // namespace rh::test

#endif
