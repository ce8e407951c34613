// A provider for tests: a device with memory that the host cannot read, and streams that work later. Add, Mul, Relu, Neg, Sigmoid and Tanh
// on float tensors. Options: delay_us (of each piece of work), compile (1: what it takes becomes units), fail (a call that then fails:
// create, capability, kernel, compile, run, alloc, copy_in, copy_out, stream, record, wait, work, end_run; or what runs then do: result,
// off by one; crash; hang), fail_after, fail_times, fail_with (fault.h), claim (SEED:PERCENT: it takes that share of all nodes, chosen at
// random, or =NAME,NAME: nodes by their names; each as a unit that the host's CPU computes). The environment's FAKE_DEVICE_FAULT makes the
// device itself wrong: copy (the last byte is lost), wait (copies to the host are not waited for), memory (it has any size that is asked
// for).
#include <roundhouse/provider.hpp>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <map>
#include <optional>
#include <thread>

#include "emulation.h"
#include "fault.h"
#include "memory.h"
#include "queue.h"

namespace {

using namespace roundhouse::ep;
using fake_device::Emulation;
using fake_device::Fault;
using fake_device::Queue;
using fake_device::to_device;
using fake_device::to_host;

constexpr char kName[] = "FakeDeviceExecutionProvider";

bool device_fault(const char* name) {
  const char* wanted = std::getenv("FAKE_DEVICE_FAULT");
  return wanted && std::strcmp(wanted, name) == 0;
}

using Unary = float (*)(float);
const std::map<std::string, Unary> kUnary = {{"Relu", [](float x) { return x > 0 ? x : 0; }},
                                             {"Neg", [](float x) { return -x; }},
                                             {"Sigmoid", [](float x) { return 1 / (1 + std::exp(-x)); }},
                                             {"Tanh", [](float x) { return std::tanh(x); }}};
using Binary = float (*)(float, float);
const std::map<std::string, Binary> kBinary = {{"Add", [](float x, float y) { return x + y; }},
                                               {"Mul", [](float x, float y) { return x * y; }}};

std::string option(const OrtSessionOptions* options, const std::string& key) {
  const OrtApi& api = *detail::host.api;
  const std::string name = "ep.fakedeviceexecutionprovider." + key;
  int found = 0;
  detail::check(api.HasSessionConfigEntry(options, name.c_str(), &found));
  if (!found) return {};
  size_t size = 0;
  detail::check(api.GetSessionConfigEntry(options, name.c_str(), nullptr, &size));
  std::string value(size, '\0');
  detail::check(api.GetSessionConfigEntry(options, name.c_str(), value.data(), &size));
  value.resize(size - 1);
  return value;
}

class Notification final : public INotification {
 public:
  explicit Notification(Queue& queue) : queue_(queue) {}
  void activate() override { count_ = queue_.submitted(); }
  void wait_on_host() override {
    Fault::at_device("wait");
    queue_.wait(count_);
  }
  void wait_on_stream(void* handle) override {
    static_cast<Queue*>(handle)->submit([queue = &queue_, count = count_] { queue->wait(count); });
  }

 private:
  Queue& queue_;
  int64_t count_ = 0;
};

class Stream final : public IStream {
 public:
  explicit Stream(int64_t delay_us) : queue_(delay_us) {}
  void* handle() override { return &queue_; }
  std::unique_ptr<INotification> create_notification() override {
    Fault::at_device("record");
    return std::make_unique<Notification>(queue_);
  }
  void end_run() override {
    queue_.wait(queue_.submitted());
    Fault::at_device("end_run");
  }

 private:
  Queue queue_;
};

void submit(void* stream, std::function<void()> piece) {
  if (stream) {
    static_cast<Queue*>(stream)->submit(std::move(piece));
  } else {
    piece();
  }
}

/// As drivers of real devices do with memory of the host that is not pinned: it is read when the call is made, and written when it returns.
class Transfer final : public IDataTransfer {
 public:
  void copy(const TensorView& from, bool from_device, const TensorView& to, bool to_device, void* stream) override {
    void* target = to_host(to.data);
    Fault::at_device(from_device ? "copy_out" : "copy_in");
    const size_t size = from.bytes - (device_fault("copy") && from.bytes > 0 ? 1 : 0);
    if (!from_device) {
      const auto* bytes = static_cast<const char*>(from.data);
      submit(stream, [staged = std::vector<char>(bytes, bytes + size), target] { std::memcpy(target, staged.data(), staged.size()); });
      return;
    }
    submit(stream, [source = to_host(from.data), target, size] { std::memmove(target, source, size); });
    if (!to_device && stream && !device_fault("wait")) static_cast<Queue*>(stream)->wait(static_cast<Queue*>(stream)->submitted());
  }
};

std::atomic<int64_t> g_blocks{0};  // that are allocated

class Memory final : public IAllocator {
 public:
  void* alloc(size_t bytes) override {
    Fault::at_device("alloc");
    if (device_fault("memory")) bytes = std::min(bytes, size_t{1} << 20);
    void* memory = std::aligned_alloc(64, (bytes + 63) / 64 * 64 + 64);
    if (memory) ++g_blocks;
    return memory ? to_device(memory) : nullptr;
  }
  void free(void* memory) override {
    if (!memory) return;
    --g_blocks;
    Queue::drain_all();  // work under way may still use it
    std::free(to_host(memory));
  }
};

/// What a driver pins: plain memory here.
class HostMemory final : public IAllocator {
 public:
  void* alloc(size_t bytes) override { return std::aligned_alloc(64, (bytes + 63) / 64 * 64 + 64); }
  void free(void* memory) override {
    if (memory) Queue::drain_all();
    std::free(memory);
  }
};

/// A line of a program: an operator over places.
struct Line {
  std::string op;
  size_t a, b, out;
};

/// The nodes of a unit, or a single one. Places are first the inputs, then the outputs, then what is between.
struct Program {
  std::vector<Line> lines;
  size_t inputs = 0, outputs = 0, places = 0;
  float error = 0;  ///< of every result

  void run(OpKernelContext& context) const {
    std::vector<std::pair<float*, int64_t>> at(places);
    std::vector<int64_t> shape;
    int64_t most = -1;
    for (size_t i = 0; i < inputs; ++i) {
      const TensorView view = context.input(i);
      at[i] = {static_cast<float*>(to_host(view.data)), view.elements()};
      if (view.elements() <= most && !(view.elements() == most && view.shape.size() > shape.size())) continue;
      most = view.elements();
      shape = view.shape;
    }
    for (size_t i = 0; i < outputs; ++i) at[inputs + i] = {static_cast<float*>(to_host(context.output(i, shape).data)), most};
    submit(context.stream(), [this, at, most]() mutable {
      Fault::at_device("work");
      std::vector<std::vector<float>> between(places);
      for (const Line& line : lines) {
        if (!at[line.out].first) {
          between[line.out].resize(static_cast<size_t>(most));
          at[line.out] = {between[line.out].data(), most};
        }
        apply(line, at);
      }
    });
  }

  void apply(const Line& line, const std::vector<std::pair<float*, int64_t>>& at) const {
    const auto [x, nx] = at[line.a];
    const auto [y, ny] = at[line.b];
    const auto [out, count] = at[line.out];
    const auto unary = kUnary.find(line.op);
    for (int64_t i = 0; i < count; ++i) {
      const float left = x[nx == 1 ? 0 : i], right = y[ny == 1 ? 0 : i];
      out[i] = unary != kUnary.end() ? unary->second(left) : kBinary.at(line.op)(left, right);
      out[i] += error;
    }
  }
};

/// Float operands of one known rank and the same dimensions, so that elements go by their number.
bool goes_by_number(const Node& node) {
  std::optional<std::vector<int64_t>> first;
  for (const NodeArg& input : node.inputs()) {
    std::vector<int64_t> dims;
    if (input.element_type() != ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT || !input.shape(dims)) return false;
    if (kUnary.contains(node.op_type())) return true;
    if (std::find(dims.begin(), dims.end(), -1) != dims.end() || (first && *first != dims)) return false;
    first = dims;
  }
  return kBinary.contains(node.op_type());
}

class FakeDevice final : public IExecutionProvider {
 public:
  explicit FakeDevice(const OrtSessionOptions* options)
      : delay_us_(std::atoll(option(options, "delay_us").c_str())),
        compile_(option(options, "compile") == "1"),
        fault_(option(options, "fail"), option(options, "fail_after"), option(options, "fail_times"), option(options, "fail_with")),
        claim_(option(options, "claim")) {
    fail_at("create");
    if (!claim_.empty() && !names_nodes() && claim_.find(':') == std::string::npos) {
      throw std::runtime_error("option claim is '" + claim_ + "', expected SEED:PERCENT or =NAME,NAME");
    }
  }

  std::shared_ptr<KernelRegistry> GetKernelRegistry() override {
    auto registry = std::make_shared<KernelRegistry>();
    const auto add = [&](const std::string& op, int start, int end) {
      registry->add({op, "", start, end, {{"T", {ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT}}}, [this, op](const OrtKernelInfo*) {
                       fail_at("kernel");
                       const size_t inputs = kUnary.contains(op) ? 1 : 2;
                       auto program = std::make_shared<Program>(Program{{{op, 0, inputs - 1, inputs}}, inputs, 1, inputs + 1, error()});
                       return [this, program](OpKernelContext& context) {
                         fail_at("run");
                         program->run(context);
                       };
                     }});
    };
    for (const auto& [op, function] : kUnary) add(op, 6, op == "Relu" ? 14 : 13);
    for (const auto& [op, function] : kBinary) add(op, 7, 14);
    return registry;
  }

  std::vector<ComputeCapability> GetCapability(const GraphViewer& graph, const IKernelLookup& kernel_lookup) override {
    fail_at("capability");
    std::vector<ComputeCapability> taken;
    for (const Node& node : graph.nodes()) {
      if (!claim_.empty()) {
        if (is_chosen(node) && Emulation::is_possible(node)) taken.push_back({{node}, true});
      } else if (kernel_lookup.has_kernel(node) && goes_by_number(node)) {
        taken.push_back({{node}, compile_});
      }
    }
    return taken;
  }

  NodeComputeInfo Compile(const GraphViewer& graph, const Node& node) override {
    fail_at("compile");
    if (!claim_.empty()) {
      return {[this, emulation = std::make_shared<Emulation>(graph, node)](OpKernelContext& context) {
        fail_at("run");
        emulation->run(context);
      }};
    }
    auto program = std::make_shared<Program>();
    program->error = error();
    std::map<std::string, size_t> places;
    const auto place = [&](const NodeArg& value) { return places.emplace(value.name(), places.size()).first->second; };
    for (const NodeArg& input : node.inputs()) place(input);
    program->inputs = places.size();
    for (const NodeArg& output : node.outputs()) place(output);
    program->outputs = places.size() - program->inputs;
    for (const Node& inner : graph.nodes()) {
      const auto inputs = inner.inputs();
      const size_t a = place(inputs.front()), b = place(inputs.back());
      program->lines.push_back({inner.op_type(), a, b, place(inner.outputs()[0])});
    }
    program->places = places.size();
    return {[this, program](OpKernelContext& context) {
      fail_at("run");
      program->run(context);
    }};
  }

  std::unique_ptr<IStream> CreateStream() override {
    fail_at("stream");
    return std::make_unique<Stream>(delay_us_);
  }

 private:
  void fail_at(const char* call) {
    fault_.at(call);
    if (call != std::string("run")) return;
    if (fault_.call() == "crash") std::abort();
    while (fault_.call() == "hang") std::this_thread::sleep_for(std::chrono::hours(1));
  }

  float error() const { return fault_.call() == "result" ? 1 : 0; }

  bool names_nodes() const { return claim_.starts_with('='); }

  /// By its own name, or by the name of its first result, which the model gives.
  bool is_chosen(const Node& node) const {
    if (names_nodes()) return ("," + claim_.substr(1) + ",").find("," + node.name() + ",") != std::string::npos;
    uint32_t hash = 2166136261u;  // FNV-1a
    const auto add = [&](const std::string& text) {
      for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 16777619u;
    };
    add(claim_.substr(0, claim_.find(':')) + "/");
    for (const NodeArg& output : node.outputs()) {
      if (output.exists()) add(output.name());
    }
    hash = (hash ^ (hash >> 15)) * 2246822519u;
    return (hash >> 8) % 100 < static_cast<uint32_t>(std::atoi(claim_.c_str() + claim_.find(':') + 1));
  }

  int64_t delay_us_;
  bool compile_;
  Fault fault_;
  std::string claim_;
};

struct FakeTraits : ProviderTraits {
  static constexpr const char* kVendor = "Roundhouse";
  static constexpr uint32_t kVendorId = 0xfade;
  static constexpr bool kStreams = true;
  static DeviceMemory memory() { return {"FakeDevice", kVendorId, 0}; }
  static std::unique_ptr<IAllocator> create_allocator() { return std::make_unique<Memory>(); }
  static std::unique_ptr<IDataTransfer> GetDataTransfer() { return std::make_unique<Transfer>(); }
  static std::string leaks() { return g_blocks == 0 ? std::string() : std::to_string(g_blocks) + " blocks of the device were not freed"; }
  static constexpr bool kHostMemory = true;
  static std::unique_ptr<IAllocator> create_host_allocator() { return std::make_unique<HostMemory>(); }
  static std::unique_ptr<IStream> create_stream() { return std::make_unique<Stream>(device_fault("wait") ? 2000 : 0); }
};

}  // namespace

ROUNDHOUSE_EXPORT_PROVIDER(FakeDevice, FakeTraits, kName)
