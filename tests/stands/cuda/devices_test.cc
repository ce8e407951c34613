// Which devices there are, what images they take, and calls that fail on purpose.

#include <gtest/gtest.h>

#include <cstring>
#include <fstream>
#include <map>

#include "stands/cuda/client.h"

namespace rh::stand {
namespace {

struct Visible {
  const char* devices;
  const char* list;   // CUDA_VISIBLE_DEVICES; null: not set
  const char* buses;  // of the devices that are seen
};

TEST(CudaStandDevices, TheListOfVisibleDevices) {
  const Visible rows[] = {
      {"1", nullptr, "65 "}, {"3", nullptr, "65 66 67 "}, {"3", "2,0", "67 65 "}, {"3", "1", "66 "},  {"3", "0,7,1", "65 "},
      {"3", "", "none"},     {"2", "-1", "none"},         {"2", "GPU-", "65 "},   {"2", "x", "none"},
  };
  for (const auto& row : rows) {
    SCOPED_TRACE(std::string(row.devices) + " devices, list " + (row.list ? row.list : "not set"));
    Environment environment = {{"RH_STAND_DEVICES", row.devices}};
    if (row.list) environment.emplace_back("CUDA_VISIBLE_DEVICES", row.list);
    Outcome outcome = in_child(environment, [&](Driver& driver) {
      if (CUresult result = driver.cuInit(0)) {
        expect_result(CUDA_ERROR_NO_DEVICE, result, "cuInit");
        return say("none");
      }
      int count = 0;
      std::string buses;
      driver.cuDeviceGetCount(&count);
      for (int i = 0; i < count; ++i) {
        char text[32];
        CUdevice device = 0, again = -1;
        driver.cuDeviceGet(&device, i);
        driver.cuDeviceGetPCIBusId(text, sizeof text, device);
        driver.cuDeviceGetByPCIBusId(&again, text);
        require(again == device, "the device of its bus");
        buses += std::string(text + 5, 2) + " ";
      }
      say(buses);
    });
    EXPECT_EQ(outcome.said, std::string(row.buses) + "\n") << outcome.errors;
  }
}

TEST(CudaStandDevices, TheyHaveMemoryOfTheirOwn) {
  const Image& image = image_of("right.cu", false, "sm_80", "scale<float, 4>");
  Outcome outcome = in_child({{"RH_STAND_DEVICES", "2"}, {"RH_STAND_MEMORY_MB", "1"}}, [&](Driver& driver) {
    Session s(driver, image.bytes);
    CUdeviceptr here = s.put(std::vector<float>(64, 1)), there = 0, large = 0;
    size_t free = 0, total = 0;
    driver.cuMemGetInfo_v2(&free, &total);
    require(total == 1 << 20 && free == total - 256, "a megabyte but for what was allocated");
    expect_result(CUDA_ERROR_OUT_OF_MEMORY, driver.cuMemAlloc_v2(&large, total), "more than there is");
    CUcontext second = nullptr;
    driver.cuDevicePrimaryCtxRetain(&second, 1);
    driver.cuCtxSetCurrent(second);
    there = s.allocate(256);
    int ordinal = -1, n = 64;
    driver.cuPointerGetAttribute(&ordinal, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, there);
    require(ordinal == 1, "the second device's address");
    expect_result(700, s.launch_on(s.stream, "add", 1, 1, 64, 0, here, here, there, n), "a launch with another device's address");
    say(driver.message());
    // The error is the first device's alone.
    CUdeviceptr more = 0;
    expect_result(0, driver.cuMemAlloc_v2(&more, 64), "an allocation on the second device");
    driver.cuCtxSetCurrent(s.context);
    expect_result(700, driver.cuMemAlloc_v2(&more, 64), "an allocation on the first device");
  });
  EXPECT_NE(outcome.said.find("parameter 2 is an address of another device"), std::string::npos) << outcome.said << outcome.errors;
  EXPECT_FALSE(outcome.failed) << outcome.errors;
}

struct Loading {
  const char *architecture, *capability, *driver_version;
  CUresult result;
};

TEST(CudaStandDevices, ImagesFitOrTheErrorSaysWhy) {
  const Loading rows[] = {
      {"sm_80", "80", "13050", 0},        {"sm_80", "86", "13050", 0},        {"sm_86", "80", "13050", 209},
      {"sm_80", "90", "13050", 209},      {"sm_80", "80", "13000", 0},        {"compute_80", "90", "13050", 0},
      {"compute_90", "80", "13050", 218}, {"compute_80", "80", "12080", 222}, {"sm_80", "80", "12080", 200},
  };
  const std::string text = "extern \"C\" __global__ void k(int* x) { x[0] = __CUDA_ARCH__; }\n";
  for (const auto& row : rows) {
    SCOPED_TRACE(std::string(row.architecture) + " on " + row.capability + ", driver " + row.driver_version);
    static std::map<std::string, Image> images;
    auto& image = images[row.architecture];
    if (image.bytes.empty()) image = compile_text(text, {std::string("--gpu-architecture=") + row.architecture});
    ASSERT_EQ(image.result, 0) << image.log;
    Outcome outcome =
        in_child({{"RH_STAND_COMPUTE_CAPABILITY", row.capability}, {"RH_STAND_DRIVER_VERSION", row.driver_version}}, [&](Driver& driver) {
          Session s(driver, "");
          int major = 0;
          driver.cuDeviceGetAttribute(&major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, 0);
          require(major == std::stoi(row.capability) / 10, "the major number");
          say(std::to_string(driver.cuModuleLoadData(&s.module, image.bytes.data())));
        });
    EXPECT_EQ(outcome.said, std::to_string(row.result) + "\n") << outcome.errors;
  }
}

struct Failing {
  const char* function;
  long nth;
  CUresult error;
  const char* result;  // of: two allocations, a memset, a copy back, a wait
};

std::string results_of_a_few_calls(Session& s) {
  CUdeviceptr a = 0, b = 0;
  char host[64];
  std::string results;
  auto add = [&](CUresult result) { results += std::to_string(result) + " "; };
  add(s.driver.cuMemAlloc_v2(&a, 64));
  add(s.driver.cuMemAlloc_v2(&b, 64));
  add(s.driver.cuMemsetD8Async(a, 1, 64, s.stream));
  add(s.driver.cuMemcpyDtoH_v2(host, a, 64));
  add(s.driver.cuStreamSynchronize(s.stream));
  return results;
}

TEST(CudaStandFailures, ComeAtTheCallThatWasNamed) {
  const Failing rows[] = {
      {"cuMemAlloc_v2", 1, 2, "2 0 1 1 0 "}, {"cuMemAlloc_v2", 2, 2, "0 2 0 0 0 "},           {"cuMemsetD8Async", 1, 1, "0 0 1 0 0 "},
      {"any", 4, 719, "0 0 0 719 719 "},     {"cuStreamSynchronize", 1, 700, "0 0 0 0 700 "}, {"cuMemAlloc_v2", 3, 2, "0 0 0 0 0 "},
  };
  for (const auto& row : rows)
    for (bool by_environment : {false, true}) {
      if (by_environment && std::string(row.function) == "any") continue;  // the calls of the session count too
      SCOPED_TRACE(std::string(row.function) + "@" + std::to_string(row.nth) + (by_environment ? " by the environment" : ""));
      Environment environment;
      if (by_environment)
        environment.emplace_back("RH_STAND_FAIL",
                                 std::string(row.function) + "@" + std::to_string(row.nth) + "=" + std::to_string(row.error));
      Outcome outcome = in_child(environment, [&](Driver& driver) {
        Session s(driver, "");
        if (!by_environment) driver.fail(row.function, row.nth, row.error);
        say(results_of_a_few_calls(s));
        bool sticks = row.error == 700 || row.error == 719;
        expect_result(sticks ? row.error : 0, driver.cuCtxSynchronize(), "the call after all");
        driver.cuDevicePrimaryCtxReset_v2(0);
        driver.clear();
        require(driver.calls("cuMemAlloc_v2") == 0, "the counts are clear");
        say(results_of_a_few_calls(s).substr(0, 4));
        require(driver.calls("cuMemAlloc_v2") == 2, "two allocations");
      });
      EXPECT_EQ(outcome.said, std::string(row.result) + "\n0 0 \n") << outcome.errors;
    }
}

TEST(CudaStandFailures, CountsAreWrittenAtTheEnd) {
  const std::string path = testing::TempDir() + "cuda_stand_counts.txt";
  std::remove(path.c_str());
  Outcome outcome = in_child({{"RH_STAND_COUNTS", path}}, [&](Driver& driver) {
    Session s(driver, "");
    s.allocate(64);
    std::exit(0);
  });
  std::ifstream file(path);
  std::string line, all;
  while (std::getline(file, line)) all += line + ";";
  EXPECT_NE(all.find("cuMemAlloc_v2 1;"), std::string::npos) << all << outcome.errors;
  EXPECT_NE(all.find("cuStreamCreate 1;"), std::string::npos) << all;
}

TEST(CudaStandDevices, HandlesAreChecked) {
  Outcome outcome = in_child({}, [&](Driver& driver) {
    CUdeviceptr p = 0;
    CUstream stream = nullptr;
    expect_result(CUDA_ERROR_NOT_INITIALIZED, driver.cuMemAlloc_v2(&p, 64), "before cuInit");
    driver.cuInit(0);
    expect_result(CUDA_ERROR_INVALID_CONTEXT, driver.cuMemAlloc_v2(&p, 64), "before a context");
    Session s(driver, "");
    driver.cuStreamCreate(&stream, 1);
    require(driver.live("stream") == 2, "two streams");
    expect_result(0, driver.cuStreamDestroy_v2(stream), "the end of a stream");
    expect_result(CUDA_ERROR_INVALID_HANDLE, driver.cuStreamDestroy_v2(stream), "its end again");
    expect_result(CUDA_ERROR_INVALID_HANDLE, driver.cuStreamSynchronize(stream), "a wait for it");
    void* function = nullptr;
    expect_result(0, driver.cuGetProcAddress_v2("cuMemAlloc", &function, 13050, 0, nullptr), "cuGetProcAddress");
    require(function == reinterpret_cast<void*>(driver.cuMemAlloc_v2), "the newest form of cuMemAlloc");
    expect_result(CUDA_ERROR_NOT_FOUND, driver.cuGetProcAddress_v2("cuNoSuchThing", &function, 13050, 0, nullptr), "an unknown name");
    s.allocate(64);
    driver.cuDevicePrimaryCtxRelease_v2(0);
    for (const char* kind : {"memory", "stream", "event", "module", "graph_exec"})
      require(driver.live(kind) == 0, std::string("no ") + kind + " is left");
    expect_result(CUDA_ERROR_INVALID_CONTEXT, driver.cuMemAlloc_v2(&p, 64), "after the context");
    say("checked");
  });
  EXPECT_EQ(outcome.said, "checked\n") << outcome.errors;
}

}  // namespace
}  // namespace rh::stand
