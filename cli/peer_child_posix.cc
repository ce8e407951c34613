// The child process of --peer: another library behind the same interface, told by JSON lines what to do.
#include <dlfcn.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <iostream>
#include <stdexcept>

#include "numbers.h"
#include "peer.h"

namespace rh::cli {

namespace {

using nlohmann::json;

// Every call goes to the library from here on. Returns its version.
std::string use_library(const std::string& path) {
  void* handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_DEEPBIND);
  if (!handle) throw std::runtime_error(dlerror());
  const auto base = reinterpret_cast<const OrtApiBase* (*)()>(dlsym(handle, "OrtGetApiBase"));
  if (!base) throw std::runtime_error(path + ": has no OrtGetApiBase, expected a library that speaks ONNX Runtime's C interface");
  const std::string version = base()->GetVersionString();
  const size_t dot = version.find('.');
  const int minor = dot == std::string::npos ? 0 : std::atoi(version.c_str() + dot + 1);
  const OrtApi* api = base()->GetApi(static_cast<uint32_t>(std::clamp(minor, 1, ORT_API_VERSION)));
  if (!api) throw std::runtime_error(path + ": version " + version + " gives no interface");
  Ort::InitApi(api);
  return version;
}

json save(Runner& runner, const std::string& prefix) {
  const std::vector<Ort::Value> values = runner.run();
  json outputs = json::array();
  for (size_t i = 0; i < values.size(); ++i) {
    if (contents_of(values[i]).type == ONNX_TENSOR_ELEMENT_DATA_TYPE_UNDEFINED) continue;
    const std::string file = prefix + std::to_string(i) + ".npy";
    write_npy(file, values[i]);
    outputs.push_back({{"name", runner.outputs()[i]}, {"file", file}});
  }
  return {{"outputs", std::move(outputs)}};
}

void answer(const json& reply) { std::cout << reply.dump(-1, ' ', false, json::error_handler_t::replace) << std::endl; }

json next_request() {
  std::string line;
  return std::getline(std::cin, line) ? json::parse(line) : json();
}

void serve() {
  const json request = next_request();
  const std::string version = use_library(request.at("library"));
  const SessionSettings settings{.threads = request.at("threads"), .optimization = request.at("optimization")};
  const auto begin = std::chrono::steady_clock::now();
  Ort::Session session = settings.open(request.at("model"));
  const double load_ms = std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count();
  std::vector<NamedValue> inputs;
  for (const json& input : request.at("inputs")) {
    inputs.emplace_back(input.at("name"), std::move(read_arrays(input.at("file")).front().second));
  }
  Runner runner(session, inputs);
  answer({{"version", version}, {"load_ms", load_ms}});
  for (json next = next_request(); !next.is_null(); next = next_request()) {
    answer(next.contains("measure") ? to_json(measure(runner, measure_options(next["measure"]))) : save(runner, next.at("save")));
  }
}

}  // namespace

int serve_as_peer() {
  try {
    serve();
    return 0;
  } catch (const std::exception& error) {
    answer({{"error", error.what()}});
    return 1;
  }
}

}  // namespace rh::cli
