// What a session tells of its model.
#include "model_info.h"

namespace rh::python {

PyNodeArg node_arg(std::string name, const Ort::TypeInfo& info) {
  PyNodeArg arg{std::move(name), type_text(info), nb::list()};
  const OrtApi& api = Ort::GetApi();
  const OrtTypeInfo* type = info;
  Ort::TypeInfo content{nullptr};
  if (info.GetONNXType() == ONNX_TYPE_OPTIONAL) {
    const OrtOptionalTypeInfo* optional = nullptr;
    OrtTypeInfo* inner = nullptr;
    Ort::ThrowOnError(api.CastTypeInfoToOptionalTypeInfo(info, &optional));
    Ort::ThrowOnError(api.GetOptionalContainedTypeInfo(optional, &inner));
    content = Ort::TypeInfo(inner);
    type = content;
  }
  const OrtTensorTypeAndShapeInfo* tensor = nullptr;
  Ort::ThrowOnError(api.CastTypeInfoToTensorInfo(type, &tensor));
  if (!tensor) return arg;
  size_t rank = 0;
  Ort::ThrowOnError(api.GetDimensionsCount(tensor, &rank));
  std::vector<int64_t> dims(rank);
  std::vector<const char*> names(rank, nullptr);
  Ort::ThrowOnError(api.GetDimensions(tensor, dims.data(), rank));
  Ort::ThrowOnError(api.GetSymbolicDimensions(tensor, names.data(), rank));
  for (size_t i = 0; i < rank; ++i) {
    if (dims[i] >= 0) {
      arg.shape.append(dims[i]);
    } else if (names[i] && *names[i]) {
      arg.shape.append(nb::str(names[i]));
    } else {
      arg.shape.append(nb::none());
    }
  }
  return arg;
}

PyMetadata metadata_of(const Ort::Session& session) {
  const Ort::ModelMetadata m = session.GetModelMetadata();
  Ort::AllocatorWithDefaultOptions a;
  PyMetadata result{m.GetProducerNameAllocated(a).get(),
                    m.GetGraphNameAllocated(a).get(),
                    m.GetDomainAllocated(a).get(),
                    m.GetDescriptionAllocated(a).get(),
                    m.GetGraphDescriptionAllocated(a).get(),
                    m.GetVersion(),
                    {}};
  for (const auto& key : m.GetCustomMetadataMapKeysAllocated(a)) {
    result.custom_metadata_map[key.get()] = m.LookupCustomMetadataMapAllocated(key.get(), a).get();
  }
  return result;
}

namespace {

std::string arg_text(const PyNodeArg& arg) {
  return "NodeArg(name='" + arg.name + "', type='" + arg.type + "', shape=" + nb::cast<std::string>(nb::repr(arg.shape)) + ")";
}

}  // namespace

void bind_model_info(nb::module_& module) {
  nb::class_<PyNodeArg>(module, "NodeArg", "Name, element type and shape of an input or output. A dimension is a number, a name, or None.",
                        nb::is_weak_referenceable())
      .def_ro("name", &PyNodeArg::name)
      .def_ro("type", &PyNodeArg::type)
      .def_prop_ro("shape", [](const PyNodeArg& arg) { return nb::list(arg.shape); })
      .def("__str__", &arg_text)
      .def("__repr__", &arg_text);
  nb::class_<PyMetadata>(module, "ModelMetadata", "What a model says of itself.", nb::is_weak_referenceable())
      .def_rw("producer_name", &PyMetadata::producer_name)
      .def_rw("graph_name", &PyMetadata::graph_name)
      .def_rw("domain", &PyMetadata::domain)
      .def_rw("description", &PyMetadata::description)
      .def_rw("graph_description", &PyMetadata::graph_description)
      .def_rw("version", &PyMetadata::version)
      .def_rw("custom_metadata_map", &PyMetadata::custom_metadata_map);
}

}  // namespace rh::python
