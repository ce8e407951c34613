#include "support/device_provider.h"

#include <atomic>
#include <condition_variable>
#include <cstring>
#include <deque>
#include <mutex>
#include <thread>

namespace rh::test {

namespace {

constexpr uint32_t kVendor = 0xfade;
constexpr uintptr_t kTag = uintptr_t{1} << 60;  // such addresses fault
std::atomic<int64_t> g_copies{0};

float* real(const void* handle) { return reinterpret_cast<float*>(reinterpret_cast<uintptr_t>(handle) & ~kTag); }

class DeviceAllocator final : public Allocator {
 public:
  explicit DeviceAllocator(Device device) : device_(device) {}
  void* allocate(size_t bytes) override {
    return reinterpret_cast<void*>(reinterpret_cast<uintptr_t>(host_allocator().allocate(bytes)) | kTag);
  }
  void deallocate(void* memory) override { host_allocator().deallocate(real(memory)); }
  Device device() const override { return device_; }

 private:
  Device device_;
};

/// Pieces of work that a thread does in order.
class WorkQueue final : public Stream {
 public:
  WorkQueue(Device device, std::chrono::microseconds delay) : device_(device), delay_(delay), thread_([this] { work(); }) {}
  ~WorkQueue() override {
    {
      const std::lock_guard lock(mutex_);
      closed_ = true;
    }
    changed_.notify_all();
    thread_.join();
  }

  void submit(std::function<void()> piece) {
    {
      const std::lock_guard lock(mutex_);
      pieces_.push_back(std::move(piece));
      ++submitted_;
    }
    changed_.notify_all();
  }
  void wait(int64_t count) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return done_ >= count; });
  }

  class Point final : public Notification {
   public:
    Point(WorkQueue& queue, int64_t count) : queue_(queue), count_(count) {}
    bool wait_on(Stream& stream) override {
      static_cast<WorkQueue&>(stream).submit([queue = &queue_, count = count_] { queue->wait(count); });
      return true;
    }
    Status wait_on_host() override {
      queue_.wait(count_);
      return {};
    }

   private:
    WorkQueue& queue_;
    int64_t count_;
  };

  Device device() const override { return device_; }
  std::unique_ptr<Notification> record() override {
    const std::lock_guard lock(mutex_);
    return std::make_unique<Point>(*this, submitted_);
  }
  Status flush() override { return {}; }
  Status end_run() override { return {}; }

 private:
  void work() {
    std::unique_lock lock(mutex_);
    for (;;) {
      changed_.wait(lock, [&] { return closed_ || !pieces_.empty(); });
      if (pieces_.empty()) return;
      std::function<void()> piece = std::move(pieces_.front());
      pieces_.pop_front();
      lock.unlock();
      if (delay_.count() > 0) std::this_thread::sleep_for(delay_);
      piece();
      lock.lock();
      ++done_;
      changed_.notify_all();
    }
  }

  Device device_;
  std::chrono::microseconds delay_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::function<void()>> pieces_;
  int64_t submitted_ = 0, done_ = 0;
  bool closed_ = false;
  std::thread thread_;
};

void submit(Stream* stream, std::function<void()> piece) {
  if (stream) {
    static_cast<WorkQueue*>(stream)->submit(std::move(piece));
  } else {
    piece();
  }
}

class Copier final : public DataTransfer {
 public:
  explicit Copier(Device device) : device_(device) {}
  bool can_copy(Device from, Device to) const override {
    const auto known = [&](Device d) { return d.is_host() || d.vendor == kVendor; };
    return known(from) && known(to) && (from == device_ || to == device_);
  }
  Status copy(const Tensor& from, Tensor& to, Stream* stream) override {
    if (from.dtype() == DType::string) return Status(ErrorCode::not_implemented, "strings do not fit on a device");
    g_copies.fetch_add(1);
    submit(stream, [target = real(to.raw()), source = real(from.raw()), bytes = from.bytes()] { std::memmove(target, source, bytes); });
    return {};
  }

 private:
  Device device_;
};

float compute(const std::string& op, float a, float b) {
  if (op == "Add") return a + b;
  if (op == "Mul") return a * b;
  return op == "Neg" ? -a : std::max(a, 0.0f);
}

/// Nodes of a graph, element by element; operands of one element are repeated.
struct Program {
  struct Line {
    std::string op;
    int a, b, out;  // of the values
  };
  std::vector<Line> lines;
  int values = 0;
  std::vector<int> inputs, outputs;
  std::vector<std::pair<int, const Tensor*>> constants;
};

class ProgramKernel final : public Kernel {
 public:
  explicit ProgramKernel(Program program) : program_(std::move(program)) {}

  Status run(RunContext& context) const override {
    struct Place {
      float* data = nullptr;
      int64_t count = 0;
    };
    std::vector<Place> places(static_cast<size_t>(program_.values));
    Shape shape = context.input_tensor(0).shape();
    for (size_t i = 0; i < program_.inputs.size(); ++i) {
      const Tensor& input = context.input_tensor(static_cast<int>(i));
      if (input.elements() > shape.elements()) shape = input.shape();
      places[static_cast<size_t>(program_.inputs[i])] = {real(input.raw()), input.elements()};
    }
    for (const auto& [value, tensor] : program_.constants) {
      places[static_cast<size_t>(value)] = {real(tensor->raw()), tensor->elements()};
    }
    for (size_t i = 0; i < program_.outputs.size(); ++i) {
      places[static_cast<size_t>(program_.outputs[i])] = {real(context.output(static_cast<int>(i), shape).raw()), shape.elements()};
    }
    for (Place& place : places) {
      if (!place.data) place = {real(context.scratch_array<float>(shape.elements())), shape.elements()};
    }
    // Scratch memory is the host's until the kernel returns: with a stream each value between gets memory of the work itself.
    submit(context.stream(), [this, places, count = shape.elements(), later = context.stream() != nullptr]() mutable {
      std::vector<std::vector<float>> own(places.size());
      for (const auto& line : program_.lines) {
        Place& out = places[static_cast<size_t>(line.out)];
        const bool is_output = std::ranges::find(program_.outputs, line.out) != program_.outputs.end();
        if (later && !is_output) {
          own[static_cast<size_t>(line.out)].resize(static_cast<size_t>(count));
          out = {own[static_cast<size_t>(line.out)].data(), count};
        }
        const Place a = places[static_cast<size_t>(line.a)], b = places[static_cast<size_t>(line.b)];
        for (int64_t i = 0; i < count; ++i) {
          out.data[i] = compute(line.op, a.data[a.count == 1 ? 0 : i], b.data[b.count == 1 ? 0 : i]);
        }
      }
    });
    return {};
  }

 private:
  Program program_;
};

class DeviceProvider final : public Provider {
 public:
  explicit DeviceProvider(DeviceSetup setup)
      : setup_(std::move(setup)), device_{Device::Type::other, 0, setup_.id, kVendor}, allocator_(device_), copier_(device_) {}

  std::string_view name() const override { return setup_.name; }
  Device device() const override { return device_; }
  Allocator& allocator() const override { return allocator_; }
  DataTransfer* transfer() const override { return &copier_; }
  std::unique_ptr<Stream> make_stream() const override {
    return setup_.streams ? std::make_unique<WorkQueue>(device_, setup_.delay) : nullptr;
  }

  Capability capability(const Graph& graph, std::span<const NodeId> candidates) override {
    if (setup_.answers) return setup_.answers(graph);
    Capability answer;
    for (NodeId id : candidates) {
      const Node& node = graph.node(id);
      if (setup_.takes ? setup_.takes(node) : setup_.ops.contains(node.op_type)) {
        answer.claims.push_back({.nodes = {id}, .kernel = setup_.name + "." + node.op_type, .compiled = setup_.compiles});
      } else {
        answer.refusals.push_back({id, RefusalCode::op, "it does not know " + node.op_type});
      }
    }
    return answer;
  }

  std::unique_ptr<Kernel> make_kernel(const Graph&, const Node& node, const CompileContext&) override {
    Program program;
    program.values = static_cast<int>(node.inputs.size()) + 1;
    for (size_t i = 0; i < node.inputs.size(); ++i) program.inputs.push_back(static_cast<int>(i));
    program.outputs = {static_cast<int>(node.inputs.size())};
    program.lines.push_back({node.op_type, 0, static_cast<int>(node.inputs.size()) - 1, program.outputs[0]});
    return std::make_unique<ProgramKernel>(std::move(program));
  }

  std::vector<std::unique_ptr<Kernel>> compile(std::span<const Unit* const> units) override {
    std::vector<std::unique_ptr<Kernel>> kernels;
    for (const Unit* unit : units) {
      const Graph& body = *unit->body;
      Program program;
      program.values = body.value_count();
      for (const std::string& input : unit->inputs) program.inputs.push_back(body.find_value(input));
      for (const std::string& output : unit->outputs) program.outputs.push_back(body.find_value(output));
      for (ValueId id = 0; id < body.value_count(); ++id) {
        if (body.value(id).is_constant() && std::ranges::find(program.inputs, id) == program.inputs.end()) {
          program.constants.emplace_back(id, body.value(id).constant_tensor());
        }
      }
      for (NodeId id : body.topological_order()) {
        const Node& node = body.node(id);
        program.lines.push_back({node.op_type, node.inputs.front(), node.inputs.back(), node.outputs[0]});
      }
      kernels.push_back(std::make_unique<ProgramKernel>(std::move(program)));
    }
    return kernels;
  }

  std::optional<ContextNode> context_node(const Unit& unit) const override {
    if (!setup_.contexts) return {};
    std::string operators;
    for (NodeId id : unit.body->topological_order()) operators += unit.body->node(id).op_type + " ";
    return ContextNode{
        unit.name,   "EPContext",  "com.microsoft",
        unit.inputs, unit.outputs, {{"main_context", int64_t{1}}, {"embed_mode", int64_t{1}}, {"ep_cache_context", std::move(operators)}}};
  }

 private:
  DeviceSetup setup_;
  Device device_;
  mutable DeviceAllocator allocator_;
  mutable Copier copier_;
};

}  // namespace

std::shared_ptr<Provider> make_device_provider(DeviceSetup setup) { return std::make_shared<DeviceProvider>(std::move(setup)); }

int64_t device_copies() { return g_copies.load(); }

}  // namespace rh::test
