// Threads of sessions: sharing, settings, and what they cost when nothing runs.
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <future>
#include <string>
#include <thread>

#include "session/async_queue.h"
#include "session/run_helpers.h"

namespace rh::test {
namespace {

constexpr char kModel[] = "<opset_import: [\"\" : 17]>\nmain (float[n] x) => (float[n] y) { y = Erf (x) }";

#ifdef __linux__
int thread_count() {
  int count = 0;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/task")) count += entry.is_directory();
  return count;
}

/// Whether every thread but this one waits for the system, rather than running, or being ready to where others run.
bool others_sleep() {
  const std::string self = std::to_string(gettid());
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/task")) {
    if (entry.path().filename() == self) continue;
    std::string line;
    std::getline(std::ifstream(entry.path() / "stat"), line);
    const size_t name_end = line.rfind(')');  // "id (name) state ..."; nothing of a thread that has ended
    if (name_end != std::string::npos && line.compare(name_end, 3, ") R") == 0) return false;
  }
  return true;
}

TEST(Threads, SixteenSessionsShareOnePool) {
  const Value x = filled({300'000}, 0.5f);
  auto first = make_session(kModel);
  run(*first, {{"x", x}}, {"y"});
  const int before = thread_count();
  std::vector<std::unique_ptr<Session>> sessions;
  for (int i = 0; i < 16; ++i) {
    run(*sessions.emplace_back(make_session(kModel)), {{"x", x}}, {"y"});
  }
  EXPECT_EQ(thread_count(), before);
}

TEST(Threads, NobodySpinsWhenNothingRuns) {
  SessionOptions own;
  own.intra_op_threads = 4;
  auto shared_threads = make_session(kModel), own_threads = make_session(kModel, own);
  const Value x = filled({300'000}, 0.5f);
  run(*shared_threads, {{"x", x}}, {"y"});
  run(*own_threads, {{"x", x}}, {"y"});
  int asleep = 0;  // times one after the other
  const auto give_up = std::chrono::steady_clock::now() + std::chrono::minutes(1);
  while (asleep < 20 && std::chrono::steady_clock::now() < give_up) {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    asleep = others_sleep() ? asleep + 1 : 0;
  }
  EXPECT_EQ(asleep, 20) << "a thread spins";
}
#endif

TEST(Threads, AffinitiesMustSuitTheNumberOfThreads) {
  const auto make = [](int threads, const char* affinities) {
    SessionOptions options;
    options.intra_op_threads = threads;
    options.config["session.intra_op_thread_affinities"] = affinities;
    return make_session(kModel, options);
  };
  EXPECT_EQ(make(3, "1;2")->threads(), 3);
  EXPECT_EQ(make(0, "1;1;1")->threads(), 4);
  EXPECT_THROW(make(3, "1"), Error);
  EXPECT_THROW(make(2, "first"), Error);
  EXPECT_THROW(make(2, "0"), Error);
  const Value x = filled({300'000}, 0.5f);
  run(*make(2, "4000"), {{"x", x}}, {"y"});  // a processor that is not here binds nothing
}

TEST(Threads, TheBaseOfDynamicBlocksIsANumber) {
  const Value x = filled({300'000}, 0.5f);
  SessionOptions options;
  const auto expected = elements(run(*make_session(kModel), {{"x", x}}, {"y"})[0]);
  options.config["session.dynamic_block_base"] = "4";
  EXPECT_EQ(elements(run(*make_session(kModel, options), {{"x", x}}, {"y"})[0]), expected);
  for (const char* wrong : {"-1", "many", "1.5"}) {
    options.config["session.dynamic_block_base"] = wrong;
    EXPECT_THROW(make_session(kModel, options), Error) << wrong;
  }
}

TEST(AsyncQueue, RunsAllAndNoMoreAtOnceThanAllowed) {
  for (const int most : {1, 3}) {
    std::atomic<int> running{0}, highest{0}, done{0};
    {
      AsyncQueue queue(most, {});
      for (int i = 0; i < 200; ++i) {
        queue.add(
            [&] {
              const int inside = ++running;
              for (int seen = highest; seen < inside && !highest.compare_exchange_weak(seen, inside);) {
              }
              std::this_thread::yield();
              --running;
            },
            [&] { ++done; });
      }
    }
    EXPECT_EQ(done, 200);
    EXPECT_LE(highest, most);
  }
}

TEST(AsyncQueue, WhatWaitsInACallbackHoldsNothingUp) {
  std::promise<void> second_ran;
  std::atomic<bool> first_saw_it{false};
  AsyncQueue queue(1, {});
  std::promise<void> first_ended;
  queue.add([] {},
            [&] {
              first_saw_it = second_ran.get_future().wait_for(std::chrono::seconds(60)) == std::future_status::ready;
              first_ended.set_value();
            });
  queue.add([&] { second_ran.set_value(); }, [] {});
  first_ended.get_future().wait();
  EXPECT_TRUE(first_saw_it);
}

TEST(AsyncQueue, MayBeDestroyedInACallback) {
  for (int round = 0; round < 20; ++round) {
    auto* queue = new AsyncQueue(2, {});
    std::atomic<int> others{0};
    std::promise<int> destroyed;
    for (int i = 0; i < 5; ++i) queue->add([] {}, [&] { ++others; });
    queue->add([] {},
               [&] {
                 delete queue;
                 destroyed.set_value(others);
               });
    EXPECT_EQ(destroyed.get_future().get(), 5);
  }
}

TEST(AsyncQueue, UsesTheFunctionsThatMakeThreads) {
  std::atomic<int> created{0}, joined{0}, done{0};
  const ThreadFunctions functions{[&](void (*work)(void*), void* parameter) -> const void* {
                                    ++created;
                                    return new std::thread(work, parameter);
                                  },
                                  [&](const void* handle) {
                                    auto* thread = static_cast<std::thread*>(const_cast<void*>(handle));
                                    thread->join();
                                    delete thread;
                                    ++joined;
                                  }};
  {
    AsyncQueue queue(2, functions);
    for (int i = 0; i < 10; ++i) queue.add([] {}, [&] { ++done; });
  }
  EXPECT_EQ(done, 10);
  EXPECT_GT(created, 0);
  EXPECT_EQ(created, joined);
  AsyncQueue none(2, {[](void (*)(void*), void*) -> const void* { return nullptr; }, [](const void*) {}});
  EXPECT_THROW(none.add([] {}, [] {}), Error);
}

}  // namespace
}  // namespace rh::test
