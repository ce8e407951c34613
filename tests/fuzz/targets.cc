#include "fuzz/targets.h"

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <new>
#include <string>
#include <thread>
#include <vector>

#include "base/error.h"
#include "fuzz/message_tree.h"
#include "graph/check.h"
#include "graph/text_parse.h"
#include "graph/text_print.h"
#include "onnx/reader.h"
#include "onnx/writer.h"
#include "passes/driver/driver.h"
#include "passes/pass_lists.h"
#include "session/session.h"
#include "settings/keys.h"

namespace rh::fuzz {

namespace {

constexpr size_t kMaxTensorBytes = 16 << 20;
constexpr auto kRunTime = std::chrono::milliseconds(150);

std::map<std::string, Value> inputs_in(std::string_view model) {
  std::map<std::string, Value> inputs;
  const auto tree = parse(model, model_kind());
  for (size_t i = 0; tree && i < tree->fields.size(); ++i) {
    const Field& field = tree->fields[i];
    if (field.number != kInputField) continue;
    const std::string bytes = field.message ? serialize(*field.message) : field.bytes;
    try {
      std::string name;
      Tensor tensor = onnx::read_tensor(std::as_bytes(std::span(bytes)), &name);
      if (tensor.bytes() <= kMaxTensorBytes) inputs.emplace(std::move(name), std::move(tensor));
    } catch (const Error&) {
    }
  }
  return inputs;
}

// A tensor of zeros that the declared type allows; dimensions that are open are 2.
Value value_for(const ValueInfo& info) {
  if (!info.type.is_tensor()) return NoneValue{};
  const TensorType& type = info.type.tensor();
  Shape shape;
  for (int k = 0; type.has_rank() && k < type.rank(); ++k) shape.push_back((*type.dims)[k].is_constant() ? (*type.dims)[k].value() : 2);
  const DType dtype = type.dtype == DType::undefined ? DType::float32 : type.dtype;
  if (bytes_of(dtype, shape.elements()) > kMaxTensorBytes) return NoneValue{};
  Tensor tensor(dtype, shape);
  if (dtype != DType::string) std::memset(tensor.raw(), 0, tensor.bytes());
  return tensor;
}

/// Sets a flag when the time of a run is over: models may loop without end, and a run can be stopped.
class Deadline {
 public:
  Deadline() : thread_([this](const std::stop_token& stop) { watch(stop); }) {}

  const std::atomic<bool>* start() {
    over_ = false;
    end_ = (std::chrono::steady_clock::now() + kRunTime).time_since_epoch().count();
    return &over_;
  }

 private:
  void watch(const std::stop_token& stop) {
    while (!stop.stop_requested()) {
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
      if (std::chrono::steady_clock::now().time_since_epoch().count() > end_) over_ = true;
    }
  }

  std::atomic<bool> over_{false};
  std::atomic<std::chrono::steady_clock::rep> end_{0};
  std::jthread thread_;
};

SessionOptions small_options() {
  SessionOptions options;
  options.intra_op_threads = 1;
  options.config[kKeyOf<&Settings::max_tensor_bytes>] = std::to_string(kMaxTensorBytes);
  return options;
}

}  // namespace

void load_model(std::span<const std::byte> bytes) {
  onnx::ReadOptions options;
  options.limits.inlined_nodes = 10'000;
  try {
    Model model = onnx::read_model(bytes, options);
    try {
      onnx::write_model(model);
    } catch (const Error&) {
    }
    Session::create(std::move(model), small_options());
  } catch (const Error&) {
  } catch (const std::bad_alloc&) {
  }
}

bool run_model(std::span<const std::byte> bytes) {
  static Deadline deadline;
  std::unique_ptr<Session> session;
  try {
    session = Session::create(bytes, small_options());
  } catch (const Error&) {
    return false;
  } catch (const std::bad_alloc&) {
    return false;
  }
  auto given = inputs_in({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
  std::vector<const char*> input_names, output_names;
  std::vector<const Value*> inputs;
  for (const ValueInfo& info : session->inputs()) {
    const auto at = given.try_emplace(info.name, NoneValue{}).first;
    if (at->second.is_none()) at->second = value_for(info);
    input_names.push_back(info.name.c_str());
    inputs.push_back(&at->second);
  }
  for (const ValueInfo& info : session->outputs()) output_names.push_back(info.name.c_str());
  for (int round = 0; round < 2; ++round) {
    std::vector<Value> outputs(output_names.size());
    RunOptions options;
    options.terminate = deadline.start();
    if (!session->run(options, input_names, inputs, output_names, outputs).ok()) return false;
  }
  return true;
}

void read_graph_text(std::string_view text) {
  const PrintOptions everything{.types = true, .max_elements = -1};
  const auto broken = [](const std::string& what) {
    std::fprintf(stderr, "%s\n", what.c_str());
    std::abort();
  };
  try {
    const auto graph = parse_graph(text);
    const std::string printed = print(*graph, everything), again = print(*parse_graph(printed), everything);
    if (again != printed) broken("ERROR: printed and read, the graph differs:\n" + printed + "\nand\n" + again);
    check(*graph);
    infer_types(*graph);
    try {
      run_passes(*graph, standard_passes());
      check(*graph);
    } catch (const Error& error) {
      // Inference may refuse more once constants are known; a pass may not break the graph.
      if (error.message().starts_with("pass ")) broken("ERROR: " + error.message());
    }
  } catch (const Error&) {
  } catch (const std::bad_alloc&) {
  }
}

}  // namespace rh::fuzz
