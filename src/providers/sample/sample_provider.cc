// A provider on the kit, to copy: Add, Mul, MatMul and If on floats, by a made-up vendor's library (tests/stands/sample).
#include "providers/kit/ep.h"
#include "providers/kit/vendor_library.h"

namespace rh::sample {

namespace {

using kit::OptionRow, kit::Region, kit::Support, kit::refuse;

constexpr OptionRow kOptions[] = {
    {"library_path", OptionRow::Type::text, "", "the vendor's library"},
    {"least_nodes", OptionRow::Type::integer, "1", "regions of fewer nodes stay with other providers", 1, 1000000},
    {"take_if", OptionRow::Type::flag, "1", "whether it takes If"},
};

struct Program;  // the vendor's

struct VendorTensor {
  const void* data;
  const int64_t* dims;
  int rank;
};

using MakeOutput = float* (*)(void* state, int index, const int64_t* dims, int rank);

/// The vendor's functions.
struct Vendor {
  explicit Vendor(std::string_view path)
      : library({"the sample vendor's library", "libsample_vendor.so", path, "library_path", "SAMPLE_VENDOR_LIBRARY"}) {
    if (const int found = version(); found < 3) {
      fail(ErrorCode::not_found, "{} is of version {}, expected 3 or newer: install a newer one", library.path(), found);
    }
  }

  kit::VendorLibrary library;
  int (*version)() = library.function("sv_version");
  Program* (*create)(int) = library.function("sv_create");
  void (*destroy)(Program*) = library.function("sv_destroy");
  int (*add_constant)(Program*, const float*, const int64_t*, int) = library.function("sv_add_constant");
  int (*add_step)(Program*, const char*, int, int) = library.function("sv_add_step");
  int (*add_branch)(Program*, int, Program*, const int*, Program*, const int*) = library.function("sv_add_branch");
  int (*set_outputs)(Program*, const int*, int) = library.function("sv_set_outputs");
  int (*run)(const Program*, const VendorTensor*, MakeOutput, void*, const char**) = library.function("sv_run");
};

/// The vendor's name for an operator; null for others than these.
const char* step_of(std::string_view op) { return op == "Add" ? "add" : op == "Mul" ? "mul" : op == "MatMul" ? "matmul" : nullptr; }

bool is_float(const ValueType& type) { return type.is_tensor() && type.tensor().dtype == DType::float32; }

using OwnedProgram = std::unique_ptr<Program, void (*)(Program*)>;

/// A graph as the vendor's program: each value has a number there.
class Lowering {
 public:
  Lowering(const Vendor& vendor, const Graph& graph, const std::vector<ValueId>& inputs)
      : vendor_(vendor), graph_(graph), program_(vendor.create(static_cast<int>(inputs.size())), vendor.destroy) {
    for (size_t i = 0; i < inputs.size(); ++i) numbers_[inputs[i]] = static_cast<int>(i);
  }

  OwnedProgram lower(const std::vector<ValueId>& outputs) {
    for (NodeId id : graph_.topological_order()) add(graph_.node(id));
    std::vector<int> numbers;
    for (ValueId output : outputs) numbers.push_back(number(output));
    checked(vendor_.set_outputs(program_.get(), numbers.data(), static_cast<int>(numbers.size())), "sv_set_outputs");
    return std::move(program_);
  }

 private:
  static int checked(int result, const char* function) {
    return result >= 0 ? result : (fail(ErrorCode::ep_fail, "the sample vendor's {} failed", function), -1);
  }

  int number(ValueId id) {
    if (const auto known = numbers_.find(id); known != numbers_.end()) return known->second;
    const Tensor* constant = graph_.value(id).constant_tensor();
    if (!constant) fail(ErrorCode::ep_fail, "value '{}' has no number", graph_.value(id).name);
    const Shape& shape = constant->shape();
    const int made = vendor_.add_constant(program_.get(), constant->data<float>(), shape.begin(), shape.rank());
    return numbers_[id] = checked(made, "sv_add_constant");
  }

  void add(const Node& node) {
    if (node.op_type == "If") return add_branch(node);
    const int result = vendor_.add_step(program_.get(), step_of(node.op_type), number(node.inputs[0]), number(node.inputs[1]));
    numbers_[node.outputs[0]] = checked(result, "sv_add_step");
  }

  // What a body takes from around it are its program's inputs.
  OwnedProgram lower_body(const Graph& body, std::vector<int>& taken) {
    std::vector<ValueId> inputs;
    for (ValueId id = 0; id < body.value_count(); ++id) {
      if (body.value(id).outer == kNoValue) continue;
      inputs.push_back(id);
      taken.push_back(number(body.value(id).outer));
    }
    return Lowering(vendor_, body, inputs).lower(body.outputs());
  }

  void add_branch(const Node& node) {
    const NodeView view(graph_, node);
    std::vector<int> then_inputs, else_inputs;
    OwnedProgram then_program = lower_body(*view.subgraph("then_branch"), then_inputs);
    OwnedProgram else_program = lower_body(*view.subgraph("else_branch"), else_inputs);
    const int condition = number(node.inputs[0]);
    const int first = vendor_.add_branch(program_.get(), condition, then_program.release(), then_inputs.data(), else_program.release(),
                                         else_inputs.data());
    checked(first, "sv_add_branch");
    for (size_t i = 0; i < node.outputs.size(); ++i) numbers_[node.outputs[i]] = first + static_cast<int>(i);
  }

  const Vendor& vendor_;
  const Graph& graph_;
  OwnedProgram program_;
  std::map<ValueId, int> numbers_;
};

class SampleExecutable final : public kit::Executable {
 public:
  SampleExecutable(std::shared_ptr<const Vendor> vendor, OwnedProgram program) : vendor_(std::move(vendor)), program_(std::move(program)) {}

  void run(std::span<const TensorView> inputs, kit::RunOutputs& outputs) const override {
    std::vector<VendorTensor> tensors;
    for (const TensorView& input : inputs) tensors.push_back({input.raw(), input.shape().begin(), input.rank()});
    struct State {
      kit::RunOutputs& outputs;
      Status status;  // what went wrong in our own function, through which no exception goes
    } state{outputs, {}};
    const MakeOutput make = [](void* raw, int index, const int64_t* dims, int rank) -> float* {
      auto& [into, status] = *static_cast<State*>(raw);
      try {
        return into.make(static_cast<size_t>(index), Shape(dims, dims + rank)).data<float>();
      } catch (...) {
        status = status_of_current_exception();
        return nullptr;
      }
    };
    const char* message = nullptr;
    if (vendor_->run(program_.get(), tensors.data(), make, &state, &message) >= 0) return;
    if (!state.status.ok()) throw Error(state.status.code(), std::string(state.status.message()));
    fail(ErrorCode::ep_fail, "the sample vendor's sv_run failed: {}", message);
  }

 private:
  std::shared_ptr<const Vendor> vendor_;
  OwnedProgram program_;
};

class SampleProvider final : public kit::RegionProvider {
 public:
  explicit SampleProvider(const kit::Options& options)
      : vendor_(std::make_shared<const Vendor>(options.text("library_path"))),
        least_nodes_(static_cast<size_t>(options.integer("least_nodes"))),
        takes_if_(options.flag("take_if")) {}

  Support supports(const NodeView& node) const override {
    if (!node.domain().empty()) return refuse(RhRefusalCode_OP, "it has no operators of domain '{}'", node.domain());
    if (node.op_type() == "If") {
      if (!takes_if_) return refuse(RhRefusalCode_FORCED, "option take_if is 0");
      if (node.constant_input(0)) return refuse(RhRefusalCode_SHAPE, "its condition is constant");
      for (ValueId output : node.node().outputs) {
        if (!is_float(node.graph().value(output).type)) return refuse(RhRefusalCode_TYPE, "it gives float tensors alone");
      }
      return supports_bodies(node);
    }
    if (!step_of(node.op_type())) return refuse(RhRefusalCode_OP, "it runs Add, Mul, MatMul and If");
    for (const int i : {0, 1}) {
      const ValueType& type = node.input_type(i);
      if (!is_float(type)) return refuse(RhRefusalCode_TYPE, "input {} is {}, it runs float tensors", i, type.to_string());
      if (node.op_type() != "MatMul") continue;
      if (!type.tensor().has_rank() || type.tensor().rank() != 2) {
        return refuse(RhRefusalCode_SHAPE, "input {} is {}, its MatMul takes two matrices", i, type.to_string());
      }
    }
    return {};
  }

  size_t least_nodes() const override { return least_nodes_; }

  std::unique_ptr<kit::Executable> compile(const Region& region) override {
    return std::make_unique<SampleExecutable>(vendor_, Lowering(*vendor_, *region.graph, region.inputs).lower(region.outputs));
  }

 private:
  std::shared_ptr<const Vendor> vendor_;
  size_t least_nodes_;
  bool takes_if_;
};

constexpr kit::ProviderKind kSample = {"SampleExecutionProvider", "Roundhouse", 0x5a17, "1.0.0", kOptions, kit::make<SampleProvider>};

}  // namespace

}  // namespace rh::sample

RH_EXPORT_KIT_PROVIDER(rh::sample::kSample)
