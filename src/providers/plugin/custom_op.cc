#include "providers/plugin/custom_op.h"

#include <algorithm>
#include <utility>

#include "abi/allocator.h"
#include "abi/element_type.h"
#include "base/known_words.h"
#include "providers/plugin/call.h"
#include "providers/plugin/kernel_context.h"
#include "providers/plugin/kernel_info.h"

OrtShapeInferContext::OrtShapeInferContext(const rh::NodeView& of, size_t output_count) : node(of), outputs(output_count) {
  for (int i = 0; i < node.input_count(); ++i) {
    const rh::ValueType& type = node.input_type(i);
    inputs.push_back(rh::abi::tensor_info_of(type.is_tensor() ? type.tensor() : rh::TensorType()));
  }
}

const OrtOpAttr& OrtShapeInferContext::attribute(std::string_view name) {
  const rh::Attribute* found = node.node().attribute(name);
  if (!found) rh::fail(rh::ErrorCode::invalid_argument, "there is no attribute '{}'", name);
  return *attributes_.emplace_back(new OrtOpAttr{*found});
}

namespace rh::plugin {

namespace {

// The versions of the interface that brought what came after the first fields of OrtCustomOp.
constexpr uint32_t kOptional = 8, kMemoryTypes = 13, kVariadic = 14, kStatuses = 16, kShapes = 17, kAliases = 18;

using Pairs = std::vector<std::pair<int, int>>;

/// Input and output numbers from a pair of arrays that the operator owns.
Pairs read_pairs(size_t(ORT_API_CALL* get)(int**, int**), void(ORT_API_CALL* release)(int*, int*)) {
  Pairs pairs;
  if (!get) return pairs;
  int *inputs = nullptr, *outputs = nullptr;
  const size_t count = get(&inputs, &outputs);
  for (size_t i = 0; inputs && outputs && i < count; ++i) pairs.emplace_back(inputs[i], outputs[i]);
  if (release) release(inputs, outputs);
  return pairs;
}

class CustomOpKernel final : public Kernel {
 public:
  CustomOpKernel(const CustomOp& op, std::unique_ptr<OrtKernelInfo> info, std::shared_ptr<const CustomOpHost> host, KernelPlace place)
      : op_(op.table()), name_("custom operator " + op.text()), host_(std::move(host)), info_(std::move(info)), place_(std::move(place)) {
    place_.logger = host_->logger.get();
    if (op_.version >= kAliases) {
      for (const auto& [input, output] : read_pairs(op_.GetMayInplace, op_.ReleaseMayInplace)) add_alias(input, output);
      for (const auto& [input, output] : read_pairs(op_.GetAliasMap, op_.ReleaseAliasMap)) {
        add_alias(input, output);
        place_.same_memory.emplace_back(input, output);
      }
    }
    create();
  }
  ~CustomOpKernel() override {
    if (kernel_ && op_.KernelDestroy) tell([&] { op_.KernelDestroy(kernel_); });
  }

  Status run(RunContext& run_context) const override {
    OrtKernelContext context(run_context, place_);
    if (returns_status(op_.KernelComputeV2)) {
      return try_call(name_, "KernelComputeV2", [&] { return op_.KernelComputeV2(kernel_, &context); });
    }
    return try_call(name_, "KernelCompute", [&]() -> OrtStatus* {
      op_.KernelCompute(kernel_, &context);
      return nullptr;
    });
  }
  std::span<const Alias> aliases() const override { return aliases_; }

 private:
  template <typename F>
  bool returns_status(F function) const {
    return op_.version >= kStatuses && function != nullptr;
  }

  void add_alias(int input, int output) {
    const Node& node = *info_->node;
    if (input < 0 || output < 0 || static_cast<size_t>(input) >= node.inputs.size() || static_cast<size_t>(output) >= node.outputs.size()) {
      return;
    }
    aliases_.push_back({output, input, Alias::Kind::in_place});
  }

  void create() {
    const OrtApi* api = host_->api->GetApi(std::min<uint32_t>(op_.version, ORT_API_VERSION));
    const bool with_status = returns_status(op_.CreateKernelV2);
    if (!with_status && !op_.CreateKernel) fail(ErrorCode::fail, "{}: its OrtCustomOp has no CreateKernel", name_);
    if (!returns_status(op_.KernelComputeV2) && !op_.KernelCompute)
      fail(ErrorCode::fail, "{}: its OrtCustomOp has no KernelCompute", name_);
    call(name_, with_status ? "CreateKernelV2" : "CreateKernel", [&]() -> OrtStatus* {
      if (with_status) return op_.CreateKernelV2(&op_, api, info_.get(), &kernel_);
      kernel_ = op_.CreateKernel(&op_, api, info_.get());
      return nullptr;
    });
  }

  const OrtCustomOp& op_;
  std::string name_;
  std::shared_ptr<const CustomOpHost> host_;
  std::unique_ptr<OrtKernelInfo> info_;
  KernelPlace place_;
  std::vector<Alias> aliases_;
  void* kernel_ = nullptr;
};

std::string type_text(DType dtype) { return dtype == DType::undefined ? "any type" : "tensor(" + std::string(to_string(dtype)) + ")"; }

Dim dim_of(const OrtTensorTypeAndShapeInfo& info, size_t i) {
  if (i < info.dim_params.size() && !info.dim_params[i].empty()) return Dim::symbol(info.dim_params[i]);
  return info.dims[i] >= 0 ? Dim(info.dims[i]) : Dim();
}

bool has_dtype(const ValueType& type) { return type.is_tensor() && type.tensor().dtype != DType::undefined; }

}  // namespace

// What the operator says of itself

CustomOp::CustomOp(std::string domain, const OrtCustomOp& op) : op_(op), domain_(domain == "ai.onnx" ? "" : std::move(domain)) {
  const char* name = op.GetName ? ask<const char*>(nullptr, [&] { return op.GetName(&op); }) : nullptr;
  if (!name || !*name) fail(ErrorCode::invalid_argument, "custom operators: one of domain '{}' has no name", domain_);
  name_ = name;
  if (op.version < 1 || op.version > ORT_API_VERSION) {
    fail(ErrorCode::invalid_argument, "custom operator {} was built for version {} of the interface, expected 1 to {}", text(), op.version,
         ORT_API_VERSION);
  }
  if (!op.GetInputType || !op.GetInputTypeCount || !op.GetOutputType || !op.GetOutputTypeCount) {
    fail(ErrorCode::invalid_argument, "custom operator {}: its OrtCustomOp lacks functions for the types of inputs and outputs", text());
  }
  call("custom operator " + text(), "asking for its inputs and outputs", [&]() -> OrtStatus* {
    const char* provider = op.GetExecutionProviderType ? op.GetExecutionProviderType(&op) : nullptr;
    provider_ = provider && *provider ? provider : "CPUExecutionProvider";
    if (op.version >= kShapes) {
      if (op.GetStartVersion) start_version_ = op.GetStartVersion(&op);
      if (op.GetEndVersion) end_version_ = op.GetEndVersion(&op);
    }
    read_inputs();
    read_outputs();
    return nullptr;
  });
}

void CustomOp::read_inputs() {
  for (size_t i = 0; i < op_.GetInputTypeCount(&op_); ++i) {
    Port& port = inputs_.list.emplace_back();
    port.dtype = abi::to_dtype(op_.GetInputType(&op_, i));
    if (op_.version >= kOptional && op_.GetInputCharacteristic) port.characteristic = op_.GetInputCharacteristic(&op_, i);
    if (op_.version >= kMemoryTypes && op_.GetInputMemoryType) port.on_host = op_.GetInputMemoryType(&op_, i) != OrtMemTypeDefault;
  }
  read_variadic(inputs_, "input", op_.version >= kVariadic ? op_.GetVariadicInputMinArity : nullptr,
                op_.version >= kVariadic ? op_.GetVariadicInputHomogeneity : nullptr);
}

void CustomOp::read_outputs() {
  for (size_t i = 0; i < op_.GetOutputTypeCount(&op_); ++i) {
    Port& port = outputs_.list.emplace_back();
    port.dtype = abi::to_dtype(op_.GetOutputType(&op_, i));
    if (op_.version >= kOptional && op_.GetOutputCharacteristic) port.characteristic = op_.GetOutputCharacteristic(&op_, i);
  }
  read_variadic(outputs_, "output", op_.version >= kVariadic ? op_.GetVariadicOutputMinArity : nullptr,
                op_.version >= kVariadic ? op_.GetVariadicOutputHomogeneity : nullptr);
}

void CustomOp::read_variadic(Ports& ports, const char* what, int(ORT_API_CALL* min_arity)(const OrtCustomOp*),
                             int(ORT_API_CALL* homogeneity)(const OrtCustomOp*)) const {
  for (size_t i = 0; i < ports.list.size(); ++i) {
    if (ports.list[i].characteristic != INPUT_OUTPUT_VARIADIC) continue;
    if (i + 1 < ports.list.size()) {
      fail(ErrorCode::invalid_argument, "{} Here it is {} {} of {}", fmt::format(words::kVariadic, what), what, i, ports.list.size());
    }
    if (min_arity) ports.min_variadic = min_arity(&op_);
    if (homogeneity) ports.homogeneous = homogeneity(&op_) != 0;
    if (ports.min_variadic < 0) {
      fail(ErrorCode::invalid_argument, "the least number of variadic {}s is {}, expected at least 0", what, ports.min_variadic);
    }
    if (!ports.homogeneous && ports.list[i].dtype != DType::undefined) {
      fail(ErrorCode::invalid_argument, "variadic {}s of one type ({}) cannot be of different types", what, type_text(ports.list[i].dtype));
    }
  }
}

// Nodes

const CustomOp::Port* CustomOp::Ports::at(size_t index) const {
  if (index < list.size()) return &list[index];
  return !list.empty() && list.back().characteristic == INPUT_OUTPUT_VARIADIC ? &list.back() : nullptr;
}

std::string CustomOp::Ports::count_mismatch(const std::vector<ValueId>& values, const char* what) const {
  const bool variadic = !list.empty() && list.back().characteristic == INPUT_OUTPUT_VARIADIC;
  size_t least = 0;
  for (size_t i = 0; i < list.size(); ++i) {
    if (list[i].characteristic == INPUT_OUTPUT_REQUIRED) least = i + 1;
  }
  if (variadic && min_variadic > 0) least = list.size() - 1 + static_cast<size_t>(min_variadic);
  if (values.size() < least || (!variadic && values.size() > list.size())) {
    const std::string most = variadic ? " or more" : list.size() == least ? "" : fmt::format(" to {}", list.size());
    return fmt::format("takes {}{} {}, the node has {}", least, most, what, values.size());
  }
  for (size_t i = 0; i < list.size() && i < values.size(); ++i) {
    if (values[i] == kNoValue && list[i].characteristic == INPUT_OUTPUT_REQUIRED) {
      return fmt::format("needs {} {}, which the node leaves out", what, i);
    }
  }
  return {};
}

bool CustomOp::is_named_by(const Node& node) const {
  return node.op_type == name_ && (node.domain == "ai.onnx" ? std::string_view() : std::string_view(node.domain)) == domain_;
}

std::string CustomOp::mismatch(const NodeView& node, int since) const {
  if (!is_for_version(since)) {
    const std::string range =
        end_version_ == INT_MAX ? fmt::format("{} and later", start_version_) : fmt::format("{} to {}", start_version_, end_version_);
    return fmt::format("is for versions {}, the node's is {}", range, node.opset());
  }
  std::string wrong = inputs_.count_mismatch(node.node().inputs, "inputs");
  if (wrong.empty()) {
    // Trailing outputs that nobody wants may be left away.
    if (node.node().outputs.size() > outputs_.list.size() && !outputs_.at(node.node().outputs.size() - 1)) {
      return outputs_.count_mismatch(node.node().outputs, "outputs");
    }
    wrong = type_mismatch(node);
  }
  return wrong;
}

std::string CustomOp::type_mismatch(const NodeView& node) const {
  DType variadic = DType::undefined;
  for (int i = 0; i < node.input_count(); ++i) {
    const Port* port = inputs_.at(static_cast<size_t>(i));
    const ValueType& type = node.input_type(i);
    if (!port || !node.has_input(i) || type.is_unknown()) continue;
    if (!type.is_tensor()) {
      if (port->dtype == DType::undefined) continue;
      return fmt::format("takes {} for input {}, found {}", type_text(port->dtype), i, type.to_string());
    }
    const DType dtype = type.tensor().dtype;
    if (dtype == DType::undefined) continue;
    if (port->dtype != DType::undefined && port->dtype != dtype) {
      return fmt::format("takes {} for input {}, found {}", type_text(port->dtype), i, type_text(dtype));
    }
    if (port->characteristic != INPUT_OUTPUT_VARIADIC || !inputs_.homogeneous) continue;
    if (variadic != DType::undefined && variadic != dtype) {
      return fmt::format("takes variadic inputs of one type, found {} and {}", type_text(variadic), type_text(dtype));
    }
    variadic = dtype;
  }
  return {};
}

bool CustomOp::overlaps(const CustomOp& other) const {
  if (name_ != other.name_ || domain_ != other.domain_ || provider_ != other.provider_) return false;
  if (end_version_ < other.start_version_ || other.end_version_ < start_version_) return false;
  const auto same = [](const Ports& a, const Ports& b) {
    return std::ranges::equal(a.list, b.list,
                              [](const Port& x, const Port& y) { return x.dtype == y.dtype && x.characteristic == y.characteristic; });
  };
  return same(inputs_, other.inputs_) && same(outputs_, other.outputs_);
}

uint64_t CustomOp::host_inputs(size_t count) const {
  uint64_t bits = 0;
  for (size_t i = 0; i < count && i < 64; ++i) {
    const Port* port = inputs_.at(i);
    if (port && port->on_host) bits |= uint64_t{1} << i;
  }
  return bits;
}

// Inference

/// The element type of outputs that are said to be of any, and that the model leaves open: that of the first input of any type.
DType CustomOp::dynamic_type(const NodeView& node) const {
  for (int i = 0; i < node.input_count(); ++i) {
    const Port* port = inputs_.at(static_cast<size_t>(i));
    if (port && port->dtype == DType::undefined && node.has_input(i) && node.input_type(i).is_tensor()) {
      return node.input_type(i).tensor().dtype;
    }
  }
  return DType::undefined;
}

void CustomOp::infer(const NodeView& node, InferenceContext& context) const {
  std::vector<ValueType> types;
  for (int i = 0; i < node.output_count(); ++i) {
    const Port* port = outputs_.at(static_cast<size_t>(i));
    const DType declared = port ? port->dtype : DType::undefined;
    const bool is_typed = declared == DType::undefined && node.has_output(i) && has_dtype(node.graph().value(node.node().outputs[i]).type);
    const DType dtype = declared != DType::undefined || is_typed ? declared : dynamic_type(node);
    types.push_back(dtype == DType::undefined ? ValueType() : ValueType::tensor(dtype));
  }
  if (op_.version >= kShapes && op_.InferOutputShapeFn) infer_shapes(node, types);
  for (int i = 0; i < node.output_count(); ++i) context.set_output(i, std::move(types[static_cast<size_t>(i)]));
}

void CustomOp::infer_shapes(const NodeView& node, std::vector<ValueType>& types) const {
  OrtShapeInferContext answer(node, types.size());
  call("custom operator " + text(), "InferOutputShapeFn", [&] { return op_.InferOutputShapeFn(&op_, &answer); });
  for (size_t i = 0; i < types.size(); ++i) {
    const OrtTensorTypeAndShapeInfo& told = answer.outputs[i];
    if (!told.has_shape) continue;
    const Port* port = outputs_.at(i);
    DType dtype = types[i].is_tensor() ? types[i].tensor().dtype : DType::undefined;
    // A type that is told counts for outputs of any type; float is what the interface fills in where none is told.
    const bool is_told = told.type != ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT || dtype == DType::undefined;
    if (port && port->dtype == DType::undefined && is_told) dtype = abi::to_dtype(told.type);
    SymbolicShape dims;
    for (size_t d = 0; d < told.dims.size(); ++d) dims.push_back(dim_of(told, d));
    types[i] = ValueType::tensor(dtype, std::move(dims));
  }
}

std::unique_ptr<Kernel> CustomOp::make_kernel(const Graph& graph, const Node& node, std::shared_ptr<const CustomOpHost> host,
                                              KernelPlace place) const {
  auto info = std::make_unique<OrtKernelInfo>();
  info->graph = &graph;
  info->node = &node;
  for (ValueId input : node.inputs) {
    const Tensor* constant = input == kNoValue ? nullptr : graph.value(input).constant_tensor();
    info->constants.push_back(
        constant ? std::make_shared<const OrtValue>(Value(*constant), constant->device().is_host() ? nullptr : place.memory) : nullptr);
  }
  if (!place.allocator) place.allocator = &abi::default_allocator();
  if (place.memory) info->allocator = place.allocator;
  info->config = &host->config;
  info->logger = host->logger.get();
  info->since_version = start_version_;
  return std::make_unique<CustomOpKernel>(*this, std::move(info), std::move(host), std::move(place));
}

}  // namespace rh::plugin
