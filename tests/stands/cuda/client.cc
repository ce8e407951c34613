#include "stands/cuda/client.h"

#include <dlfcn.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <map>
#include <sstream>

namespace rh::stand {
namespace {

int said_to = 1;

const std::string kLibraries = std::string(RH_BUILD_DIR) + "/stands/cuda";
const std::string kKernels = std::string(RH_TEST_DATA) + "/../stands/cuda/kernels/";

std::string read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw std::runtime_error("no file " + path);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

void* open_library(const std::string& name) {
  void* library = dlopen((kLibraries + "/" + name).c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library) throw std::runtime_error(dlerror());
  return library;
}

template <class F>
void look_up(void* library, const char* name, F& function) {
  function = reinterpret_cast<F>(dlsym(library, name));
  if (!function) throw std::runtime_error(std::string("the library has no ") + name);
}

void load(Driver& driver) {
  void* library = open_library("libcuda.so.1");
#define RH_STAND_LOOK_UP(name, parameters) look_up(library, #name, driver.name);
  RH_STAND_TESTED_FUNCTIONS(RH_STAND_LOOK_UP)
#undef RH_STAND_LOOK_UP
  look_up(library, "rh_stand_calls", driver.calls);
  look_up(library, "rh_stand_live", driver.live);
  look_up(library, "rh_stand_fail", driver.fail);
  look_up(library, "rh_stand_clear", driver.clear);
  look_up(library, "rh_stand_message", driver.message);
}

[[noreturn]] void live_as_child(const Environment& environment, const std::function<void(Driver&)>& body) {
  for (const auto& [name, value] : environment) setenv(name.c_str(), value.c_str(), 1);
  try {
    Driver driver;
    load(driver);
    body(driver);
  } catch (const std::exception& e) {
    std::fprintf(stderr, "%s\n", e.what());
    _exit(1);
  }
  _exit(0);
}

std::string read_all(int from) {
  std::string text;
  char buffer[4096];
  for (ssize_t n; (n = read(from, buffer, sizeof buffer)) > 0;) text.append(buffer, static_cast<size_t>(n));
  close(from);
  return text;
}

struct Compiler {
  int (*create)(nvrtcProgram*, const char*, const char*, int, const char* const*, const char* const*);
  int (*compile)(nvrtcProgram, int, const char* const*);
  int (*add_name)(nvrtcProgram, const char*);
  int (*lowered_name)(nvrtcProgram, const char*, const char**);
  int (*log_size)(nvrtcProgram, size_t*);
  int (*log)(nvrtcProgram, char*);
  int (*code_size)(nvrtcProgram, size_t*);
  int (*code)(nvrtcProgram, char*);
  int (*ptx_size)(nvrtcProgram, size_t*);
  int (*ptx)(nvrtcProgram, char*);
  int (*destroy)(nvrtcProgram*);
};
const Compiler& compiler() {
  static const Compiler loaded = [] {
    void* library = open_library("libnvrtc.so.13");
    Compiler c{};
    look_up(library, "nvrtcCreateProgram", c.create);
    look_up(library, "nvrtcCompileProgram", c.compile);
    look_up(library, "nvrtcAddNameExpression", c.add_name);
    look_up(library, "nvrtcGetLoweredName", c.lowered_name);
    look_up(library, "nvrtcGetProgramLogSize", c.log_size);
    look_up(library, "nvrtcGetProgramLog", c.log);
    look_up(library, "nvrtcGetCUBINSize", c.code_size);
    look_up(library, "nvrtcGetCUBIN", c.code);
    look_up(library, "nvrtcGetPTXSize", c.ptx_size);
    look_up(library, "nvrtcGetPTX", c.ptx);
    look_up(library, "nvrtcDestroyProgram", c.destroy);
    return c;
  }();
  return loaded;
}

Image compile(const std::string& text, const std::string& name, const std::vector<std::string>& options, const std::string& expression) {
  const Compiler& c = compiler();
  const std::string wrappers = read_file(kKernels + "wrappers.h");
  const char *headers[] = {wrappers.c_str()}, *names[] = {"wrappers.h"};
  std::vector<const char*> given;
  for (const auto& o : options) given.push_back(o.c_str());
  nvrtcProgram program = nullptr;
  Image image;
  c.create(&program, text.c_str(), name.c_str(), 1, headers, names);
  if (!expression.empty()) c.add_name(program, expression.c_str());
  image.result = c.compile(program, static_cast<int>(given.size()), given.data());
  size_t size = 0;
  c.log_size(program, &size);
  image.log.resize(size);
  c.log(program, image.log.data());
  if (image.result == 0) {
    bool ptx_alone = !options.empty() && options[0].find("compute_") != std::string::npos;
    (ptx_alone ? c.ptx_size : c.code_size)(program, &size);
    image.bytes.resize(size);
    (ptx_alone ? c.ptx : c.code)(program, image.bytes.data());
    const char* lowered = nullptr;
    if (!expression.empty() && c.lowered_name(program, expression.c_str(), &lowered) == 0) image.lowered = lowered;
  }
  c.destroy(&program);
  return image;
}

}  // namespace

Outcome in_child(const Environment& environment, const std::function<void(Driver&)>& body) {
  int said[2], errors[2];
  if (pipe(said) || pipe(errors)) throw std::runtime_error("no pipe");
  std::fflush(nullptr);
  pid_t child = fork();
  if (child == 0) {
    close(said[0]);
    close(errors[0]);
    said_to = said[1];
    dup2(errors[1], 2);
    live_as_child(environment, body);
  }
  close(said[1]);
  close(errors[1]);
  Outcome outcome;
  outcome.said = read_all(said[0]);
  outcome.errors = read_all(errors[0]);
  int status = 0;
  waitpid(child, &status, 0);
  outcome.signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
  outcome.failed = status != 0;
  return outcome;
}

void say(const std::string& text) {
  std::string line = text + "\n";
  if (write(said_to, line.data(), line.size()) < 0) _exit(3);
}

void require(bool holds, const std::string& what) {
  if (holds) return;
  std::fprintf(stderr, "not so: %s\n", what.c_str());
  _exit(1);
}

void expect_result(CUresult expected, CUresult result, const std::string& what) {
  require(expected == result, what + " returned " + std::to_string(result) + ", expected " + std::to_string(expected));
}

const Image& image_of(const std::string& file, bool checked, const std::string& architecture, const std::string& expression) {
  static std::map<std::string, Image> made;
  std::string key = file + (checked ? " checked " : " ") + architecture + " " + expression;
  auto found = made.find(key);
  if (found != made.end()) return found->second;
  setenv("RH_STAND_CHECKED", checked ? "1" : "0", 1);
  Image image = compile(read_file(kKernels + file), file, {"--gpu-architecture=" + architecture}, expression);
  unsetenv("RH_STAND_CHECKED");
  EXPECT_EQ(image.result, 0) << image.log;
  return made[key] = image;
}

Image compile_text(const std::string& text, const std::vector<std::string>& options) { return compile(text, "text.cu", options, ""); }

Session::Session(Driver& d, const std::string& image) : driver(d) {
  CUdevice device = 0;
  expect_result(0, driver.cuInit(0), "cuInit");
  expect_result(0, driver.cuDeviceGet(&device, 0), "cuDeviceGet");
  expect_result(0, driver.cuDevicePrimaryCtxRetain(&context, device), "cuDevicePrimaryCtxRetain");
  expect_result(0, driver.cuCtxSetCurrent(context), "cuCtxSetCurrent");
  if (!image.empty()) expect_result(0, driver.cuModuleLoadData(&module, image.data()), "cuModuleLoadData");
  expect_result(0, driver.cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING), "cuStreamCreate");
}

CUfunction Session::function(const std::string& name) {
  CUfunction found = nullptr;
  expect_result(0, driver.cuModuleGetFunction(&found, module, name.c_str()), "cuModuleGetFunction of " + name);
  return found;
}

CUdeviceptr Session::allocate(size_t bytes) {
  CUdeviceptr p = 0;
  expect_result(0, driver.cuMemAlloc_v2(&p, bytes), "cuMemAlloc");
  return p;
}

}  // namespace rh::stand
