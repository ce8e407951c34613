#include "providers/migraphx/program.h"

#include <algorithm>
#include <cstring>

#include "base/memory_file.h"
#include "providers/kit/host/float_environment.h"
#include "providers/kit/regions/host_session.h"

namespace rh::migraphx {

namespace {

/// MIGraphX has no values of rank 0: they have one element.
bool is_shape(const std::vector<size_t>& lengths, const Shape& shape) {
  if (shape.rank() == 0) return std::ranges::all_of(lengths, [](size_t length) { return length == 1; });
  return std::ranges::equal(lengths, shape, [](size_t a, int64_t b) { return static_cast<int64_t>(a) == b; });
}

std::string text_of(const std::vector<size_t>& lengths) { return Shape(lengths.begin(), lengths.end()).to_string(); }

/// Whether elements lie one behind the other.
bool is_packed(const ValueLayout& layout) {
  size_t step = 1;
  for (size_t i = layout.lengths.size(); i-- > 0; step *= layout.lengths[i]) {
    if (layout.lengths[i] > 1 && layout.strides[i] != step) return false;
  }
  return true;
}

/// Elements in order, from where their strides have them.
void gather(const ValueLayout& layout, size_t element, const char* from, char* to) {
  const size_t rank = layout.lengths.size();
  std::vector<size_t> index(rank, 0);
  for (;;) {
    size_t at = 0;
    for (size_t i = 0; i < rank; ++i) at += index[i] * layout.strides[i];
    std::memcpy(to, from + at * element, element);
    to += element;
    size_t axis = rank;
    while (axis > 0 && ++index[axis - 1] == layout.lengths[axis - 1]) index[--axis] = 0;
    if (axis == 0) return;
  }
}

/// MIGraphX's parser takes some attributes for what it does not have, even where they say what goes without saying.
bool is_default(const Node& node, const Attribute& attribute) {
  const std::string_view op = node.op_type, name = attribute.name;
  if (op == "QuantizeLinear" && name == "output_dtype") return attribute.get<int64_t>() && *attribute.get<int64_t>() == 0;
  if (op == "Resize" && name == "keep_aspect_ratio_policy")
    return attribute.get<std::string>() && *attribute.get<std::string>() == "stretch";
  return false;
}

/// Of axes that a run gives MIGraphX ends the process at negative ones, which are made others; a list of none is left out.
void adapt_axes(Graph& graph, NodeId id) {
  const std::vector<ValueId> inputs = graph.node(id).inputs;
  if (inputs.size() < 2 || inputs[1] == kNoValue || graph.value(inputs[1]).constant_tensor()) return;
  const TensorType &x = graph.value(inputs[0]).type.tensor(), &axes = graph.value(inputs[1]).type.tensor();
  if (axes.dims->size() == 1 && axes.dims->front().is_constant(0)) {
    graph.set_input(id, 1, kNoValue);
    graph.mutable_node(id).inputs.pop_back();
    return;
  }
  Tensor rank(DType::int64, Shape{1});
  *rank.data<int64_t>() = x.rank();
  Node node;
  node.op_type = "Mod";
  node.inputs = {inputs[1], graph.add_initializer("", Value(std::move(rank)))};
  node.outputs = {graph.add_value("", graph.value(inputs[1]).type)};
  graph.set_input(id, 1, node.outputs[0]);
  graph.add_node(std::move(node));
}

/// Says what MIGraphX takes otherwise in its way.
void adapt(Graph& graph) {
  for (NodeId id : graph.nodes()) {
    Node& node = graph.mutable_node(id);
    std::erase_if(node.attributes, [&](const Attribute& attribute) { return is_default(node, attribute); });
    if (node.op_type.starts_with("Reduce")) adapt_axes(graph, id);
    Graph::for_each_subgraph(node, [](Graph& body) { adapt(body); });
  }
}

}  // namespace

Source source_of(const kit::Region& given, const kit::PrecisionSettings& precision) {
  kit::Region region = kit::in_precision(given, precision);
  const std::shared_ptr<Graph> graph = region.graph->clone();
  adapt(*graph);
  region.graph = graph;
  Source source;
  for (ValueId id : region.inputs) source.inputs.push_back({graph->value(id).name, graph->value(id).type.tensor()});
  for (ValueId id : region.outputs) source.outputs.push_back({graph->value(id).name, graph->value(id).type.tensor()});
  source.reshapes = std::ranges::any_of(graph->nodes(), [&](NodeId id) {
    const Node& node = graph->node(id);
    return node.op_type == "Reshape" && !graph->value(node.inputs[1]).constant_tensor();
  });
  source.model = kit::model_of(region);
  return source;
}

Owned<Program> parse(const Runtime& runtime, const Source& source, std::span<const Shape> shapes) {
  const kit::DefaultFloatEnvironment floats;
  const Api& api = runtime.api();
  const auto options = runtime.make("onnx_options", api.onnx_options_destroy, api.onnx_options_create);
  for (size_t i = 0; i < shapes.size(); ++i) {
    std::vector<size_t> lengths(shapes[i].begin(), shapes[i].end());
    if (lengths.empty()) continue;
    runtime.call("input_parameter_shape", api.onnx_options_set_input_parameter_shape, options.get(), source.inputs[i].name.c_str(),
                 lengths.data(), lengths.size());
  }
  return runtime.make("parser", api.program_destroy, api.parse_onnx_buffer, static_cast<const void*>(source.model.data()),
                      source.model.size(), options.get());
}

void check_outputs(const Runtime& runtime, Program& program, const Source& source, std::span<const Shape> shapes) {
  const Api& api = runtime.api();
  const auto given = runtime.make("output_shapes", api.shapes_destroy, api.program_get_output_shapes, &program);
  size_t count = 0;
  runtime.call("shapes_size", api.shapes_size, &count, given.get());
  if (count != source.outputs.size()) fail(ErrorCode::ep_fail, "MIGraphX gives {} outputs, expected {}", count, source.outputs.size());
  for (size_t i = 0; i < count; ++i) {
    const VendorShape* shape = nullptr;
    runtime.call("shapes_get", api.shapes_get, &shape, given.get(), i);
    const ValueLayout layout = runtime.layout_of(*shape);
    const Port& port = source.outputs[i];
    if (layout.is_dynamic && source.reshapes) {
      fail(ErrorCode::ep_fail, "'{}' is reshaped by what a run gives, of which MIGraphX does not take 0 and -1", port.name);
    }
    if (!layout.is_dynamic && !is_shape(layout.lengths, shapes[i])) {
      fail(ErrorCode::ep_fail, "MIGraphX gives '{}' the shape {}, expected {}", port.name, text_of(layout.lengths), shapes[i].to_string());
    }
    if (layout.type != runtime.number_of(port.type.dtype)) {
      fail(ErrorCode::ep_fail, "MIGraphX gives '{}' another type (its number {}), expected {}", port.name, layout.type,
           to_string(port.type.dtype));
    }
  }
}

CompiledProgram::CompiledProgram(std::shared_ptr<const Shared> shared, Owned<Program> parsed, const Source& source,
                                 std::vector<Shape> shapes)
    : shared_(std::move(shared)),
      program_(std::move(parsed)),
      shapes_(std::move(shapes)),
      parameters_(nullptr, nullptr),
      bytes_(source.model.size()) {
  const kit::DefaultFloatEnvironment floats;
  const Runtime& runtime = shared_->runtime;
  const Api& api = runtime.api();
  const auto options = runtime.make("compile_options", api.compile_options_destroy, api.compile_options_create);
  runtime.call("offload_copy", api.compile_options_set_offload_copy, options.get(), true);  // runs give and take host memory
  runtime.call("exhaustive_tune", api.compile_options_set_exhaustive_tune_flag, options.get(), shared_->settings.is_tuned);
  runtime.call("compiler", api.program_compile, program_.get(), runtime.target(), options.get());
  read_parameters(source);
}

CompiledProgram::CompiledProgram(std::shared_ptr<const Shared> shared, std::string_view bytes, const Source& source,
                                 std::vector<Shape> shapes)
    : shared_(std::move(shared)),
      program_(nullptr, nullptr),
      shapes_(std::move(shapes)),
      parameters_(nullptr, nullptr),
      bytes_(bytes.size()) {
  const Runtime& runtime = shared_->runtime;
  const Api& api = runtime.api();
  const MemoryFile file("a compiled program");
  file.write(bytes);
  const auto options = runtime.make("file_options", api.file_options_destroy, api.file_options_create);
  program_ = runtime.make("load", api.program_destroy, api.load, file.path().c_str(), options.get());
  read_parameters(source);
}

std::string CompiledProgram::save() const {
  const Api& api = shared_->runtime.api();
  const MemoryFile file("a compiled program");
  const auto options = shared_->runtime.make("file_options", api.file_options_destroy, api.file_options_create);
  shared_->runtime.call("save", api.save, program_.get(), file.path().c_str(), options.get());
  std::string bytes;
  file.append_to(bytes);
  return bytes;
}

// Inputs that nothing takes are no parameters.
void CompiledProgram::read_parameters(const Source& source) {
  const Runtime& runtime = shared_->runtime;
  const Api& api = runtime.api();
  migraphx::check_outputs(runtime, *program_, source, shapes_);
  for (const Port& port : source.outputs) types_.push_back(port.type.dtype);
  parameters_ = runtime.make("parameter_shapes", api.program_parameter_shapes_destroy, api.program_get_parameter_shapes, program_.get());
  size_t count = 0;
  runtime.call("parameter_shapes_size", api.program_parameter_shapes_size, &count, parameters_.get());
  std::vector<const char*> names(count);
  if (count == 0) return;  // what it gives is constant
  runtime.call("parameter_shapes_names", api.program_parameter_shapes_names, names.data(), parameters_.get());
  for (const char* name : names) {
    const auto at = std::ranges::find(source.inputs, name, &Port::name);
    if (at == source.inputs.end()) fail(ErrorCode::ep_fail, "MIGraphX's program takes '{}', which the region does not", name);
    const VendorShape* shape = nullptr;
    runtime.call("parameter_shapes_get", api.program_parameter_shapes_get, &shape, parameters_.get(), name);
    taken_.push_back({name, static_cast<size_t>(at - source.inputs.begin()), shape});
  }
}

void CompiledProgram::run(std::span<const TensorView> inputs, Take take) const {
  const kit::DefaultFloatEnvironment floats;
  const Runtime& runtime = shared_->runtime;
  const Api& api = runtime.api();
  const auto parameters = runtime.make("parameters", api.program_parameters_destroy, api.program_parameters_create);
  std::vector<Owned<Argument>> arguments;
  for (const Parameter& parameter : taken_) {
    void* data = const_cast<void*>(inputs[parameter.input].raw());
    arguments.push_back(runtime.make("argument", api.argument_destroy, api.argument_create, parameter.shape, data));
    runtime.call("parameters_add", api.program_parameters_add, parameters.get(), parameter.name.c_str(),
                 static_cast<const Argument*>(arguments.back().get()));
  }
  const std::lock_guard one_at_a_time(running_);
  const auto results = runtime.make("run", api.arguments_destroy, api.program_run, program_.get(), parameters.get());
  size_t count = 0;
  runtime.call("arguments_size", api.arguments_size, &count, results.get());
  if (count != shapes_.size()) fail(ErrorCode::ep_fail, "MIGraphX gives {} outputs, expected {}", count, shapes_.size());
  for (size_t i = 0; i < count; ++i) {
    const Argument* result = nullptr;
    runtime.call("arguments_get", api.arguments_get, &result, results.get(), i);
    give(*result, i, take);
  }
}

void CompiledProgram::give(const Argument& result, size_t index, Take take) const {
  const Runtime& runtime = shared_->runtime;
  const VendorShape* shape = nullptr;
  char* data = nullptr;
  runtime.call("argument_shape", runtime.api().argument_shape, &shape, &result);
  runtime.call("argument_buffer", runtime.api().argument_buffer, &data, &result);
  const ValueLayout layout = runtime.layout_of(*shape);
  if (!is_shape(layout.lengths, shapes_[index])) {
    fail(ErrorCode::ep_fail, "MIGraphX gives output {} the shape {}, expected {}", index, text_of(layout.lengths),
         shapes_[index].to_string());
  }
  if (is_packed(layout)) return take(index, TensorView(types_[index], shapes_[index], data));
  Tensor packed(types_[index], shapes_[index]);
  gather(layout, bytes_of(types_[index], 1), data, packed.data<char>());
  take(index, packed.view());
}

}  // namespace rh::migraphx
