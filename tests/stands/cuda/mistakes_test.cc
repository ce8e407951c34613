// Each of the usual mistakes is found, and said in a sentence.

#include <gtest/gtest.h>
#include <signal.h>

#include <cmath>

#include "stands/cuda/client.h"

namespace rh::stand {
namespace {

struct Mistake {
  const char* kernel;
  bool checked;
  unsigned blocks, threads, dynamic_shared;
  int number;
  CUresult error;
  const char* sentence;  // a part of it
};

const Mistake kMistakes[] = {
    {"no_barrier", true, 1, 256, 0, 0, 719, "used since the last barrier, at broken.cu:"},
    {"no_warp_barrier", true, 1, 256, 0, 0, 719, "race: "},
    {"blocks_race", true, 4, 64, 0, 0, 719, "race: write of what thread 0 of another block of the launch used"},
    {"out_of_bounds", false, 1, 256, 0, 1024, 700, "no allocation at device address"},
    {"far_out_of_bounds", false, 1, 32, 0, 1, 700, "no allocation at device address"},
    {"out_of_bounds", true, 1, 256, 0, 1020, 700, "write outside of every allocation at broken.cu:"},
    {"beyond_shared", true, 1, 64, 128, 0, 700, "write beyond the 128 bytes of dynamic shared memory"},
    {"divergent", true, 1, 128, 0, 0, 719, "threads of a block wait at different __syncthreads"},
    {"missing_lane", false, 1, 128, 0, 0, 719, "deadlock: 64 threads wait at a barrier, 64 for lanes of their warp that never come"},
    {"wrong_mask", false, 1, 32, 0, 0, 719, "a lane calls a warp function with a mask that does not name it"},
    {"reads_unset", true, 1, 256, 0, 0, 719, "read of device memory that nothing has set"},
    {"reads_unset_shared", true, 1, 256, 0, 0, 719, "read of shared memory that nothing has set"},
    {"no_wait_for_copy", true, 1, 64, 0, 0, 719, "read of shared memory that nothing has set"},
    {"endless_stack", false, 1, 1, 0, 0, 700, "no room left on the stack of a thread"},
    {"small_blocks", false, 1, 256, 0, 0, 701, ""},
};

TEST(CudaStandMistakes, KernelsWithMistakesFail) {
  for (const auto& m : kMistakes) {
    SCOPED_TRACE(std::string(m.kernel) + (m.checked ? ", checked" : ""));
    const Image& image = image_of("broken.cu", m.checked);
    Outcome outcome = in_child({{"RH_STAND_CHECKED", m.checked ? "1" : "0"}}, [&](Driver& driver) {
      Session s(driver, image.bytes);
      CUdeviceptr x = s.allocate(4096), y = s.allocate(4096);
      std::vector<float> set(256, 1);
      expect_result(0, driver.cuMemcpyHtoD_v2(x, set.data(), 1024), "cuMemcpyHtoD");
      CUresult result = s.run(m.kernel, m.blocks, 1, m.threads, m.dynamic_shared, x, y, m.number);
      expect_result(m.error, result, "the wait");
      // A kernel that failed fails what comes after it; a launch that was refused does not.
      expect_result(m.error == 701 ? 0 : m.error, driver.cuCtxSynchronize(), "the next call");
      say(driver.message());
    });
    EXPECT_FALSE(outcome.failed) << outcome.errors;
    EXPECT_NE(outcome.said.find(m.sentence), std::string::npos) << outcome.said;
    if (m.error != 701) {
      EXPECT_NE(outcome.said.find(std::string("kernel ") + m.kernel), std::string::npos) << outcome.said;
    }
  }
}

TEST(CudaStandMistakes, UnsetMemoryIsNaN) {
  const Image& image = image_of("broken.cu", false);
  Outcome outcome = in_child({}, [&](Driver& driver) {
    Session s(driver, image.bytes);
    CUdeviceptr x = s.allocate(4096), y = s.allocate(4096);
    expect_result(0, s.run("reads_unset", 1, 1, 256, 0, x, y, 0), "reads_unset");
    for (float v : s.get<float>(y, 256)) require(std::isnan(v), "what was never set is NaN");
    expect_result(0, s.run("no_wait_for_copy", 1, 1, 64, 0, s.put(std::vector<float>(256, 1)), y, 0), "no_wait_for_copy");
    for (float v : s.get<float>(y, 64)) require(std::isnan(v), "what the copy has not brought yet is NaN");
    say("NaN");
  });
  EXPECT_EQ(outcome.said, "NaN\n") << outcome.errors;
}

TEST(CudaStandMistakes, HostAddressesAreNotTheDevices) {
  for (bool checked : {false, true}) {
    const Image& image = image_of("broken.cu", checked);
    Outcome outcome = in_child({{"RH_STAND_CHECKED", checked ? "1" : "0"}}, [&](Driver& driver) {
      Session s(driver, image.bytes);
      std::vector<float> host(256, 1);
      CUdeviceptr y = s.allocate(4096), address = reinterpret_cast<CUdeviceptr>(host.data());
      expect_result(700, checked ? s.run("reads_host", 1, 1, 32, 0, address, y, 0) : s.run("no_barrier", 1, 1, 32, 0, address, y, 0),
                    "the launch");
      say(driver.message());
    });
    EXPECT_NE(outcome.said.find(checked ? "kernel reads_host: read of host memory 0x" : "kernel no_barrier: parameter 0 is a host address"),
              std::string::npos)
        << outcome.said << outcome.errors;
  }
}

TEST(CudaStandMistakes, FreedMemoryIsGone) {
  const Image& image = image_of("broken.cu", false);
  Outcome outcome = in_child({}, [&](Driver& driver) {
    Session s(driver, image.bytes);
    CUdeviceptr x = s.put(std::vector<float>(1024, 1)), y = s.allocate(4096);
    expect_result(0, driver.cuMemFree_v2(x), "cuMemFree");
    expect_result(1, driver.cuMemFree_v2(x), "cuMemFree again");
    expect_result(1, driver.cuMemcpyDtoDAsync_v2(y, x, 4096, s.stream), "a copy of freed memory");
    expect_result(700, s.run("reads_unset", 1, 1, 256, 0, x, y, 0), "a kernel on freed memory");
    say(driver.message());
  });
  EXPECT_NE(outcome.said.find("no allocation at device address"), std::string::npos) << outcome.said << outcome.errors;
}

// The copy comes when the stream does: by then the memory is gone.
TEST(CudaStandMistakes, MemoryFreedBeforeACopyRan) {
  Outcome outcome = in_child({{"RH_STAND_DELAY_US", "20000"}}, [&](Driver& driver) {
    Session s(driver, "");
    CUstream other = nullptr;
    driver.cuStreamCreate(&other, CU_STREAM_NON_BLOCKING);
    CUdeviceptr x = 0, y = s.allocate(4096);
    expect_result(0, driver.cuMemAllocAsync(&x, 4096, s.stream), "cuMemAllocAsync");
    expect_result(0, driver.cuMemFreeAsync(x, other), "cuMemFreeAsync in a stream that nothing orders");
    expect_result(0, driver.cuMemsetD8Async(y, 0, 4096, s.stream), "cuMemsetD8Async");
    expect_result(0, driver.cuMemcpyDtoDAsync_v2(y, x, 4096, s.stream), "cuMemcpyDtoDAsync");
    expect_result(700, driver.cuStreamSynchronize(s.stream), "the wait");
    say(driver.message());
  });
  EXPECT_EQ(outcome.said, "a copy reads device memory that was freed before it ran\n") << outcome.errors;
}

TEST(CudaStandMistakes, TheHostCannotTouchDeviceMemory) {
  for (const char* protection : {"keys", "pages"}) {
    SCOPED_TRACE(protection);
    Outcome outcome = in_child({{"RH_STAND_PROTECTION", protection}}, [&](Driver& driver) {
      Session s(driver, "");
      CUdeviceptr x = s.put(std::vector<float>(16, 1));
      say("read " + std::to_string(*reinterpret_cast<volatile float*>(x)));
    });
    EXPECT_EQ(outcome.signal, SIGSEGV);
    EXPECT_EQ(outcome.said, "");
    EXPECT_EQ(outcome.errors, "stand: the host touches device memory, which no copy has brought to it\n");
  }
}

// Two streams with no event between: NaN where work comes late, a sentence where it is checked.
TEST(CudaStandMistakes, AForgottenWaitIsFound) {
  for (bool checked : {false, true})
    for (bool waits : {false, true}) {
      SCOPED_TRACE((checked ? "checked" : "plain") + std::string(waits ? ", waits" : ", forgets"));
      const Image& image = image_of("right.cu", checked, "sm_80", "scale<float, 4>");
      Environment environment = {{"RH_STAND_DELAY_US", "3000"}, {"RH_STAND_CHECKED", checked ? "1" : "0"}};
      Outcome outcome = in_child(environment, [&](Driver& driver) {
        Session s(driver, image.bytes);
        CUstream other = nullptr;
        CUevent copied = nullptr;
        void* host = nullptr;
        int n = 256;
        driver.cuStreamCreate(&other, CU_STREAM_NON_BLOCKING);
        driver.cuEventCreate(&copied, CU_EVENT_DISABLE_TIMING);
        driver.cuMemHostAlloc(&host, 1024, 0);
        for (int i = 0; i < n; ++i) static_cast<float*>(host)[i] = static_cast<float>(i);
        CUdeviceptr x = s.allocate(1024), y = s.allocate(1024), z = s.allocate(1024);
        for (int i = 0; i < 3; ++i) driver.cuMemsetD8Async(z, 0, 1024, s.stream);  // the copy comes late
        driver.cuMemcpyHtoDAsync_v2(x, host, 1024, s.stream);
        driver.cuEventRecord(copied, s.stream);
        if (waits) driver.cuStreamWaitEvent(other, copied, 0);
        expect_result(0, s.launch_on(other, "add", 1, 1, 256, 0, x, x, y, n), "the launch");
        CUresult result = driver.cuStreamSynchronize(other);
        driver.cuStreamSynchronize(s.stream);
        say(result ? driver.message() : std::isnan(s.get<float>(y, 1)[0]) ? "NaN" : "right");
      });
      const char* expected = waits ? "right" : checked ? "memory that nothing has set" : "NaN";
      EXPECT_NE(outcome.said.find(expected), std::string::npos) << outcome.said << outcome.errors;
    }
}

// The same where the memory had been set before: only the checks can tell.
TEST(CudaStandMistakes, AForgottenWaitOnMemoryThatWasSet) {
  const Image& image = image_of("right.cu", true, "sm_80", "scale<float, 4>");
  Outcome outcome = in_child({{"RH_STAND_CHECKED", "1"}}, [&](Driver& driver) {
    Session s(driver, image.bytes);
    CUstream other = nullptr;
    driver.cuStreamCreate(&other, CU_STREAM_NON_BLOCKING);
    CUdeviceptr x = s.put(std::vector<float>(256, 1)), y = s.allocate(1024);
    int n = 256;
    driver.cuMemsetD8Async(x, 0, 1024, other);
    expect_result(0, s.launch_on(s.stream, "add", 1, 1, 256, 0, x, x, y, n), "the launch");
    say(driver.cuStreamSynchronize(s.stream) == 719 || driver.cuStreamSynchronize(other) == 719 ? driver.message() : "nothing found");
  });
  EXPECT_NE(outcome.said.find("of another stream"), std::string::npos) << outcome.said << outcome.errors;
}

}  // namespace
}  // namespace rh::stand
