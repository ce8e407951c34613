// Graphs: reading those that plugins are shown, and building models.
#pragma once

#include <cstring>

#include "session.h"
#include "type_info.h"
#include "value.h"

namespace Ort {

struct ExternalInitializerInfo;
struct Graph;
struct ValueInfoConsumerProducerInfo;
struct AttrNameSubgraph;

namespace detail {

/// What `function` says of a handle, as a value.
template <typename R, typename H, typename F>
R Fetch(const H* handle, F function) {
  R result{};
  ThrowOnError(function(handle, &result));
  return result;
}

/// A list of handles: `count_of` says how many, `get` fills them in.
template <typename Wrapper, typename H, typename Count, typename Get>
std::vector<Wrapper> FetchList(const H* handle, Count count_of, Get get) {
  using Entry = typename Wrapper::contained_type*;
  std::vector<Entry> entries(Fetch<size_t>(handle, count_of), nullptr);
  if (!entries.empty()) ThrowOnError(get(handle, entries.data(), entries.size()));
  std::vector<Wrapper> out;
  for (Entry entry : entries) out.emplace_back(entry);
  return out;
}

template <typename T>
struct ConstExternalInitializerInfoImpl : Base<T> {
  using Base<T>::Base;
  const std::basic_string<ORTCHAR_T> GetFilePath() const { return GetApi().ExternalInitializerInfo_GetFilePath(this->p_); }
  int64_t GetFileOffset() const { return GetApi().ExternalInitializerInfo_GetFileOffset(this->p_); }
  size_t GetByteSize() const { return GetApi().ExternalInitializerInfo_GetByteSize(this->p_); }
};

template <typename T>
struct ConstOpAttrImpl : Base<T> {
  using Base<T>::Base;

  OrtOpAttrType GetType() const { return Fetch<OrtOpAttrType>(Handle(), GetApi().OpAttr_GetType); }
  std::string GetName() const { return Fetch<const char*>(Handle(), GetApi().OpAttr_GetName); }
  /// R: int64_t, float or std::string.
  template <typename R>
  Status GetValue(R& out) const;
  template <typename R>
  Status GetValueArray(std::vector<R>& out) const;
  Status GetTensorAttributeAsOrtValue(Value& out) const {
    OrtValue* value = nullptr;
    Status status(GetApi().OpAttr_GetTensorAttributeAsOrtValue(Handle(), &value));
    if (status.IsOK()) out = Value(value);
    return status;
  }

 protected:
  const OrtOpAttr* Handle() const { return this->p_; }
  /// The bytes of an attribute of this type.
  Status Read(OrtOpAttrType type, std::vector<char>& bytes) const {
    size_t size = 0;
    const Status probe(GetApi().ReadOpAttr(Handle(), type, nullptr, 0, &size));
    bytes.resize(size);
    return Status(GetApi().ReadOpAttr(Handle(), type, bytes.data(), bytes.size(), &size));
  }
};

template <typename T>
struct ConstValueInfoImpl : Base<T> {
  using Base<T>::Base;

  std::string GetName() const { return Fetch<const char*>(Handle(), GetApi().GetValueInfoName); }
  ConstTypeInfo TypeInfo() const { return ConstTypeInfo(Fetch<const OrtTypeInfo*>(Handle(), GetApi().GetValueInfoTypeInfo)); }
  /// The node is null for values that no node of the graph gives.
  ValueInfoConsumerProducerInfo GetProducerNode() const;
  /// An index of -1 stands for an implicit input.
  std::vector<ValueInfoConsumerProducerInfo> GetConsumers() const;
  /// Null where the value is no initializer.
  Status GetInitializer(ConstValue& value) const {
    const OrtValue* handle = nullptr;
    Status status(GetApi().ValueInfo_GetInitializerValue(Handle(), &handle));
    if (status.IsOK()) value = ConstValue(handle);
    return status;
  }
  /// Null where the data is not outside of the model file.
  Status GetExternalInitializerInfo(ExternalInitializerInfo& info) const;
  bool IsRequiredGraphInput() const { return Fetch<bool>(Handle(), GetApi().ValueInfo_IsRequiredGraphInput); }
  bool IsOptionalGraphInput() const { return Fetch<bool>(Handle(), GetApi().ValueInfo_IsOptionalGraphInput); }
  bool IsGraphOutput() const { return Fetch<bool>(Handle(), GetApi().ValueInfo_IsGraphOutput); }
  bool IsConstantInitializer() const { return Fetch<bool>(Handle(), GetApi().ValueInfo_IsConstantInitializer); }
  bool IsFromOuterScope() const { return Fetch<bool>(Handle(), GetApi().ValueInfo_IsFromOuterScope); }

 private:
  const OrtValueInfo* Handle() const { return this->p_; }
};

}  // namespace detail

using ConstExternalInitializerInfo = detail::ConstExternalInitializerInfoImpl<detail::Unowned<const OrtExternalInitializerInfo>>;
using ConstOpAttr = detail::ConstOpAttrImpl<detail::Unowned<const OrtOpAttr>>;
using ConstValueInfo = detail::ConstValueInfoImpl<detail::Unowned<const OrtValueInfo>>;

/// Where the data of an initializer lies outside of the model file.
struct ExternalInitializerInfo : detail::ConstExternalInitializerInfoImpl<OrtExternalInitializerInfo> {
  explicit ExternalInitializerInfo(std::nullptr_t) {}
  explicit ExternalInitializerInfo(OrtExternalInitializerInfo* handle) : ConstExternalInitializerInfoImpl(handle) {}
  ExternalInitializerInfo(const ORTCHAR_T* file, int64_t offset, size_t bytes) {
    ThrowOnError(GetApi().CreateExternalInitializerInfo(file, offset, bytes, &p_));
  }
  ConstExternalInitializerInfo GetConst() const { return ConstExternalInitializerInfo(p_); }
};

/// An attribute to give a node.
struct OpAttr : detail::ConstOpAttrImpl<OrtOpAttr> {
  OpAttr() = default;
  explicit OpAttr(std::nullptr_t) {}
  explicit OpAttr(OrtOpAttr* handle) : ConstOpAttrImpl(handle) {}
  OpAttr(const char* name, const void* data, int length, OrtOpAttrType type) {
    ThrowOnError(GetApi().CreateOpAttr(name, data, length, type, &p_));
  }
  ConstOpAttr GetConst() const { return ConstOpAttr(p_); }
};

/// A value with a name and a type, to become an input or output of a graph.
struct ValueInfo : detail::ConstValueInfoImpl<OrtValueInfo> {
  ValueInfo() = default;
  explicit ValueInfo(std::nullptr_t) {}
  explicit ValueInfo(OrtValueInfo* handle) : ConstValueInfoImpl(handle) {}
  ValueInfo(const std::string& name, const ConstTypeInfo& type) {
    ThrowOnError(GetModelEditorApi().CreateValueInfo(name.c_str(), type, &p_));
  }
  ConstValueInfo GetConst() const { return ConstValueInfo(p_); }
};

namespace detail {

template <typename T>
struct ConstNodeImpl;
template <typename T>
struct ConstGraphImpl;

}  // namespace detail

using ConstNode = detail::ConstNodeImpl<detail::Unowned<const OrtNode>>;
using ConstGraph = detail::ConstGraphImpl<detail::Unowned<const OrtGraph>>;

namespace detail {

template <typename T>
struct ConstNodeImpl : Base<T> {
  using Base<T>::Base;

  size_t GetId() const { return Fetch<size_t>(Handle(), GetApi().Node_GetId); }
  std::string GetName() const { return Fetch<const char*>(Handle(), GetApi().Node_GetName); }
  std::string GetOperatorType() const { return Fetch<const char*>(Handle(), GetApi().Node_GetOperatorType); }
  std::string GetDomain() const { return Fetch<const char*>(Handle(), GetApi().Node_GetDomain); }
  int GetSinceVersion() const { return Fetch<int>(Handle(), GetApi().Node_GetSinceVersion); }
  /// The provider that took the node; empty where none did.
  std::string GetEpName() const {
    const char* name = Fetch<const char*>(Handle(), GetApi().Node_GetEpName);
    return name ? name : "";
  }
  /// Null entries stand for values that are left out.
  std::vector<ConstValueInfo> GetInputs() const {
    return FetchList<ConstValueInfo>(Handle(), GetApi().Node_GetNumInputs, GetApi().Node_GetInputs);
  }
  std::vector<ConstValueInfo> GetOutputs() const {
    return FetchList<ConstValueInfo>(Handle(), GetApi().Node_GetNumOutputs, GetApi().Node_GetOutputs);
  }
  std::vector<ConstValueInfo> GetImplicitInputs() const {
    return FetchList<ConstValueInfo>(Handle(), GetApi().Node_GetNumImplicitInputs, GetApi().Node_GetImplicitInputs);
  }
  std::vector<ConstOpAttr> GetAttributes() const {
    return FetchList<ConstOpAttr>(Handle(), GetApi().Node_GetNumAttributes, GetApi().Node_GetAttributes);
  }
  /// An optional attribute that is left out is null; one that the operator does not have is a failure.
  Status GetAttributeByName(const std::string& name, ConstOpAttr& attribute) const {
    const OrtOpAttr* handle = nullptr;
    Status status(GetApi().Node_GetAttributeByName(Handle(), name.c_str(), &handle));
    attribute = ConstOpAttr(handle);
    return status;
  }
  std::vector<AttrNameSubgraph> GetSubgraphs() const;
  ConstGraph GetGraph() const;

 private:
  const OrtNode* Handle() const { return this->p_; }
};

}  // namespace detail

/// A node to add to a graph.
struct Node : detail::ConstNodeImpl<OrtNode> {
  explicit Node(std::nullptr_t) {}
  explicit Node(OrtNode* handle) : ConstNodeImpl(handle) {}
  Node(const std::string& op_type, const std::string& domain, const std::string& name, const std::vector<std::string>& input_names,
       const std::vector<std::string>& output_names) {
    std::vector<OpAttr> none;
    Create(op_type, domain, name, input_names, output_names, none);
  }
  /// The node takes the attributes over.
  Node(const std::string& op_type, const std::string& domain, const std::string& name, const std::vector<std::string>& input_names,
       const std::vector<std::string>& output_names, std::vector<OpAttr>& attributes) {
    Create(op_type, domain, name, input_names, output_names, attributes);
  }
  ConstNode GetConst() const { return ConstNode(p_); }

 private:
  void Create(const std::string& op_type, const std::string& domain, const std::string& name, const std::vector<std::string>& input_names,
              const std::vector<std::string>& output_names, std::vector<OpAttr>& attributes) {
    std::vector<const char*> inputs, outputs;
    for (const std::string& input : input_names) inputs.push_back(input.c_str());
    for (const std::string& output : output_names) outputs.push_back(output.c_str());
    std::vector<OrtOpAttr*> handles;
    for (const OpAttr& attribute : attributes) handles.push_back(attribute);
    ThrowOnError(GetModelEditorApi().CreateNode(op_type.c_str(), domain.c_str(), name.c_str(), inputs.data(), inputs.size(), outputs.data(),
                                                outputs.size(), handles.data(), handles.size(), &p_));
    for (OpAttr& attribute : attributes) attribute.release();
  }
};

/// A node that gives or takes a value, and which of its outputs or inputs the value is.
struct ValueInfoConsumerProducerInfo {
  ConstNode node;
  int64_t index;
};

struct OperatorSet {
  std::string domain;
  int64_t version;
};

namespace detail {

template <typename T>
struct ConstGraphImpl : Base<T> {
  using Base<T>::Base;

  std::string GetName() const { return Fetch<const char*>(Handle(), GetApi().Graph_GetName); }
  std::basic_string<ORTCHAR_T> GetModelPath() const { return Fetch<const ORTCHAR_T*>(Handle(), GetApi().Graph_GetModelPath); }
  int64_t GetOnnxIRVersion() const { return Fetch<int64_t>(Handle(), GetApi().Graph_GetOnnxIRVersion); }
  std::vector<OperatorSet> GetOperatorSets() const {
    const size_t count = Fetch<size_t>(Handle(), GetApi().Graph_GetNumOperatorSets);
    std::vector<const char*> domains(count);
    std::vector<int64_t> versions(count);
    ThrowOnError(GetApi().Graph_GetOperatorSets(Handle(), domains.data(), versions.data(), count));
    std::vector<OperatorSet> out;
    for (size_t i = 0; i < count; ++i) out.push_back({domains[i], versions[i]});
    return out;
  }
  std::vector<ConstValueInfo> GetInputs() const {
    return FetchList<ConstValueInfo>(Handle(), GetApi().Graph_GetNumInputs, GetApi().Graph_GetInputs);
  }
  std::vector<ConstValueInfo> GetOutputs() const {
    return FetchList<ConstValueInfo>(Handle(), GetApi().Graph_GetNumOutputs, GetApi().Graph_GetOutputs);
  }
  std::vector<ConstValueInfo> GetInitializers() const {
    return FetchList<ConstValueInfo>(Handle(), GetApi().Graph_GetNumInitializers, GetApi().Graph_GetInitializers);
  }
  std::vector<ConstNode> GetNodes() const { return FetchList<ConstNode>(Handle(), GetApi().Graph_GetNumNodes, GetApi().Graph_GetNodes); }
  /// Null for a main graph.
  ConstNode GetParentNode() const { return ConstNode(Fetch<const OrtNode*>(Handle(), GetApi().Graph_GetParentNode)); }
  /// These nodes as a graph of their own.
  Graph GetGraphView(const std::vector<ConstNode>& nodes) const;
  ModelMetadata GetModelMetadata() const { return ModelMetadata(Fetch<OrtModelMetadata*>(Handle(), GetApi().Graph_GetModelMetadata)); }

 private:
  const OrtGraph* Handle() const { return this->p_; }
};

template <typename T>
struct GraphImpl : ConstGraphImpl<T> {
  using ConstGraphImpl<T>::ConstGraphImpl;

  /// Each of these takes over what it is given.
  void SetInputs(std::vector<ValueInfo>& inputs) { Set(inputs, GetModelEditorApi().SetGraphInputs); }
  void SetOutputs(std::vector<ValueInfo>& outputs) { Set(outputs, GetModelEditorApi().SetGraphOutputs); }
  /// With external data, the caller's memory stays in use for as long as sessions of the model live.
  void AddInitializer(const std::string& name, Value& initializer, bool data_is_external) {
    ThrowOnError(GetModelEditorApi().AddInitializerToGraph(this->p_, name.c_str(), initializer, data_is_external));
    initializer.release();
  }
  void AddNode(Node& node) {
    ThrowOnError(GetModelEditorApi().AddNodeToGraph(this->p_, node));
    node.release();
  }

 private:
  template <typename F>
  void Set(std::vector<ValueInfo>& values, F function) {
    std::vector<OrtValueInfo*> handles;
    for (const ValueInfo& value : values) handles.push_back(value);
    ThrowOnError(function(this->p_, handles.data(), handles.size()));
    for (ValueInfo& value : values) value.release();
  }
};

}  // namespace detail

/// A subgraph and the attribute that holds it.
struct AttrNameSubgraph {
  std::string attr_name;
  ConstGraph sub_graph;
};

using UnownedGraph = detail::GraphImpl<detail::Unowned<OrtGraph>>;

/// A graph under construction, or a view of some nodes.
struct Graph : detail::GraphImpl<OrtGraph> {
  Graph() { ThrowOnError(GetModelEditorApi().CreateGraph(&p_)); }
  explicit Graph(std::nullptr_t) {}
  explicit Graph(OrtGraph* handle) : GraphImpl(handle) {}
  ConstGraph GetConst() const { return ConstGraph(p_); }
};

namespace detail {

template <typename T>
struct ModelImpl : Base<T> {
  using Base<T>::Base;
  /// Takes the graph over.
  void AddGraph(Graph& graph) {
    ThrowOnError(GetModelEditorApi().AddGraphToModel(this->p_, graph));
    graph.release();
  }
};

}  // namespace detail

using ConstModel = detail::ModelImpl<detail::Unowned<const OrtModel>>;

/// A model under construction, or what is added to a model.
struct Model : detail::ModelImpl<OrtModel> {
  using DomainOpsetPair = std::pair<std::string, int>;

  explicit Model(std::nullptr_t) {}
  explicit Model(OrtModel* handle) : ModelImpl(handle) {}
  explicit Model(const std::vector<DomainOpsetPair>& opsets) {
    std::vector<const char*> domains;
    std::vector<int> versions;
    for (const auto& [domain, version] : opsets) {
      domains.push_back(domain.c_str());
      versions.push_back(version);
    }
    ThrowOnError(GetModelEditorApi().CreateModel(domains.data(), versions.data(), opsets.size(), &p_));
  }
  ConstModel GetConst() const { return ConstModel(p_); }
};

namespace detail {

template <typename T>
Status ConstValueInfoImpl<T>::GetExternalInitializerInfo(ExternalInitializerInfo& info) const {
  OrtExternalInitializerInfo* handle = nullptr;
  Status status(GetApi().ValueInfo_GetExternalInitializerInfo(Handle(), &handle));
  if (status.IsOK()) info = ExternalInitializerInfo(handle);
  return status;
}

template <typename T>
ValueInfoConsumerProducerInfo ConstValueInfoImpl<T>::GetProducerNode() const {
  const OrtNode* node = nullptr;
  size_t index = 0;
  ThrowOnError(GetApi().ValueInfo_GetValueProducer(Handle(), &node, &index));
  return {ConstNode(node), static_cast<int64_t>(index)};
}

template <typename T>
std::vector<ValueInfoConsumerProducerInfo> ConstValueInfoImpl<T>::GetConsumers() const {
  const size_t count = Fetch<size_t>(Handle(), GetApi().ValueInfo_GetValueNumConsumers);
  std::vector<const OrtNode*> nodes(count);
  std::vector<int64_t> indices(count);
  ThrowOnError(GetApi().ValueInfo_GetValueConsumers(Handle(), nodes.data(), indices.data(), count));
  std::vector<ValueInfoConsumerProducerInfo> out;
  for (size_t i = 0; i < count; ++i) out.push_back({ConstNode(nodes[i]), indices[i]});
  return out;
}

template <typename T>
std::vector<AttrNameSubgraph> ConstNodeImpl<T>::GetSubgraphs() const {
  const size_t count = Fetch<size_t>(Handle(), GetApi().Node_GetNumSubgraphs);
  std::vector<const OrtGraph*> graphs(count);
  std::vector<const char*> names(count);
  ThrowOnError(GetApi().Node_GetSubgraphs(Handle(), graphs.data(), count, names.data()));
  std::vector<AttrNameSubgraph> out;
  for (size_t i = 0; i < count; ++i) out.push_back({names[i], ConstGraph(graphs[i])});
  return out;
}

template <typename T>
ConstGraph ConstNodeImpl<T>::GetGraph() const {
  return ConstGraph(Fetch<const OrtGraph*>(Handle(), GetApi().Node_GetGraph));
}

template <typename T>
Graph ConstGraphImpl<T>::GetGraphView(const std::vector<ConstNode>& nodes) const {
  std::vector<const OrtNode*> handles;
  for (const ConstNode& node : nodes) handles.push_back(node);
  OrtGraph* view = nullptr;
  ThrowOnError(GetApi().Graph_GetGraphView(Handle(), handles.data(), handles.size(), &view));
  return Graph(view);
}

template <typename T>
template <typename R>
Status ConstOpAttrImpl<T>::GetValue(R& out) const {
  static_assert(std::is_same_v<R, int64_t> || std::is_same_v<R, float> || std::is_same_v<R, std::string>);
  std::vector<char> bytes;
  constexpr bool is_text = std::is_same_v<R, std::string>;
  Status status = Read(is_text ? ORT_OP_ATTR_STRING : std::is_same_v<R, float> ? ORT_OP_ATTR_FLOAT : ORT_OP_ATTR_INT, bytes);
  if (!status.IsOK()) return status;
  if constexpr (is_text) {
    out.assign(bytes.begin(), bytes.end());
  } else {
    std::memcpy(&out, bytes.data(), sizeof(R));
  }
  return status;
}

template <typename T>
template <typename R>
Status ConstOpAttrImpl<T>::GetValueArray(std::vector<R>& out) const {
  static_assert(std::is_same_v<R, int64_t> || std::is_same_v<R, float> || std::is_same_v<R, std::string>);
  std::vector<char> bytes;
  constexpr bool is_text = std::is_same_v<R, std::string>;
  Status status = Read(is_text ? ORT_OP_ATTR_STRINGS : std::is_same_v<R, float> ? ORT_OP_ATTR_FLOATS : ORT_OP_ATTR_INTS, bytes);
  if (!status.IsOK()) return status;
  out.clear();
  if constexpr (is_text) {
    for (size_t begin = 0; begin < bytes.size(); begin += out.back().size() + 1) out.emplace_back(bytes.data() + begin);
  } else {
    out.resize(bytes.size() / sizeof(R));
    if (!bytes.empty()) std::memcpy(out.data(), bytes.data(), bytes.size());
  }
  return status;
}

template <typename T>
std::vector<ValueInfo> ConstSessionApi<T>::GetInputs() const {
  std::vector<ValueInfo> values;
  const std::vector<std::string> names = GetInputNames();
  for (size_t i = 0; i < names.size(); ++i) values.emplace_back(names[i], GetInputTypeInfo(i).GetConst());
  return values;
}

template <typename T>
std::vector<ValueInfo> ConstSessionApi<T>::GetOutputs() const {
  std::vector<ValueInfo> values;
  const std::vector<std::string> names = GetOutputNames();
  for (size_t i = 0; i < names.size(); ++i) values.emplace_back(names[i], GetOutputTypeInfo(i).GetConst());
  return values;
}

template <typename T>
std::vector<ValueInfo> ConstSessionApi<T>::GetOverridableInitializers() const {
  std::vector<ValueInfo> values;
  const std::vector<std::string> names = GetOverridableInitializerNames();
  for (size_t i = 0; i < names.size(); ++i) values.emplace_back(names[i], GetOverridableInitializerTypeInfo(i).GetConst());
  return values;
}

template <typename T>
int ConstSessionApi<T>::GetOpset(const std::string& domain) const {
  int version = 0;
  ThrowOnError(GetModelEditorApi().SessionGetOpsetForDomain(this->p_, domain.c_str(), &version));
  return version;
}

template <typename T>
void SessionApi<T>::FinalizeModelEditorSession(const Model& model, const SessionOptions& options, OrtPrepackedWeightsContainer* weights) {
  if (static_cast<OrtModel*>(model)) ThrowOnError(GetModelEditorApi().ApplyModelToModelEditorSession(this->p_, model));
  ThrowOnError(GetModelEditorApi().FinalizeModelEditorSession(this->p_, options, weights));
}

}  // namespace detail

inline TypeInfo TypeInfo::CreateTensorInfo(ConstTensorTypeAndShapeInfo tensor) {
  OrtTypeInfo* info = nullptr;
  ThrowOnError(GetModelEditorApi().CreateTensorTypeInfo(tensor, &info));
  return TypeInfo(info);
}

inline TypeInfo TypeInfo::CreateSparseTensorInfo(ConstTensorTypeAndShapeInfo tensor) {
  OrtTypeInfo* info = nullptr;
  ThrowOnError(GetModelEditorApi().CreateSparseTensorTypeInfo(tensor, &info));
  return TypeInfo(info);
}

inline TypeInfo TypeInfo::CreateSequenceTypeInfo(ConstTypeInfo element) {
  OrtTypeInfo* info = nullptr;
  ThrowOnError(GetModelEditorApi().CreateSequenceTypeInfo(element, &info));
  return TypeInfo(info);
}

inline TypeInfo TypeInfo::CreateMapTypeInfo(ONNXTensorElementDataType key, ConstTypeInfo value) {
  OrtTypeInfo* info = nullptr;
  ThrowOnError(GetModelEditorApi().CreateMapTypeInfo(key, value, &info));
  return TypeInfo(info);
}

inline TypeInfo TypeInfo::CreateOptionalTypeInfo(ConstTypeInfo contained) {
  OrtTypeInfo* info = nullptr;
  ThrowOnError(GetModelEditorApi().CreateOptionalTypeInfo(contained, &info));
  return TypeInfo(info);
}

inline Session::Session(const Env& env, const Model& model, const SessionOptions& options) {
  ThrowOnError(GetModelEditorApi().CreateSessionFromModel(env, model, options, &p_));
}

inline Session Session::CreateModelEditorSession(const Env& env, const ORTCHAR_T* model_path, const SessionOptions& options) {
  OrtSession* session = nullptr;
  ThrowOnError(GetModelEditorApi().CreateModelEditorSession(env, model_path, options, &session));
  return Session(session);
}

inline Session Session::CreateModelEditorSession(const Env& env, const void* model_data, size_t bytes, const SessionOptions& options) {
  OrtSession* session = nullptr;
  ThrowOnError(GetModelEditorApi().CreateModelEditorSessionFromArray(env, model_data, bytes, options, &session));
  return Session(session);
}

}  // namespace Ort
