#include "providers/fake_device/kernels.h"

#include <chrono>
#include <cmath>
#include <cstdlib>
#include <thread>

namespace rh::fake_device {

namespace {

using Unary = float (*)(float);
const std::map<std::string_view, Unary> kUnary = {{"Relu", [](float x) { return x > 0 ? x : 0; }},
                                                  {"Neg", [](float x) { return -x; }},
                                                  {"Sigmoid", [](float x) { return 1 / (1 + std::exp(-x)); }},
                                                  {"Tanh", [](float x) { return std::tanh(x); }}};
using Binary = float (*)(float, float);
const std::map<std::string_view, Binary> kBinary = {{"Add", [](float x, float y) { return x + y; }},
                                                    {"Mul", [](float x, float y) { return x * y; }}};
constexpr int kNewest = 14;              // of the versions of these operators
constexpr uint64_t kTileHostInputs = 2;  // its repeats

/// Elements by their number; an operand of one element goes with all of the other's.
class Elementwise final : public kit::Executable {
 public:
  Elementwise(Session session, Unary unary, Binary binary) : session_(std::move(session)), unary_(unary), binary_(binary) {}

  void run(std::span<const TensorView> inputs, kit::RunOutputs& outputs) const override {
    session_.begin_run();
    const TensorView& a = inputs.front();
    const TensorView& b = inputs.back();
    const bool b_is_larger = b.elements() > a.elements() || (b.elements() == a.elements() && b.rank() > a.rank());
    const MutableView out = outputs.make(0, (b_is_larger ? b : a).shape());
    const int64_t na = a.elements(), nb = b.elements(), n = out.elements();
    if (n == 0) return;
    DeviceMemory& memory = session_.driver->memory();
    const auto* x = static_cast<const float*>(memory.at(a.raw(), a.bytes(), "an input of a kernel"));
    const auto* y = static_cast<const float*>(memory.at(b.raw(), b.bytes(), "an input of a kernel"));
    auto* to = static_cast<float*>(memory.at(out.raw(), out.bytes(), "an output of a kernel"));
    FakeDriver::submit(outputs.stream(), [=, unary = unary_, binary = binary_, error = session_.error()] {
      Fault::at_device("work");
      for (int64_t i = 0; i < n; ++i) {
        const float left = x[na == 1 ? 0 : i], right = y[nb == 1 ? 0 : i];
        to[i] = (unary ? unary(left) : binary(left, right)) + error;
      }
    });
  }

 private:
  Session session_;
  Unary unary_;
  Binary binary_;
};

/// Its repeats are read in host memory, where the host has to have them.
class Tile final : public kit::Executable {
 public:
  explicit Tile(Session session) : session_(std::move(session)) {}

  void run(std::span<const TensorView> inputs, kit::RunOutputs& outputs) const override {
    session_.begin_run();
    const TensorView& from = inputs[0];
    DeviceMemory::check_host(inputs[1].raw(), "a host value of a kernel");
    Shape shape = from.shape();
    for (int i = 0; i < shape.rank(); ++i) shape[i] *= inputs[1].data<int64_t>()[i];
    const MutableView out = outputs.make(0, shape);
    if (out.elements() == 0) return;
    DeviceMemory& memory = session_.driver->memory();
    const auto* read = static_cast<const float*>(memory.at(from.raw(), from.bytes(), "an input of a kernel"));
    auto* written = static_cast<float*>(memory.at(out.raw(), out.bytes(), "an output of a kernel"));
    FakeDriver::submit(outputs.stream(), [read, written, shape, small = from.shape(), error = session_.error()] {
      Fault::at_device("work");
      for (int64_t i = 0, count = shape.elements(); i < count; ++i) {
        int64_t left = i, place = 0, step = 1;
        for (int axis = shape.rank() - 1; axis >= 0; --axis) {
          place += left % shape[axis] % small[axis] * step;
          step *= small[axis];
          left /= shape[axis];
        }
        written[i] = read[place] + error;
      }
    });
  }

 private:
  Session session_;
};

}  // namespace

void Session::begin_run() const {
  fault->at("run");
  ++driver->counts().runs;
  if (fault->call() == "crash") std::abort();
  while (fault->call() == "hang") std::this_thread::sleep_for(std::chrono::hours(1));
}

kit::Support kernel_support(const NodeView& node) {
  const bool is_unary = kUnary.contains(node.op_type()) || node.op_type() == "Tile",
             is_known = is_unary || kBinary.contains(node.op_type());
  if (!node.domain().empty() || !is_known) return kit::refuse(RhRefusalCode_OP, "it has no kernel for {}", node.node().op_text());
  if (node.opset() < (is_unary ? 6 : 7)) return kit::refuse(RhRefusalCode_OPSET, "its kernel of {} is for newer versions", node.op_type());
  const TensorType* first = nullptr;
  for (int i = 0; i < node.input_count(); ++i) {
    const ValueType& type = node.input_type(i);
    if (!type.is_tensor() || type.tensor().dtype != DType::float32) {
      return kit::refuse(RhRefusalCode_TYPE, "its kernel of {} does not take {} for T", node.node().op_text(), type.to_string());
    }
    if (!type.tensor().has_rank()) return kit::refuse(RhRefusalCode_SHAPE, "the rank of input {} is not known", i);
    if (is_unary) break;
    const bool differs = first && !(*first->dims == *type.tensor().dims);
    if (!type.tensor().is_static() || differs) return kit::refuse(RhRefusalCode_SHAPE, "its operands have no same, known shape");
    first = &type.tensor();
  }
  return {};
}

std::vector<kit::KernelRow> kernel_rows(const Session& session) {
  std::vector<kit::KernelRow> rows;
  const auto add = [&](std::string_view op, int since, Unary unary, Binary binary) {
    kit::KernelRow row{std::string(op), "", since, kNewest, {{"T", {DType::float32}}}, {}};
    row.make = [session, unary, binary] {
      session.fault->at("kernel");
      return std::make_unique<Elementwise>(session, unary, binary);
    };
    rows.push_back(std::move(row));
  };
  for (const auto& [op, function] : kUnary) add(op, 6, function, nullptr);
  for (const auto& [op, function] : kBinary) add(op, 7, nullptr, function);
  kit::KernelRow tile{"Tile", "", 6, kNewest, {{"T", {DType::float32}}}, [session] { return std::make_unique<Tile>(session); }};
  tile.host_inputs = kTileHostInputs;
  rows.push_back(std::move(tile));
  return rows;
}

}  // namespace rh::fake_device
