// Operators that kernels run by themselves.
#include <bit>
#include <map>
#include <mutex>

#include "abi/element_type.h"
#include "abi/graph_view.h"
#include "capi/guard.h"
#include "capi/table.h"
#include "ops/schema.h"
#include "providers/cpu/kernel.h"
#include "providers/plugin/kernel_context.h"

/// An operator of the CPU, ready for inputs of any type that it takes. Used by several threads.
struct OrtOp {
  /// A kernel, and the node that it was made from.
  struct Prepared {
    rh::Graph graph;
    std::vector<rh::DType> output_dtypes;
    std::unique_ptr<rh::Kernel> kernel;
  };

  std::string op_type, domain;
  int version = 0;
  std::vector<rh::Attribute> attributes;
  size_t inputs = 0, outputs = 0;

  /// The kernel for inputs of these element types, kept for the next call; undefined: left out. Throws Error.
  const Prepared& prepared(const std::vector<rh::DType>& dtypes);

 private:
  std::unique_ptr<Prepared> prepare(const std::vector<rh::DType>& dtypes) const;

  std::mutex mutex_;
  std::map<std::vector<rh::DType>, std::unique_ptr<Prepared>> kernels_;
};

const OrtOp::Prepared& OrtOp::prepared(const std::vector<rh::DType>& dtypes) {
  const std::lock_guard lock(mutex_);
  std::unique_ptr<Prepared>& entry = kernels_[dtypes];
  if (!entry) entry = prepare(dtypes);
  return *entry;
}

std::unique_ptr<OrtOp::Prepared> OrtOp::prepare(const std::vector<rh::DType>& dtypes) const {
  auto made = std::make_unique<Prepared>();
  rh::Graph& graph = made->graph;
  graph.opset_imports[domain] = version;
  rh::Node node;
  node.name = op_type;
  node.op_type = op_type;
  node.domain = domain;
  node.opset = version;
  node.attributes = attributes;
  for (rh::DType dtype : dtypes) {
    node.inputs.push_back(dtype == rh::DType::undefined ? rh::kNoValue : graph.add_input("", rh::ValueType::tensor(dtype)));
  }
  for (size_t i = 0; i < outputs; ++i) node.outputs.push_back(graph.add_value(""));
  const rh::NodeId id = graph.add_node(std::move(node));
  rh::infer_types(graph, {.unknown_operators_are_errors = true});
  for (rh::ValueId output : graph.node(id).outputs) {
    const rh::ValueType& type = graph.value(output).type;
    made->output_dtypes.push_back(type.is_tensor() ? type.tensor().dtype : rh::DType::undefined);
  }
  const rh::NodeView view(graph, graph.node(id));
  made->kernel = rh::cpu::make_kernel(rh::cpu::KernelInfo(view));
  return made;
}

namespace rh::capi {

namespace {

size_t count_of(int count, const char* argument) {
  if (count < 0) fail(ErrorCode::invalid_argument, "argument '{}' is {}, expected at least 0", argument, count);
  return static_cast<size_t>(count);
}

/// The element types of the inputs as far as the caller's type parameters and the operator say them.
std::vector<DType> declared_dtypes(const ops::OpSchema& schema, size_t inputs, const std::map<std::string_view, DType>& parameters) {
  std::vector<DType> dtypes;
  for (size_t i = 0; i < inputs; ++i) {
    const ops::Port* port = schema.input(static_cast<int>(i));
    DType dtype = DType::undefined;
    if (port) {
      const auto given = parameters.find(port->type);
      if (given != parameters.end()) {
        dtype = given->second;
      } else if (std::has_single_bit(port->allowed->tensor)) {
        dtype = static_cast<DType>(std::countr_zero(port->allowed->tensor));
      }
    }
    dtypes.push_back(dtype);
  }
  return dtypes;
}

/// What the kernel gave, where the caller is to have it.
void hand_over(Value result, OrtValue& to, size_t index) {
  if (!to.value.is_tensor()) {
    to.value = std::move(result);
    return;
  }
  Tensor& target = to.value.tensor();
  if (!result.is_tensor() || result.tensor().dtype() != target.dtype() || result.tensor().shape() != target.shape()) {
    fail(ErrorCode::invalid_argument, "output {} is {}{}, but the value given for it is {}{}", index,
         result.is_tensor() ? to_string(result.tensor().dtype()) : "no tensor",
         result.is_tensor() ? result.tensor().shape().to_string() : "", to_string(target.dtype()), target.shape().to_string());
  }
  if (result.tensor().raw() != target.raw()) copy_elements(result.tensor().view(), target.mutable_view());
}

}  // namespace

OrtStatus* ORT_API_CALL CreateOp(const OrtKernelInfo* info, const char* name, const char* domain, int version, const char** parameter_names,
                                 const ONNXTensorElementDataType* parameter_types, int parameter_count, const OrtOpAttr* const* attributes,
                                 int attribute_count, int input_count, int output_count, OrtOp** out) {
  return guard([&] {
    checked(info, "info");
    checked(out, "ort_op") = nullptr;
    auto op = std::make_unique<OrtOp>();
    op->op_type = &checked(name, "op_name");
    op->domain = domain && std::string_view(domain) != "ai.onnx" ? domain : "";
    op->version = version;
    op->inputs = count_of(input_count, "input_count");
    op->outputs = count_of(output_count, "output_count");
    checked_array(attributes, count_of(attribute_count, "attr_count"), "attr_values");
    for (int i = 0; i < attribute_count; ++i) op->attributes.push_back(checked(attributes[i], "attr_values[i]").attribute);
    const ops::OpSchema* schema = ops::find_schema(op->domain, op->op_type, version);
    if (schema) std::erase_if(op->attributes, [&](const Attribute& given) { return !schema->attribute(given.name); });
    if (!schema) {
      fail(ErrorCode::invalid_argument, "CreateOp: there is no operator '{}' in version {} of domain '{}'", op->op_type, version,
           op->domain);
    }
    checked_array(parameter_names, count_of(parameter_count, "type_constraint_count"), "type_constraint_names");
    checked_array(parameter_types, count_of(parameter_count, "type_constraint_count"), "type_constraint_values");
    std::map<std::string_view, DType> parameters;
    for (int i = 0; i < parameter_count; ++i) {
      parameters[&checked(parameter_names[i], "type_constraint_names[i]")] = abi::to_dtype(parameter_types[i]);
    }
    const std::vector<DType> dtypes = declared_dtypes(*schema, op->inputs, parameters);
    if (std::ranges::find(dtypes, DType::undefined) == dtypes.end()) op->prepared(dtypes);
    *out = op.release();
  });
}

OrtStatus* ORT_API_CALL InvokeOp(const OrtKernelContext* context, const OrtOp* op, const OrtValue* const* inputs, int input_count,
                                 OrtValue* const* outputs, int output_count) {
  return guard([&] {
    const OrtKernelContext& source = checked(context, "context");
    OrtOp& target = checked(const_cast<OrtOp*>(op), "ort_op");
    const size_t given = count_of(input_count, "input_count"), wanted = count_of(output_count, "output_count");
    if (given > target.inputs || wanted > target.outputs) {
      fail(ErrorCode::invalid_argument, "{}: {} inputs and {} outputs were given, it was made with {} and {}", target.op_type, given,
           wanted, target.inputs, target.outputs);
    }
    checked_array(inputs, given, "input_values");
    checked_array(outputs, wanted, "output_values");
    std::vector<const Value*> values(target.inputs, nullptr);
    std::vector<DType> dtypes(target.inputs, DType::undefined);
    for (size_t i = 0; i < given; ++i) {
      if (!inputs[i]) continue;
      if (!inputs[i]->value.is_tensor()) fail(ErrorCode::invalid_argument, "{}: input {} is no tensor", target.op_type, i);
      values[i] = &inputs[i]->value;
      dtypes[i] = inputs[i]->value.tensor().dtype();
    }
    const OrtOp::Prepared& prepared = target.prepared(dtypes);
    const std::unique_ptr<bool[]> is_wanted(new bool[target.outputs + 1]());
    std::vector<Value> results(target.outputs);
    for (size_t i = 0; i < wanted; ++i) {
      is_wanted[i] = true;
      results[i] = checked(outputs[i], "output_values[i]").value;
    }
    try {
      cpu::run_alone(*prepared.kernel, values, prepared.output_dtypes, {is_wanted.get(), target.outputs}, results, source.run.parallel());
    } catch (Error& error) {
      error.add({.file = {}, .node = {}, .op = target.op_type, .tensor = {}});
      throw;
    }
    for (size_t i = 0; i < wanted; ++i) hand_over(std::move(results[i]), *outputs[i], i);
  });
}

void ORT_API_CALL ReleaseOp(OrtOp* op) { delete op; }

}  // namespace rh::capi
