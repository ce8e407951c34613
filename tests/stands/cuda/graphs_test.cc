// Streams, events, captures, graphs and pools behave as the driver's documentation has it.

#include <gtest/gtest.h>

#include <cstring>

#include "stands/cuda/client.h"

namespace rh::stand {
namespace {

// What a provider puts into device memory for a captured graph (kernels/right.cu).
struct Arguments {
  CUdeviceptr x, y;
  int count;
};

struct Captured {
  CUgraph graph = nullptr;
  CUgraphExec exec = nullptr;
};

Captured capture(Session& s, unsigned mode, const std::function<void()>& work) {
  Captured made;
  expect_result(0, s.driver.cuStreamBeginCapture_v2(s.stream, mode), "cuStreamBeginCapture");
  work();
  expect_result(0, s.driver.cuStreamEndCapture(s.stream, &made.graph), "cuStreamEndCapture");
  expect_result(0, s.driver.cuGraphInstantiateWithFlags(&made.exec, made.graph, 0), "cuGraphInstantiate");
  return made;
}

const Environment kWays[] = {{}, {{"RH_STAND_ORDER", "5"}, {"RH_STAND_DELAY_US", "300"}}, {{"RH_STAND_CHECKED", "1"}}};
bool is_checked(const Environment& environment) { return !environment.empty() && environment[0].first == "RH_STAND_CHECKED"; }

// The copy of the argument block is captured, its contents are those of the launch.
TEST(CudaStandGraphs, ReplayWithOtherArguments) {
  for (const auto& way : kWays) {
    const Image& image = image_of("right.cu", is_checked(way), "sm_80", "scale<float, 4>");
    Outcome outcome = in_child(way, [&](Driver& driver) {
      Session s(driver, image.bytes);
      void* pinned = nullptr;
      driver.cuMemHostAlloc(&pinned, sizeof(Arguments), 0);
      CUdeviceptr block = s.allocate(sizeof(Arguments));
      auto& arguments = *static_cast<Arguments*>(pinned);
      arguments = {};
      Captured made = capture(s, CU_STREAM_CAPTURE_MODE_GLOBAL, [&] {
        driver.cuMemcpyHtoDAsync_v2(block, pinned, sizeof(Arguments), s.stream);
        expect_result(0, s.launch_on(s.stream, "doubled", 1, 1, 64, 0, block), "the launch in the capture");
      });
      size_t nodes = 0;
      driver.cuGraphGetNodes(made.graph, nullptr, &nodes);
      require(nodes == 2, "two nodes");
      require(driver.live("kernels") == 0, "nothing ran in the capture");
      expect_result(0, driver.cuGraphDestroy(made.graph), "cuGraphDestroy");
      for (int turn = 1; turn <= 3; ++turn) {
        CUdeviceptr y = s.put(std::vector<float>(64, -1));
        arguments = {s.put(std::vector<float>(64, static_cast<float>(turn))), y, 10 * turn};
        expect_result(0, driver.cuGraphLaunch(made.exec, s.stream), "cuGraphLaunch");
        expect_result(0, driver.cuStreamSynchronize(s.stream), "the wait");
        auto values = s.get<float>(y, 64);
        require(values[0] == 2.0f * static_cast<float>(turn) && values[static_cast<size_t>(10 * turn - 1)] == values[0],
                "twice the number");
        require(values[static_cast<size_t>(10 * turn)] == -1, "no more than the count says");
      }
      expect_result(0, driver.cuGraphExecDestroy(made.exec), "cuGraphExecDestroy");
      say("replayed");
    });
    EXPECT_EQ(outcome.said, "replayed\n") << outcome.errors;
  }
}

// A fork by an event, and a join; with an order of nodes by seed a forgotten edge would give other numbers.
TEST(CudaStandGraphs, StreamsForkAndJoin) {
  for (const auto& way : kWays) {
    const Image& image = image_of("right.cu", is_checked(way), "sm_80", "scale<float, 4>");
    Outcome outcome = in_child(way, [&](Driver& driver) {
      Session s(driver, image.bytes);
      CUstream side = nullptr;
      CUevent fork = nullptr, join = nullptr;
      driver.cuStreamCreate(&side, CU_STREAM_NON_BLOCKING);
      driver.cuEventCreate(&fork, CU_EVENT_DISABLE_TIMING);
      driver.cuEventCreate(&join, CU_EVENT_DISABLE_TIMING);
      int n = 64;
      CUdeviceptr x = s.put(std::vector<float>(64, 1)), a = s.allocate(256), b = s.allocate(256), c = s.allocate(256);
      Captured made = capture(s, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL, [&] {
        s.launch_on(s.stream, "add", 1, 1, 64, 0, x, x, a, n);  // 2
        driver.cuEventRecord(fork, s.stream);
        driver.cuStreamWaitEvent(side, fork, 0);
        s.launch_on(side, "add", 1, 1, 64, 0, a, a, b, n);      // 4
        s.launch_on(s.stream, "add", 1, 1, 64, 0, a, x, c, n);  // 3
        driver.cuEventRecord(join, side);
        driver.cuStreamWaitEvent(s.stream, join, 0);
        s.launch_on(s.stream, "add", 1, 1, 64, 0, b, c, c, n);  // 7
        expect_result(CUDA_ERROR_CAPTURED_EVENT, 907, "the number of the error");
      });
      for (int i = 0; i < 3; ++i) driver.cuGraphLaunch(made.exec, s.stream);
      expect_result(0, driver.cuStreamSynchronize(s.stream), "the wait");
      require(s.get<float>(c, 64) == std::vector<float>(64, 7), "seven");
      say("joined");
    });
    EXPECT_EQ(outcome.said, "joined\n") << outcome.errors;
  }
}

// Checked graphs know which nodes are ordered: a fork without a join in between is a race.
TEST(CudaStandGraphs, NodesThatNothingOrdersRace) {
  const Image& image = image_of("right.cu", true, "sm_80", "scale<float, 4>");
  Outcome outcome = in_child({{"RH_STAND_CHECKED", "1"}}, [&](Driver& driver) {
    Session s(driver, image.bytes);
    CUstream side = nullptr;
    CUevent fork = nullptr, join = nullptr;
    driver.cuStreamCreate(&side, CU_STREAM_NON_BLOCKING);
    driver.cuEventCreate(&fork, CU_EVENT_DISABLE_TIMING);
    driver.cuEventCreate(&join, CU_EVENT_DISABLE_TIMING);
    int n = 64;
    CUdeviceptr x = s.put(std::vector<float>(64, 1)), a = s.put(std::vector<float>(64, 1)), b = s.allocate(256);
    Captured made = capture(s, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL, [&] {
      driver.cuEventRecord(fork, s.stream);
      driver.cuStreamWaitEvent(side, fork, 0);
      s.launch_on(s.stream, "add", 1, 1, 64, 0, x, x, a, n);
      s.launch_on(side, "add", 1, 1, 64, 0, a, a, b, n);
      driver.cuEventRecord(join, side);
      driver.cuStreamWaitEvent(s.stream, join, 0);
    });
    driver.cuGraphLaunch(made.exec, s.stream);
    expect_result(719, driver.cuStreamSynchronize(s.stream), "the wait");
    say(driver.message());
  });
  EXPECT_NE(outcome.said.find("race: "), std::string::npos) << outcome.said << outcome.errors;
}

struct CaptureRule {
  const char* name;
  std::function<CUresult(Session&)> call;
  CUresult error;      // of the call
  CUresult end_error;  // of the end of the capture
};

TEST(CudaStandGraphs, WhatACaptureForbids) {
  const CaptureRule rules[] = {
      {"an allocation",
       [](Session& s) {
         CUdeviceptr p = 0;
         return s.driver.cuMemAlloc_v2(&p, 64);
       },
       900, 901},
      {"a wait for the stream", [](Session& s) { return s.driver.cuStreamSynchronize(s.stream); }, 900, 901},
      {"a query of the stream", [](Session& s) { return s.driver.cuStreamQuery(s.stream); }, 900, 901},
      {"a wait for everything", [](Session& s) { return s.driver.cuCtxSynchronize(); }, 900, 901},
      {"a copy from memory that is not pinned",
       [](Session& s) {
         static CUdeviceptr p = s.allocate(64);
         static char host[64];
         return s.driver.cuMemcpyHtoDAsync_v2(p, host, 64, s.stream);
       },
       900, 901},
      {"the capture again", [](Session& s) { return s.driver.cuStreamBeginCapture_v2(s.stream, 0); }, 401, 0},
      {"nothing", [](Session&) { return 0; }, 0, 0},
      {"a stream that never joins",
       [](Session& s) {
         CUevent e = nullptr;
         CUstream side = nullptr;
         s.driver.cuEventCreate(&e, 0);
         s.driver.cuStreamCreate(&side, CU_STREAM_NON_BLOCKING);
         s.driver.cuEventRecord(e, s.stream);
         s.driver.cuStreamWaitEvent(side, e, 0);
         return s.driver.cuLaunchHostFunc(side, [](void*) {}, nullptr);
       },
       0, 904},
      {"a query of an event of the capture",
       [](Session& s) {
         CUevent e = nullptr;
         s.driver.cuEventCreate(&e, 0);
         s.driver.cuEventRecord(e, s.stream);
         return s.driver.cuEventQuery(e);
       },
       907, 901},
      {"an event of before",
       [](Session& s) {
         CUevent e = nullptr;
         CUstream side = nullptr;
         s.driver.cuEventCreate(&e, 0);
         s.driver.cuStreamCreate(&side, CU_STREAM_NON_BLOCKING);
         s.driver.cuEventRecord(e, side);
         return s.driver.cuStreamWaitEvent(s.stream, e, 0);
       },
       905, 901},
  };
  for (const auto& rule : rules) {
    SCOPED_TRACE(rule.name);
    Outcome outcome = in_child({}, [&](Driver& driver) {
      Session s(driver, "");
      if (std::string(rule.name).starts_with("a copy")) rule.call(s);  // allocates before the capture
      expect_result(0, driver.cuStreamBeginCapture_v2(s.stream, CU_STREAM_CAPTURE_MODE_GLOBAL), "the begin");
      expect_result(rule.error, rule.call(s), "the call");
      CUgraph graph = nullptr;
      expect_result(rule.end_error, driver.cuStreamEndCapture(s.stream, &graph), "the end");
      require((graph == nullptr) == (rule.end_error != 0), "a graph only of a capture that is valid");
      unsigned status = 9;
      driver.cuStreamIsCapturing(s.stream, &status);
      require(status == CU_STREAM_CAPTURE_STATUS_NONE, "the capture has ended");
      expect_result(0, driver.cuStreamSynchronize(s.stream), "a wait after it");
      say("as documented");
    });
    EXPECT_EQ(outcome.said, "as documented\n") << outcome.errors;
  }
}

TEST(CudaStandStreams, EventsTellTimeAndOrder) {
  Outcome outcome = in_child({{"RH_STAND_DELAY_US", "4000"}}, [&](Driver& driver) {
    Session s(driver, "");
    CUevent first = nullptr, last = nullptr, timeless = nullptr;
    driver.cuEventCreate(&first, 0);
    driver.cuEventCreate(&last, 0);
    driver.cuEventCreate(&timeless, CU_EVENT_DISABLE_TIMING);
    CUdeviceptr p = s.allocate(64);
    driver.cuEventRecord(first, s.stream);
    driver.cuMemsetD32Async(p, 7, 16, s.stream);
    driver.cuEventRecord(last, s.stream);
    driver.cuEventRecord(timeless, s.stream);
    expect_result(600, driver.cuEventQuery(last), "a query too early");
    expect_result(600, driver.cuStreamQuery(s.stream), "a query of the stream too early");
    float ms = 0;
    expect_result(600, driver.cuEventElapsedTime(&ms, first, last), "the time too early");
    expect_result(0, driver.cuEventSynchronize(timeless), "the wait");
    expect_result(0, driver.cuEventElapsedTime(&ms, first, last), "the time");
    require(ms >= 8 && ms < 5000, "two pieces of work late by 4 ms each: " + std::to_string(ms));
    expect_result(400, driver.cuEventElapsedTime(&ms, first, timeless), "the time of an event without");
    require(s.get<int>(p, 16) == std::vector<int>(16, 7), "the memset");
    say("in order");
  });
  EXPECT_EQ(outcome.said, "in order\n") << outcome.errors;
}

// Pinned memory is read when the copy runs, other memory before the call returns; a copy to other memory has ended by then.
TEST(CudaStandStreams, CopiesOfHostMemory) {
  Outcome outcome = in_child({{"RH_STAND_DELAY_US", "3000"}}, [&](Driver& driver) {
    Session s(driver, "");
    void* pinned = nullptr;
    driver.cuMemHostAlloc(&pinned, 64, 0);
    char* page = static_cast<char*>(pinned);
    char pageable[64], back[64];
    CUdeviceptr p = s.allocate(64), q = s.allocate(64);
    std::memset(page, 1, 64);
    std::memset(pageable, 1, 64);
    driver.cuMemcpyHtoDAsync_v2(p, page, 64, s.stream);
    driver.cuMemcpyHtoDAsync_v2(q, pageable, 64, s.stream);
    std::memset(page, 2, 64);
    std::memset(pageable, 2, 64);
    driver.cuMemcpyDtoHAsync_v2(back, q, 64, s.stream);
    require(back[63] == 1, "other memory as it was at the call");
    driver.cuMemcpyDtoHAsync_v2(page, p, 64, s.stream);
    page[0] = 9;  // the copy is still to come
    driver.cuStreamSynchronize(s.stream);
    require(page[0] == 2, "pinned memory as it was when the copy ran");
    say("copied");
  });
  EXPECT_EQ(outcome.said, "copied\n") << outcome.errors;
}

TEST(CudaStandStreams, PoolsCountTheirBlocks) {
  Outcome outcome = in_child({}, [&](Driver& driver) {
    Session s(driver, "");
    CUmemoryPool pool = nullptr;
    CUdeviceptr a = 0, b = 0;
    uint64_t used = 0, high = 0;
    expect_result(0, driver.cuDeviceGetDefaultMemPool(&pool, 0), "cuDeviceGetDefaultMemPool");
    expect_result(0, driver.cuMemAllocAsync(&a, 1000, s.stream), "cuMemAllocAsync");
    expect_result(0, driver.cuMemAllocAsync(&b, 500, s.stream), "cuMemAllocAsync");
    expect_result(0, driver.cuMemsetD8Async(a, 1, 1000, s.stream), "cuMemsetD8Async");
    expect_result(0, driver.cuMemFreeAsync(a, s.stream), "cuMemFreeAsync");
    expect_result(0, driver.cuStreamSynchronize(s.stream), "the wait");
    driver.cuMemPoolGetAttribute(pool, CU_MEMPOOL_ATTR_USED_MEM_CURRENT, &used);
    driver.cuMemPoolGetAttribute(pool, CU_MEMPOOL_ATTR_USED_MEM_HIGH, &high);
    require(used == 500 && high == 1500, "500 bytes of 1500");
    require(driver.live("memory") == 1, "one block is alive");
    say("counted");
  });
  EXPECT_EQ(outcome.said, "counted\n") << outcome.errors;
}

}  // namespace
}  // namespace rh::stand
