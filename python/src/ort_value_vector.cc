#include "ort_value_vector.h"

namespace rh::python {

namespace {

ONNXTensorElementDataType element_at(const PyValueVector& vector, size_t index) {
  return vector.at(index).value.GetTensorTypeAndShapeInfo().GetElementType();
}

std::vector<int64_t> bool_tensors(const PyValueVector& vector) {
  std::vector<int64_t> indices;
  for (size_t i = 0; i < vector.values.size(); ++i) {
    if (element_at(vector, i) == ONNX_TENSOR_ELEMENT_DATA_TYPE_BOOL) indices.push_back(static_cast<int64_t>(i));
  }
  return indices;
}

void push_back_capsule(PyValueVector& vector, nb::object capsule, bool is_bool) {
  vector.values.push_back(nb::type<PyValue>().attr("from_dlpack")(capsule, is_bool));
}

void push_back_batch(PyValueVector& vector, const std::vector<nb::object>& owners, const std::vector<int64_t>& pointers,
                     const std::vector<nb::object>& types, const std::vector<std::vector<int64_t>>& shapes,
                     const std::vector<nb::object>& devices) {
  const size_t count = owners.size();
  if (pointers.size() != count || types.size() != count || shapes.size() != count || devices.size() != count) {
    throw nb::value_error("push_back_batch takes lists of one length: tensors, pointers, element types, shapes, devices");
  }
  for (size_t i = 0; i < count; ++i) {
    PyValue value = value_over_pointer(place_of(devices[i]), types[i], shapes[i], static_cast<uintptr_t>(pointers[i]));
    value.keep_alive = owners[i];
    vector.values.push_back(nb::cast(std::move(value)));
  }
}

nb::list to_dlpacks(const PyValueVector& vector, nb::object to_tensor) {
  nb::list result;
  for (const nb::object& value : vector.values) {
    const nb::object capsule = value.attr("to_dlpack")();
    result.append(to_tensor.is_none() ? capsule : nb::object(to_tensor(capsule)));
  }
  return result;
}

}  // namespace

PyValue value_over_pointer(const PyPlace& place, nb::handle type, const std::vector<int64_t>& shape, uintptr_t pointer) {
  const ONNXTensorElementDataType element = element_type_of(type);
  if (element == ONNX_TENSOR_ELEMENT_DATA_TYPE_STRING) throw std::runtime_error("tensors of strings cannot be bound by address");
  return {tensor_over_memory(reinterpret_cast<void*>(pointer), bytes_of(element, shape), shape, element, memory_at(place)), nb::none()};
}

void bind_ort_value_vector(nb::module_& module) {
  nb::class_<PyValueVector>(module, "OrtValueVector", "Values one after another.")
      .def(nb::init<>())
      .def("__len__", [](const PyValueVector& v) { return v.values.size(); })
      .def("__bool__", [](const PyValueVector& v) { return !v.values.empty(); })
      .def("__getitem__",
           [](const PyValueVector& v, int64_t index) {
             const int64_t size = static_cast<int64_t>(v.values.size());
             v.at(static_cast<size_t>(index < 0 && index >= -size ? index + size : index));
             return v.values[static_cast<size_t>(index < 0 ? index + size : index)];
           })
      .def("__iter__", [](const PyValueVector& v) { return nb::iter(nb::cast(v.values)); })
      .def("push_back", [](PyValueVector& v, nb::handle_t<PyValue> value) { v.values.push_back(nb::borrow(value)); })
      .def("push_back", &push_back_capsule, nb::arg("dlpack_tensor"), nb::arg("is_bool_tensor") = false)
      .def("push_back_batch", &push_back_batch)
      .def("reserve", [](PyValueVector& v, size_t count) { v.values.reserve(count); })
      .def("shrink_to_fit", [](PyValueVector& v) { v.values.shrink_to_fit(); })
      .def("clear", [](PyValueVector& v) { v.values.clear(); })
      .def(
          "element_type_at", [](const PyValueVector& v, size_t index) { return onnx_number(element_at(v, index)); }, nb::arg("idx"))
      .def("bool_tensor_indices", &bool_tensors)
      .def("dlpack_at",
           [](const PyValueVector& v, size_t index) {
             v.at(index);
             return nb::object(v.values[index].attr("to_dlpack")());
           })
      .def("to_dlpacks", &to_dlpacks, nb::arg("to_tensor").none());
}

}  // namespace rh::python
