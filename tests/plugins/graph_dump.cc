#include "plugins/graph_dump.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <set>
#include <stdexcept>
#include <vector>

namespace rh::test {

namespace {

class Dumper {
 public:
  /// Values of a node that stands alone have neither producers nor consumers.
  explicit Dumper(const OrtApi& api, bool alone = false) : api_(api), alone_(alone) {}

  std::string text;

  void graph(const OrtGraph& graph, const std::string& indent, Order order = Order::as_given) {
    const char* name = nullptr;
    const char* path = nullptr;
    int64_t ir_version = 0;
    const OrtNode* parent = nullptr;
    check(api_.Graph_GetName(&graph, &name));
    check(api_.Graph_GetModelPath(&graph, &path));
    check(api_.Graph_GetOnnxIRVersion(&graph, &ir_version));
    check(api_.Graph_GetParentNode(&graph, &parent));
    const std::string whole_path = path ? path : "(null)";
    line(indent, "graph '" + std::string(name) + "' file '" + whole_path.substr(whole_path.rfind('/') + 1) + "' ir " +
                     std::to_string(ir_version) + (parent ? " parent '" + name_of(*parent) + "'" : ""));
    const std::vector<const OrtNode*> nodes = list<const OrtNode>(graph, api_.Graph_GetNumNodes, api_.Graph_GetNodes);
    line(indent, "opsets" + opsets(graph, nodes));
    line(indent, "metadata" + metadata(graph));
    values(indent, "input", list<const OrtValueInfo>(graph, api_.Graph_GetNumInputs, api_.Graph_GetInputs), order);
    values(indent, "initializer", list<const OrtValueInfo>(graph, api_.Graph_GetNumInitializers, api_.Graph_GetInitializers),
           Order::by_name);
    std::map<std::string, std::string> entries;
    for (const OrtNode* one : nodes) {
      const OrtGraph* owner = nullptr;
      check(api_.Node_GetGraph(one, &owner));
      Dumper dumper(api_);
      dumper.node(*one, indent + "  ");
      if (owner != &graph) dumper.line(indent, "  owner is another graph");
      entries.emplace(key_of(*one), dumper.text);
    }
    for (const auto& [key, entry] : entries) text += entry;
    values(indent, "output", list<const OrtValueInfo>(graph, api_.Graph_GetNumOutputs, api_.Graph_GetOutputs), order);
  }

  void node(const OrtNode& node, const std::string& indent) {
    const char* op_type = nullptr;
    const char* domain = nullptr;
    const char* provider = nullptr;
    int since = 0;
    check(api_.Node_GetOperatorType(&node, &op_type));
    check(api_.Node_GetDomain(&node, &domain));
    check(api_.Node_GetSinceVersion(&node, &since));
    check(api_.Node_GetEpName(&node, &provider));
    line(indent, "node '" + name_of(node) + "' " + op_type + " domain '" + domain + "' since " + std::to_string(since) + " provider " +
                     (provider ? "'" + std::string(provider) + "'" : "(null)"));
    const std::string inner = indent + "  ";
    values(inner, "takes", list<const OrtValueInfo>(node, api_.Node_GetNumInputs, api_.Node_GetInputs),
           alone_ ? Order::by_name : Order::as_given);
    values(inner, "implicit", list<const OrtValueInfo>(node, api_.Node_GetNumImplicitInputs, api_.Node_GetImplicitInputs), Order::by_name);
    values(inner, "gives", list<const OrtValueInfo>(node, api_.Node_GetNumOutputs, api_.Node_GetOutputs));
    std::map<std::string, std::string> attributes;
    for (const OrtOpAttr* one : list<const OrtOpAttr>(node, api_.Node_GetNumAttributes, api_.Node_GetAttributes)) {
      const char* name = nullptr;
      check(api_.OpAttr_GetName(one, &name));
      const OrtOpAttr* found = nullptr;
      check(api_.Node_GetAttributeByName(&node, name, &found));
      attributes.emplace(name, attribute(*one) + (found == one ? "" : " (another by name)"));
    }
    for (const auto& [name, value] : attributes) line(inner, "attribute " + name + " = " + value);
    for (const char* name : {"dilations", "no_such_attribute"}) {
      if (attributes.contains(name) || alone_) continue;
      const OrtOpAttr* found = nullptr;
      OrtStatus* status = api_.Node_GetAttributeByName(&node, name, &found);
      line(inner, "attribute " + std::string(name) + (found ? " found" : " null") + " code " +
                      std::to_string(status ? api_.GetErrorCode(status) : ORT_OK));
      api_.ReleaseStatus(status);
    }
    size_t count = 0;
    check(api_.Node_GetNumSubgraphs(&node, &count));
    std::vector<const OrtGraph*> subgraphs(count);
    std::vector<const char*> names(count);
    check(api_.Node_GetSubgraphs(&node, subgraphs.data(), count, names.data()));
    std::map<std::string, const OrtGraph*> sorted;
    for (size_t i = 0; i < count; ++i) sorted.emplace(names[i], subgraphs[i]);
    for (const auto& [name, subgraph] : sorted) {
      line(inner, "subgraph " + name);
      graph(*subgraph, inner + "  ");
    }
  }

 private:
  void line(const std::string& indent, const std::string& what) { text += indent + what + "\n"; }

  void check(OrtStatus* status) {
    if (!status) return;
    const std::string message = api_.GetErrorMessage(status);
    api_.ReleaseStatus(status);
    throw std::runtime_error(message + "\nafter:\n" + text);
  }

  template <typename T, typename From, typename Count, typename Get>
  std::vector<T*> list(const From& from, Count count_of, Get get) {
    size_t count = 0;
    check(count_of(&from, &count));
    std::vector<T*> entries(count);
    if (count > 0) check(get(&from, entries.data(), count));
    return entries;
  }

  std::string name_of(const OrtNode& node) {
    const char* name = nullptr;
    check(api_.Node_GetName(&node, &name));
    return name;
  }

  std::string name_of(const OrtValueInfo* value) {
    if (!value) return "";
    const char* name = nullptr;
    check(api_.GetValueInfoName(value, &name));
    return name;
  }

  /// What tells a node from others whether or not it has a name: its first output.
  std::string key_of(const OrtNode& node) {
    for (const OrtValueInfo* output : list<const OrtValueInfo>(node, api_.Node_GetNumOutputs, api_.Node_GetOutputs)) {
      if (output) return name_of(output);
    }
    return name_of(node);
  }

  std::string opsets(const OrtGraph& graph, const std::vector<const OrtNode*>& nodes) {
    std::set<std::string> used;
    for (const OrtNode* one : nodes) {
      const char* domain = nullptr;
      check(api_.Node_GetDomain(one, &domain));
      used.insert(domain);
    }
    size_t count = 0;
    check(api_.Graph_GetNumOperatorSets(&graph, &count));
    std::vector<const char*> domains(count);
    std::vector<int64_t> versions(count);
    check(api_.Graph_GetOperatorSets(&graph, domains.data(), versions.data(), count));
    std::map<std::string, int64_t> sorted;
    for (size_t i = 0; i < count; ++i) {
      if (used.contains(domains[i])) sorted.emplace(domains[i], versions[i]);
    }
    std::string result;
    for (const auto& [domain, version] : sorted) result += " '" + domain + "' " + std::to_string(version);
    return result;
  }

  std::string metadata(const OrtGraph& graph) {
    OrtModelMetadata* metadata = nullptr;
    check(api_.Graph_GetModelMetadata(&graph, &metadata));
    OrtAllocator* allocator = nullptr;
    check(api_.GetAllocatorWithDefaultOptions(&allocator));
    std::string result;
    for (auto get : {api_.ModelMetadataGetProducerName, api_.ModelMetadataGetGraphName, api_.ModelMetadataGetDomain,
                     api_.ModelMetadataGetDescription, api_.ModelMetadataGetGraphDescription}) {
      char* entry = nullptr;
      check(get(metadata, allocator, &entry));
      result += " '" + std::string(entry) + "'";
      allocator->Free(allocator, entry);
    }
    int64_t version = 0;
    check(api_.ModelMetadataGetVersion(metadata, &version));
    api_.ReleaseModelMetadata(metadata);
    return result + " " + std::to_string(version);
  }

  void values(const std::string& indent, const char* what, std::vector<const OrtValueInfo*> entries, Order order = Order::as_given) {
    if (order == Order::by_name) std::ranges::sort(entries, {}, [&](const OrtValueInfo* entry) { return name_of(entry); });
    for (const OrtValueInfo* entry : entries) line(indent, std::string(what) + " " + (entry ? value(*entry) : "(none)"));
  }

  std::string value(const OrtValueInfo& value) {
    std::string result = "'" + name_of(&value) + "'";
    const OrtTypeInfo* type = nullptr;
    check(api_.GetValueInfoTypeInfo(&value, &type));
    result += type ? " " + type_text(*type) : " untyped";
    const std::pair<OrtStatus*(ORT_API_CALL*)(const OrtValueInfo*, bool*), const char*> flags[] = {
        {api_.ValueInfo_IsRequiredGraphInput, " required-input"},
        {api_.ValueInfo_IsOptionalGraphInput, " optional-input"},
        {api_.ValueInfo_IsGraphOutput, " graph-output"},
        {api_.ValueInfo_IsConstantInitializer, " constant"},
        {api_.ValueInfo_IsFromOuterScope, " outer"},
    };
    for (const auto& [get, name] : flags) {
      bool is = false;
      check(get(&value, &is));
      if (is) result += name;
    }
    return alone_ ? result : result + links(value) + content(value);
  }

  std::string links(const OrtValueInfo& value) {
    const OrtNode* producer = nullptr;
    size_t index = 0;
    check(api_.ValueInfo_GetValueProducer(&value, &producer, &index));
    std::string result;
    if (producer) result += " from '" + name_of(*producer) + "':" + std::to_string(index);
    size_t count = 0;
    check(api_.ValueInfo_GetValueNumConsumers(&value, &count));
    std::vector<const OrtNode*> nodes(count);
    std::vector<int64_t> indices(count);
    check(api_.ValueInfo_GetValueConsumers(&value, nodes.data(), indices.data(), count));
    std::vector<std::string> uses;
    for (size_t i = 0; i < count; ++i) uses.push_back(" to '" + name_of(*nodes[i]) + "':" + std::to_string(indices[i]));
    std::ranges::sort(uses);
    for (const std::string& use : uses) result += use;
    return result;
  }

  std::string content(const OrtValueInfo& value) {
    const OrtValue* initializer = nullptr;
    check(api_.ValueInfo_GetInitializerValue(&value, &initializer));
    std::string result = initializer ? " = " + tensor(*initializer) : "";
    OrtExternalInitializerInfo* external = nullptr;
    check(api_.ValueInfo_GetExternalInitializerInfo(&value, &external));
    if (!external) return result;
    result += " at " + std::string(api_.ExternalInitializerInfo_GetFilePath(external)) + "+" +
              std::to_string(api_.ExternalInitializerInfo_GetFileOffset(external)) + ":" +
              std::to_string(api_.ExternalInitializerInfo_GetByteSize(external));
    api_.ReleaseExternalInitializerInfo(external);
    return result;
  }

  std::string tensor(const OrtValue& value) {
    OrtTensorTypeAndShapeInfo* info = nullptr;
    check(api_.GetTensorTypeAndShape(&value, &info));
    std::string result = shape_text(*info);
    ONNXTensorElementDataType type = ONNX_TENSOR_ELEMENT_DATA_TYPE_UNDEFINED;
    check(api_.GetTensorElementType(info, &type));
    api_.ReleaseTensorTypeAndShapeInfo(info);
    if (type == ONNX_TENSOR_ELEMENT_DATA_TYPE_STRING) return result;
    const void* data = nullptr;
    size_t bytes = 0;
    check(api_.GetTensorData(&value, &data));
    check(api_.GetTensorSizeInBytes(&value, &bytes));
    uint64_t hash = 1469598103934665603u;
    for (size_t i = 0; i < bytes; ++i) hash = (hash ^ static_cast<const unsigned char*>(data)[i]) * 1099511628211u;
    return result + "#" + std::to_string(hash);
  }

  std::string type_text(const OrtTypeInfo& type) {
    ONNXType kind = ONNX_TYPE_UNKNOWN;
    check(api_.GetOnnxTypeFromTypeInfo(&type, &kind));
    const OrtTensorTypeAndShapeInfo* tensor = nullptr;
    if (kind == ONNX_TYPE_TENSOR || kind == ONNX_TYPE_SPARSETENSOR) check(api_.CastTypeInfoToTensorInfo(&type, &tensor));
    if (tensor) return shape_text(*tensor);
    if (kind == ONNX_TYPE_SEQUENCE) {
      const OrtSequenceTypeInfo* sequence = nullptr;
      OrtTypeInfo* element = nullptr;
      check(api_.CastTypeInfoToSequenceTypeInfo(&type, &sequence));
      check(api_.GetSequenceElementType(sequence, &element));
      const std::string result = "seq(" + type_text(*element) + ")";
      api_.ReleaseTypeInfo(element);
      return result;
    }
    return "kind " + std::to_string(kind);
  }

  std::string shape_text(const OrtTensorTypeAndShapeInfo& info) {
    ONNXTensorElementDataType type = ONNX_TENSOR_ELEMENT_DATA_TYPE_UNDEFINED;
    check(api_.GetTensorElementType(&info, &type));
    std::string result = "type " + std::to_string(type);
    if (!api_.TensorTypeAndShape_HasShape(&info)) return result + "?";
    size_t rank = 0;
    check(api_.GetDimensionsCount(&info, &rank));
    std::vector<int64_t> dims(rank);
    std::vector<const char*> names(rank);
    check(api_.GetDimensions(&info, dims.data(), rank));
    check(api_.GetSymbolicDimensions(&info, names.data(), rank));
    result += "[";
    for (size_t i = 0; i < rank; ++i) {
      if (i > 0) result += ",";
      result += dims[i] >= 0 ? std::to_string(dims[i]) : "'" + std::string(names[i] ? names[i] : "") + "'";
    }
    return result + "]";
  }

  template <typename T>
  std::string numbers(const OrtOpAttr& attribute, OrtOpAttrType type) {
    size_t bytes = 0;
    api_.ReleaseStatus(api_.ReadOpAttr(&attribute, type, nullptr, 0, &bytes));
    std::vector<T> values(bytes / sizeof(T));
    if (bytes > 0) check(api_.ReadOpAttr(&attribute, type, values.data(), bytes, &bytes));
    std::string result;
    for (T value : values) result += " " + std::to_string(value);
    return result;
  }

  std::string attribute(const OrtOpAttr& attribute) {
    OrtOpAttrType type = ORT_OP_ATTR_UNDEFINED;
    check(api_.OpAttr_GetType(&attribute, &type));
    switch (type) {
      case ORT_OP_ATTR_INT: return "int" + numbers<int64_t>(attribute, type);
      case ORT_OP_ATTR_INTS: return "ints" + numbers<int64_t>(attribute, type);
      case ORT_OP_ATTR_FLOAT: return "float" + numbers<float>(attribute, type);
      case ORT_OP_ATTR_FLOATS: return "floats" + numbers<float>(attribute, type);
      case ORT_OP_ATTR_STRING: return "string" + numbers<signed char>(attribute, type);
      case ORT_OP_ATTR_STRINGS: return "strings" + numbers<signed char>(attribute, type);
      case ORT_OP_ATTR_TENSOR: {
        OrtValue* value = nullptr;
        check(api_.OpAttr_GetTensorAttributeAsOrtValue(&attribute, &value));
        const std::string result = "tensor " + tensor(*value);
        api_.ReleaseValue(value);
        return result;
      }
      case ORT_OP_ATTR_GRAPH: return "graph";
      default: return "other";
    }
  }

  const OrtApi& api_;
  bool alone_;
};

}  // namespace

std::string dump_graph(const OrtApi& api, const OrtGraph& graph, Order order) {
  Dumper dumper(api);
  dumper.graph(graph, "", order);
  return dumper.text;
}

std::string dump_node(const OrtApi& api, const OrtNode& node) {
  Dumper dumper(api, true);
  dumper.node(node, "");
  return dumper.text;
}

}  // namespace rh::test
