#include "graph/text_print.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <complex>

#include "graph/text_syntax.h"
#include "tensor/dispatch.h"

namespace rh {

namespace {

using text::name_text;
using text::quote;

std::string indent(int depth) { return std::string(static_cast<size_t>(2 * depth), ' '); }

// The shortest digits that read back as the same number.
template <typename T>
std::string number_text(T value) {
  if (std::isinf(value)) return value < 0 ? "-inf" : "inf";
  return fmt::format("{}", value);
}

std::string float_text(float value) {
  constexpr uint32_t kQuietNan = 0x7fc00000;
  if (std::isnan(value)) {
    const uint32_t bits = std::bit_cast<uint32_t>(value);
    return bits == kQuietNan ? "nan" : fmt::format("{:#x}", bits);
  }
  return number_text(value);
}

// As float_text, but never to be taken for an integer.
std::string attribute_float_text(float value) {
  std::string text = float_text(value);
  return text.find_first_of(".enx") == std::string::npos ? text + ".0" : text;
}

template <typename T>
void append_elements(std::string& out, const TensorView& view) {
  const T* data = view.data<T>();
  for (int64_t i = 0; i < view.elements(); ++i) {
    if (i) out += ", ";
    if constexpr (std::is_same_v<T, std::string>) {
      out += quote(data[i]);
    } else if constexpr (std::is_same_v<T, std::complex<float>> || std::is_same_v<T, std::complex<double>>) {
      out += number_text(data[i].real()) + ", " + number_text(data[i].imag());
    } else if constexpr (std::is_same_v<T, double>) {
      out += std::isnan(data[i]) ? "nan" : number_text(data[i]);
    } else if constexpr (std::is_same_v<T, float>) {
      out += float_text(data[i]);
    } else if constexpr (std::is_integral_v<T>) {
      out += fmt::format("{}", +data[i]);
    } else {
      const float value = data[i];
      out += std::isnan(value) ? "nan" : number_text(value);
    }
  }
}

void append_packed(std::string& out, const TensorView& view) {
  for (int64_t i = 0; i < view.elements(); ++i) {
    if (i) out += ", ";
    out += is_integer(view.dtype()) ? fmt::format("{}", element_as_int(view, i)) : number_text(element_as_float(view, i));
  }
}

// Whether all elements have the same bytes.
bool is_uniform(const TensorView& view) {
  const size_t count = static_cast<size_t>(view.elements()), size = count == 0 ? 0 : view.bytes() / count;
  if (bits_of(view.dtype()) < 8 || view.dtype() == DType::complex64 || view.dtype() == DType::complex128) return false;
  const char* bytes = static_cast<const char*>(view.raw());
  return std::equal(bytes + size, bytes + view.bytes(), bytes);
}

std::string elements_text(const Tensor& tensor, const PrintOptions& options) {
  constexpr int64_t kLeastUniform = 8;
  TensorView view = tensor.view();
  if (!tensor.device().is_host()) return "{...}";
  const Shape one{1};
  const bool uniform = view.elements() >= kLeastUniform && is_uniform(view);
  const Tensor first = uniform ? tensor.part(0, one).clone() : Tensor();  // what lies in a file may do so at any address
  if (uniform) view = first.view();
  if (options.max_elements >= 0 && view.elements() > options.max_elements) return "{...}";
  std::string out = "{";
  if (bits_of(view.dtype()) < 8 && view.dtype() != DType::string) {
    append_packed(out, view);
  } else {
    using Listed = Concat<RealTypes, Types<std::string, std::complex<float>, std::complex<double>>>;
    dispatch_or_throw<Listed>(view.dtype(), "printing", [&]<typename T>() { append_elements<T>(out, view); });
  }
  return out + (uniform ? ", ...}" : "}");
}

std::string tensor_text(const Tensor& tensor, const PrintOptions& options) {
  if (!tensor.defined()) return "undefined";
  const SymbolicShape dims(tensor.shape().begin(), tensor.shape().end());
  return print(ValueType::tensor(tensor.dtype(), dims)) + " " + elements_text(tensor, options);
}

// Without the type: "coo(float[2] {1, 2}, int64[2] {0, 5})".
std::string sparse_content_text(const SparseTensor& sparse, const PrintOptions& options) {
  static constexpr const char* kFormats[] = {"undefined", "coo", "csr", "block"};
  std::string out = std::string(kFormats[static_cast<int>(sparse.format)]) + "(" + tensor_text(sparse.values, options) + ", " +
                    tensor_text(sparse.indices, options);
  if (sparse.format == SparseTensor::Format::csr) out += ", " + tensor_text(sparse.outer_indices, options);
  return out + ")";
}

ValueType type_of(const SparseTensor& sparse) {
  return ValueType::sparse({sparse.dtype, SymbolicShape(sparse.dense_shape.begin(), sparse.dense_shape.end())});
}

std::string dims_text(const TensorType& type) {
  std::string out(type.dtype == DType::undefined ? "undefined" : to_string(type.dtype));
  return out + (type.dims ? to_string(*type.dims) : "[...]");
}

class Printer {
 public:
  explicit Printer(const PrintOptions& options) : options_(options) {}

  std::string graph(const Graph& g, int depth) const {
    std::string out = name_text(g.name) + " (";
    for (size_t i = 0; i < g.inputs().size(); ++i) out += (i ? ", " : "") + declaration(g.value(g.inputs()[i]));
    out += ") => (";
    for (size_t i = 0; i < g.outputs().size(); ++i) {
      const GraphValue& value = g.value(g.outputs()[i]);
      out += (i ? ", " : "") + print(value.type) + " " + name_text(value.name);
    }
    out += ")";
    const std::vector<std::string> declared = declarations(g);
    if (!declared.empty()) {
      out += "\n" + indent(depth) + "<\n";
      for (size_t i = 0; i < declared.size(); ++i) out += indent(depth + 1) + declared[i] + (i + 1 < declared.size() ? ",\n" : "\n");
      out += indent(depth) + ">";
    }
    out += "\n" + indent(depth) + "{\n";
    for (NodeId id : order(g)) out += node(g, g.node(id), depth + 1);
    return out + indent(depth) + "}";
  }

 private:
  static std::vector<NodeId> order(const Graph& g) {
    try {
      return g.topological_order();
    } catch (const Error&) {
      return g.nodes();  // a graph with a cycle is printed too: errors show it
    }
  }

  std::string declaration(const GraphValue& value) const {
    std::string out = print(value.type) + " " + name_text(value.name);
    if (value.initializer.is_tensor()) out += " = " + elements_text(value.initializer.tensor(), options_);
    if (value.initializer.is_sparse()) out += " = " + sparse_content_text(value.initializer.sparse(), options_);
    return out;
  }

  std::vector<std::string> declarations(const Graph& g) const {
    std::vector<std::string> out;
    for (ValueId id = 0; id < g.value_count(); ++id) {
      const GraphValue& value = g.value(id);
      if (value.is_input || value.outer != kNoValue) continue;
      const bool typed = options_.types && value.producer != kNoNode && !value.is_output && !value.type.is_unknown();
      if (!value.initializer.empty() || typed) out.push_back(declaration(value));
    }
    return out;
  }

  static std::string values(const Graph& g, const std::vector<ValueId>& ids) {
    std::string out;
    for (size_t i = 0; i < ids.size(); ++i) out += (i ? ", " : "") + (ids[i] == kNoValue ? "_" : name_text(g.value(ids[i]).name));
    return out;
  }

  std::string node(const Graph& g, const Node& n, int depth) const {
    std::string out = indent(depth);
    if (!n.name.empty()) out += "[" + name_text(n.name) + "] ";
    out += (n.outputs.empty() ? "_" : values(g, n.outputs)) + " = " + text::op_text(n.domain, n.op_type);
    const auto import = g.opset_imports.find(n.domain);
    if (n.opset != (import == g.opset_imports.end() ? 1 : import->second)) out += fmt::format("@{}", n.opset);
    if (!n.attributes.empty()) {
      out += " <";
      for (size_t i = 0; i < n.attributes.size(); ++i) out += (i ? ", " : "") + attribute(n.attributes[i], depth);
      out += ">";
    }
    return out + " (" + values(g, n.inputs) + ")\n";
  }

  template <typename T, typename Print>
  static std::string list(const char* kind, const std::vector<T>& items, Print&& print_item) {
    std::string out = items.empty() ? std::string(": ") + kind + " = [" : " = [";
    for (size_t i = 0; i < items.size(); ++i) out += (i ? ", " : "") + print_item(items[i]);
    return out + "]";
  }

  std::string attribute(const Attribute& a, int depth) const {
    const auto tensor = [&](const Tensor& t) { return tensor_text(t, options_); };
    const auto sparse = [&](const SparseTensor& s) { return print(type_of(s)) + " " + sparse_content_text(s, options_); };
    const auto subgraph = [&](const std::shared_ptr<Graph>& g) { return graph(*g, depth); };
    const auto type = [&](const ValueType& t) { return "type(" + print(t) + ")"; };
    const std::string name = name_text(a.name);
    if (const auto* v = a.get<int64_t>()) return name + fmt::format(" = {}", *v);
    if (const auto* v = a.get<float>()) return name + " = " + attribute_float_text(*v);
    if (const auto* v = a.get<std::string>()) return name + " = " + quote(*v);
    if (const auto* v = a.get<Tensor>()) return name + " = " + tensor(*v);
    if (const auto* v = a.get<SparseTensor>()) return name + " = " + sparse(*v);
    if (const auto* v = a.get<std::shared_ptr<Graph>>()) return name + " = " + subgraph(*v);
    if (const auto* v = a.get<ValueType>()) return name + " = " + type(*v);
    if (const auto* v = a.get<AttributeReference>()) return name + " = @" + name_text(v->name);
    if (const auto* v = a.get<std::vector<int64_t>>()) return name + list("ints", *v, [](int64_t i) { return fmt::format("{}", i); });
    if (const auto* v = a.get<std::vector<float>>()) return name + list("floats", *v, attribute_float_text);
    if (const auto* v = a.get<std::vector<std::string>>()) return name + list("strings", *v, quote);
    if (const auto* v = a.get<std::vector<Tensor>>()) return name + list("tensors", *v, tensor);
    if (const auto* v = a.get<std::vector<SparseTensor>>()) return name + list("sparse_tensors", *v, sparse);
    if (const auto* v = a.get<std::vector<std::shared_ptr<Graph>>>()) return name + list("graphs", *v, subgraph);
    if (const auto* v = a.get<std::vector<ValueType>>()) return name + list("types", *v, type);
    return name;
  }

  const PrintOptions& options_;
};

std::string opset_import_text(const Graph& graph) {
  std::string out = "opset_import: [";
  for (auto at = graph.opset_imports.begin(); at != graph.opset_imports.end(); ++at) {
    out += (at == graph.opset_imports.begin() ? "" : ", ") + quote(at->first) + fmt::format(" : {}", at->second);
  }
  return out + "]";
}

}  // namespace

std::string print(const ValueType& type) {
  switch (type.kind()) {
    case ValueType::Kind::unknown: return "?";
    case ValueType::Kind::tensor: return dims_text(type.tensor());
    case ValueType::Kind::sparse_tensor: return "sparse_tensor(" + dims_text(type.tensor()) + ")";
    case ValueType::Kind::sequence: return "seq(" + print(type.element()) + ")";
    case ValueType::Kind::optional: return "optional(" + print(type.element()) + ")";
    case ValueType::Kind::map: return "map(" + std::string(to_string(type.key())) + ", " + print(type.element()) + ")";
    case ValueType::Kind::opaque: return "opaque(" + quote(type.opaque_name()) + ")";
  }
  return "?";
}

std::string print(const Graph& graph, const PrintOptions& options) {
  return "<" + opset_import_text(graph) + ">\n" + Printer(options).graph(graph, 0) + "\n";
}

std::string print(const Model& model, const PrintOptions& options) {
  std::string out = fmt::format("<ir_version: {}, {}", model.ir_version, opset_import_text(*model.graph));
  if (model.model_version != kNoModelVersion) out += fmt::format(", model_version: {}", model.model_version);
  const auto add = [&](const char* key, const std::string& value) {
    if (!value.empty()) out += std::string(", ") + key + ": " + quote(value);
  };
  add("producer_name", model.producer_name);
  add("producer_version", model.producer_version);
  add("domain", model.domain);
  add("doc_string", model.description);
  add("graph_doc_string", model.graph_description);
  for (size_t i = 0; i < model.metadata.size(); ++i) {
    out += (i ? ", " : ", metadata_props: [") + quote(model.metadata[i].first) + " : " + quote(model.metadata[i].second);
  }
  if (!model.metadata.empty()) out += "]";
  return out + ">\n" + Printer(options).graph(*model.graph, 0) + "\n";
}

}  // namespace rh
