#include "onnx/ort_format.h"

#include <algorithm>
#include <charconv>

#include "base/flat_buffer.h"
#include "onnx/located.h"
#include "onnx/scope.h"
#include "onnx/type_reader.h"
#include "ops/schema.h"
#include "tensor/sparse.h"

namespace rh::onnx {

namespace {

using Table = FlatBuffer::Table;

constexpr std::string_view kIdentifier = "ORTM";
constexpr int kNewestVersion = 6;
constexpr int kMaxTypeNesting = 32;

/// The fields of the format's tables, by place. The numbers of element types and of attribute types are those of ONNX.
namespace session_field {
enum { version, model };
}
namespace model_field {
enum { ir_version, opset_imports, producer_name, producer_version, domain, model_version, doc_string, graph, graph_doc_string, metadata };
}
namespace opset_field {
enum { domain, version };
}
namespace entry_field {
enum { key, value };
}
namespace graph_field {
enum { initializers, values, nodes, node_slots, edges, inputs, outputs, sparse_initializers };
}
namespace node_field {
enum { name, doc_string, domain, since_version, index, op_type, kind, provider, inputs, outputs, attributes };
}
namespace value_field {
enum { name, doc_string, type };
}
namespace type_field {
enum { denotation, kind, value };
}
namespace tensor_type_field {
enum { element, shape };
}
namespace sequence_type_field {
enum { element };
}
namespace map_type_field {
enum { key, value };
}
namespace shape_field {
enum { dims };
}
namespace dimension_field {
enum { value };
}
namespace dimension_value_field {
enum { kind, number, symbol };
}
namespace tensor_field {
enum { name, doc_string, dims, element, raw, strings, external_offset };
}
namespace sparse_field {
enum { values, indices, dims };
}
namespace attribute_field {
enum { name, doc_string, type, real, integer, string, tensor, graph, reals, integers, strings, tensors, graphs };
}

enum class TypeKind : uint8_t { none, tensor, sequence, map };
enum class DimKind : int8_t { unknown, number, symbol };

Dim dim_of(const Table& dimension) {
  if (!dimension.has(dimension_field::value)) return {};
  const Table value = dimension.table(dimension_field::value);
  switch (static_cast<DimKind>(value.number<int8_t>(dimension_value_field::kind))) {
    case DimKind::number: {
      const int64_t number = value.number<int64_t>(dimension_value_field::number);
      return number < 0 ? Dim() : Dim(number);
    }
    case DimKind::symbol: {
      const std::string_view name = value.text(dimension_value_field::symbol);
      return name.empty() ? Dim() : Dim::symbol(std::string(name));
    }
    default: return {};
  }
}

TensorType tensor_type_of(const Table& table) {
  TensorType type;
  type.dtype = checked_dtype(table.number<int32_t>(tensor_type_field::element));
  if (!table.has(tensor_type_field::shape)) return type;
  type.dims.emplace();
  for (const Table& dimension : table.table(tensor_type_field::shape).tables(shape_field::dims)) {
    if (type.dims->size() == kMaxRank) fail(ErrorCode::invalid_graph, "a type has more than {} dimensions", kMaxRank);
    type.dims->push_back(dim_of(dimension));
  }
  return type;
}

ValueType type_of(const Table& table, int nesting = 0) {
  if (nesting > kMaxTypeNesting) fail(ErrorCode::invalid_graph, "a type is nested more than {} deep", kMaxTypeNesting);
  const auto kind = static_cast<TypeKind>(table.number<uint8_t>(type_field::kind));
  if (kind == TypeKind::none) return {};
  const Table value = table.table(type_field::value);
  switch (kind) {
    case TypeKind::tensor: return tensor_type_of(value);
    case TypeKind::sequence: return ValueType::sequence_of(type_of(value.table(sequence_type_field::element), nesting + 1));
    case TypeKind::map:
      return ValueType::map_of(checked_dtype(value.number<int32_t>(map_type_field::key)),
                               type_of(value.table(map_type_field::value), nesting + 1));
    default: fail(ErrorCode::not_implemented, "a type is of kind {}, expected a tensor, a sequence or a map", static_cast<int>(kind));
  }
}

Shape shape_of(const Table& table, int field) {
  Shape shape;
  const auto dims = table.numbers<int64_t>(field);
  if (dims.size() > kMaxRank) fail(ErrorCode::invalid_graph, "the tensor has more than {} dimensions", kMaxRank);
  for (const int64_t dim : dims) shape.push_back(dim);
  return shape;
}

Imports imports_of(const Table& model) {
  Imports imports;
  for (const Table& opset : model.tables(model_field::opset_imports))
    add_import(imports, opset.text(opset_field::domain), opset.number<int64_t>(opset_field::version));
  return imports;
}

class OrtReader {
 public:
  OrtReader(TensorReader& tensors, const ReadLimits& limits, int64_t ir_version)
      : tensors_(tensors), limits_(limits), ir_version_(ir_version) {}

  void read_graph(const Table& table, Scope& scope) {
    std::unordered_map<std::string_view, Table> types;
    for (const Table& value : table.tables(graph_field::values)) types.emplace(value.text(value_field::name), value);
    const auto declared = [&](std::string_view name) {
      const auto found = types.find(name);
      if (found == types.end() || !found->second.has(value_field::type)) return ValueType();
      return located([&] { return tensor_where(name); }, [&] { return type_of(found->second.table(value_field::type)); });
    };
    read_initializers(table, scope);
    for (const std::string_view name : table.texts(graph_field::inputs)) {
      located([&] { return tensor_where(name); }, [&] { add_input(name, declared(name), ir_version_, scope); });
    }
    const std::vector<Table> nodes = table.tables(graph_field::nodes);
    for (const Table& node : nodes) {
      for (const std::string_view name : node.texts(node_field::outputs)) {
        if (!name.empty() && !scope.names.contains(name))
          scope.names.emplace(name, scope.graph.add_value(scope.prefix + std::string(name), declared(name)));
      }
    }
    int32_t index = 0;
    for (const Table& node : nodes) read_node(node, index++, scope);
    for (const std::string_view name : table.texts(graph_field::outputs)) add_output(name, scope);
    scope.graph.topological_order();
  }

 private:
  void read_initializers(const Table& table, Scope& scope) {
    for (const Table& tensor : table.tables(graph_field::initializers))
      add_initializer(tensor.text(tensor_field::name), read_tensor(tensor, Alignment::any), scope);
    for (const Table& sparse : table.tables(graph_field::sparse_initializers)) {
      const std::string_view name = sparse.table(sparse_field::values).text(tensor_field::name);
      add_initializer(name, initializer_of(read_sparse(sparse)), scope);
    }
  }

  Tensor read_tensor(const Table& table, Alignment alignment = Alignment::element) {
    const std::string_view name = table.text(tensor_field::name);
    return located([&] { return tensor_where(name); }, [&] { return tensor_of(table, alignment); });
  }

  Tensor tensor_of(const Table& table, Alignment alignment) {
    if (table.number<int64_t>(tensor_field::external_offset, -1) >= 0)
      fail(ErrorCode::not_implemented, "the tensor's data is in another file, expected it in the model");
    const DType dtype = checked_dtype(table.number<int32_t>(tensor_field::element));
    Shape shape = shape_of(table, tensor_field::dims);
    const int64_t elements = checked_elements(shape);
    if (dtype == DType::string) {
      const auto strings = table.texts(tensor_field::strings);
      check_size(strings.size(), static_cast<size_t>(elements), "strings", dtype, shape);
      Tensor tensor(dtype, std::move(shape));
      std::ranges::copy(strings, tensor.data<std::string>());
      return tensor;
    }
    if (dtype == DType::undefined) fail(ErrorCode::invalid_graph, "the tensor has no element type");
    const std::string_view raw = table.bytes(tensor_field::raw);
    check_size(raw.size(), bytes_of(dtype, elements), "bytes", dtype, shape);
    return tensors_.read_raw(dtype, std::move(shape), raw, alignment);
  }

  static void check_size(size_t found, size_t expected, std::string_view unit, DType dtype, const Shape& shape) {
    if (found != expected)
      fail(ErrorCode::invalid_graph, "the tensor has {} {}, expected {} for {}{}", found, unit, expected, to_string(dtype),
           shape.to_string());
  }

  SparseTensor read_sparse(const Table& table) {
    SparseTensor sparse;
    sparse.format = SparseTensor::Format::coo;
    sparse.values = read_tensor(table.table(sparse_field::values));
    sparse.indices = read_tensor(table.table(sparse_field::indices));
    sparse.dense_shape = shape_of(table, sparse_field::dims);
    sparse.dtype = sparse.values.dtype();
    widen_indices(sparse);
    check_coo(sparse);
    return sparse;
  }

  void read_node(const Table& table, int32_t index, Scope& scope) {
    const std::string_view name = table.text(node_field::name), domain = normal_domain(table.text(node_field::domain)),
                           op_type = table.text(node_field::op_type);
    const int imported = imported_version(scope.imports, domain), since = table.number<int32_t>(node_field::since_version);
    const int opset = imported > 0 ? imported : since > 0 ? since : ops::latest_opset(domain) == 0 ? kNewestOfCallers : 0;
    const auto where = [&] {
      return Where{.file = {},
                   .node = name.empty() ? "#" + std::to_string(index) : std::string(name),
                   .op = operator_text(domain, op_type, opset),
                   .tensor = {}};
    };
    located(where, [&] {
      if (op_type.empty()) fail(ErrorCode::invalid_graph, "the node has no operator type");
      if (table.number<int32_t>(node_field::kind) != 0)
        fail(ErrorCode::not_implemented, "the node stands for several that a provider compiled, expected a model saved before that");
      if (opset < 1) fail(ErrorCode::invalid_graph, "the operator is of domain '{}', expected an opset import of that domain", domain);
      Node node;
      node.name = name;
      node.domain = domain;
      node.op_type = op_type;
      node.opset = opset;
      node.inputs = lookup_all(table.texts(node_field::inputs), "input", scope);
      node.outputs = lookup_all(table.texts(node_field::outputs), "output", scope);
      for (const Table& attribute : table.tables(node_field::attributes)) node.attributes.push_back(read_attribute(attribute, scope));
      check_names(node.attributes);
      node.provenance = {
          std::make_shared<const OriginalNode>(OriginalNode{node.name, node.op_type, index, node.domain, node.opset, nullptr})};
      scope.graph.add_node(std::move(node));
    });
  }

  Attribute read_attribute(const Table& table, Scope& scope) {
    namespace field = attribute_field;
    const std::string_view name = table.text(field::name);
    if (name.empty()) fail(ErrorCode::invalid_graph, "an attribute has no name");
    Attribute attribute{std::string(name), {}};
    const int32_t type = table.number<int32_t>(field::type);
    switch (static_cast<AttributeType>(type)) {
      case AttributeType::real: attribute.value = table.number<float>(field::real); break;
      case AttributeType::integer: attribute.value = table.number<int64_t>(field::integer); break;
      case AttributeType::string: attribute.value = std::string(table.text(field::string)); break;
      case AttributeType::tensor: attribute.value = read_tensor(table.table(field::tensor)); break;
      case AttributeType::graph: attribute.value = read_subgraph(table.table(field::graph), scope); break;
      case AttributeType::reals: attribute.value = table.numbers<float>(field::reals); break;
      case AttributeType::integers: attribute.value = table.numbers<int64_t>(field::integers); break;
      case AttributeType::strings: {
        const auto strings = table.texts(field::strings);
        attribute.value = std::vector<std::string>(strings.begin(), strings.end());
        break;
      }
      case AttributeType::tensors: {
        std::vector<Tensor> tensors;
        for (const Table& tensor : table.tables(field::tensors)) tensors.push_back(read_tensor(tensor));
        attribute.value = std::move(tensors);
        break;
      }
      case AttributeType::graphs: {
        std::vector<std::shared_ptr<Graph>> graphs;
        for (const Table& graph : table.tables(field::graphs)) graphs.push_back(read_subgraph(graph, scope));
        attribute.value = std::move(graphs);
        break;
      }
      default: fail(ErrorCode::not_implemented, "attribute '{}' is of type {}, which the ORT format has no value for", name, type);
    }
    return attribute;
  }

  std::shared_ptr<Graph> read_subgraph(const Table& table, Scope& outer) {
    if (outer.depth >= limits_.depth) fail(ErrorCode::invalid_graph, "subgraphs are nested more than {} deep", limits_.depth);
    auto graph = std::make_shared<Graph>();
    Scope scope = subgraph_scope(*graph, outer);
    read_graph(table, scope);
    return graph;
  }

  TensorReader& tensors_;
  const ReadLimits& limits_;
  const int64_t ir_version_;
};

void check_version(std::string_view version) {
  int number = 0;
  const auto [end, error] = std::from_chars(version.data(), version.data() + version.size(), number);
  if (error != std::errc() || end != version.data() + version.size() || number < 1 || number > kNewestVersion)
    fail(ErrorCode::fail, "the model is in version '{}' of the ORT format, expected 1 to {}", version, kNewestVersion);
}

}  // namespace

bool is_ort_format(std::string_view bytes) {
  uint32_t root = 0;
  if (!FlatBuffer::has_identifier(bytes, kIdentifier)) return false;
  std::memcpy(&root, bytes.data(), sizeof(root));
  constexpr size_t kFarthestRoot = 1 << 16;  // what is written last, the root, comes first
  return root < std::min(bytes.size(), kFarthestRoot);
}

Model read_ort_format(std::string_view bytes, TensorReader& tensors, const ReadLimits& limits) {
  const FlatBuffer buffer(bytes, "the model in the ORT format");
  const Table session = buffer.root();
  check_version(session.text(session_field::version));
  const Table table = session.table(session_field::model);
  Model model;
  model.ir_version = table.number<int64_t>(model_field::ir_version);
  check_ir_version(model.ir_version);
  model.model_version = table.number<int64_t>(model_field::model_version);
  model.producer_name = table.text(model_field::producer_name);
  model.producer_version = table.text(model_field::producer_version);
  model.domain = table.text(model_field::domain);
  model.description = table.text(model_field::doc_string);
  model.graph_description = table.text(model_field::graph_doc_string);
  for (const Table& entry : table.tables(model_field::metadata))
    model.metadata.emplace_back(entry.text(entry_field::key), entry.text(entry_field::value));
  const Imports imports = imports_of(table);
  check_import({}, imported_version(imports, {}));  // the others are all that ONNX Runtime knows, used or not
  for (const auto& [domain, version] : imports) model.graph->opset_imports[std::string(domain)] = version;
  Scope scope{.graph = *model.graph, .imports = imports};
  OrtReader(tensors, limits, model.ir_version).read_graph(table.table(model_field::graph), scope);
  tensors.align_read(*model.graph);
  return model;
}

}  // namespace rh::onnx
