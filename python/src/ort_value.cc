#include <cstring>

#include "places.h"

namespace rh::python {

namespace {

size_t bytes_in(const Ort::Value& value) {
  size_t bytes = 0;
  Ort::ThrowOnError(Ort::GetApi().GetTensorSizeInBytes(value, &bytes));
  return bytes;
}

ONNXTensorElementDataType allocatable(nb::handle type) {
  const ONNXTensorElementDataType element = element_type_of(type);
  if (element == ONNX_TENSOR_ELEMENT_DATA_TYPE_STRING)
    throw std::runtime_error(
        "OrtValues of a shape are made with types of non-string numpy arrays: make one of strings by ortvalue_from_numpy");
  return element;
}

PyValue from_numpy(nb::handle array, nb::handle device, int id, int64_t vendor) {
  const PyPlace place = place_of(device, id, vendor);
  PyValue value;
  value.value = value_from_object(array, value.keep_alive);
  if (place.is_host()) return value;
  const OrtMemoryInfo* memory = memory_at(place);
  const Ort::TensorTypeAndShapeInfo info = value.value.GetTensorTypeAndShapeInfo();
  PyValue there{new_tensor_at(memory, info.GetShape(), info.GetElementType()), nb::none()};
  copy_value(value.value, there.value);
  return there;
}

PyValue from_shape(const std::vector<int64_t>& shape, nb::handle type, nb::handle device, int id, int64_t vendor, nb::object memory) {
  if (!memory.is_none()) {
    return {new_tensor_at(nb::cast<const Ort::MemoryInfo&>(memory.attr("_native")), shape, allocatable(type)), nb::none()};
  }
  return {new_tensor_at(memory_at(place_of(device, id, vendor)), shape, allocatable(type)), nb::none()};
}

PyValue from_memory(const std::vector<int64_t>& shape, nb::handle type, nb::object memory) {
  return from_shape(shape, type, nb::none(), 0, -1, std::move(memory));
}

// The array whose memory the value borrows, or None.
nb::object borrowed_array(const PyValue& value) {
  const bool is_array = value.keep_alive.is_valid() && nb::isinstance(value.keep_alive, numpy().attr("ndarray"));
  return is_array ? value.keep_alive : nb::none();
}

// Another handle to the same content.
Ort::Value tensor_over(const PyValue& value) {
  const auto info = value.value.GetTensorTypeAndShapeInfo();
  return tensor_over_memory(const_cast<void*>(value.value.GetTensorRawData()), bytes_in(value.value), info.GetShape(),
                            info.GetElementType(), value.value.GetTensorMemoryInfo());
}

nb::object to_numpy(nb::handle object) {
  const Ort::Value& value = nb::cast<PyValue&>(object).value;
  if (!value.HasValue()) return nb::none();
  if (value.GetTypeInfo().GetONNXType() == ONNX_TYPE_SEQUENCE) {
    nb::list list;
    for (size_t i = 0; i < value.GetCount(); ++i)
      list.append(value_to_object(value.GetValue(static_cast<int>(i), Ort::AllocatorWithDefaultOptions())));
    return nb::object(list);
  }
  if (!value.IsTensor()) throw std::runtime_error("only dense tensors become arrays");
  const auto info = value.GetTensorTypeAndShapeInfo();
  if (info.GetElementType() == ONNX_TENSOR_ELEMENT_DATA_TYPE_STRING) return strings_to_array(value, info.GetShape());
  return array_over(object);
}

nb::object to_array(nb::handle object, nb::object dtype, nb::object copy) {
  const nb::object array = to_numpy(object);
  if (!copy.is_none()) return numpy().attr("array")(array, dtype, nb::arg("copy") = copy);
  return dtype.is_none() ? array : nb::object(numpy().attr("asarray")(array, dtype));
}

void update_inplace(PyValue& value, nb::handle data) {
  nb::object holder;
  if (!nb::isinstance<PyValue>(data) && !nb::isinstance(data, numpy().attr("ndarray")))
    throw nb::type_error("the new data must be a numpy array or an OrtValue");
  const Ort::Value from = nb::isinstance<PyValue>(data) ? tensor_over(nb::cast<PyValue&>(data)) : value_from_object(data, holder);
  if (numeric_type(value.value) != numeric_type(from)) {
    throw std::runtime_error(std::string("the new data has elements of type ") + element_name(numeric_type(from)) + ", expected " +
                             element_name(numeric_type(value.value)));
  }
  if (bytes_in(from) != bytes_in(value.value)) {
    throw std::runtime_error("the new data has " + std::to_string(bytes_in(from)) + " bytes, expected " +
                             std::to_string(bytes_in(value.value)));
  }
  if (is_read_only(value)) throw std::runtime_error("the OrtValue borrows a read-only array; make it from a copy to update it");
  if (dlpack_kind(place_of(from)) == 1 && dlpack_kind(place_of(value.value)) == 1) {
    std::memmove(value.value.GetTensorMutableRawData(), from.GetTensorRawData(), bytes_in(from));
  } else {
    copy_value(from, value.value);
  }
}

PyValue from_numpy_with_type(nb::object array, int number) {
  const ONNXTensorElementDataType type = element_type_of_number(number);
  PyValue value;
  const PackedRow* given = packed_row_named(nb::cast<std::string>(array.attr("dtype").attr("name")));
  if (given && given->type == type) {
    value.value = value_from_object(array, value.keep_alive);
    return value;
  }
  value.keep_alive = numpy().attr("ascontiguousarray")(array);
  const size_t width = nb::cast<size_t>(array.attr("itemsize"));
  const ElementRow* row = row_of(type);
  const size_t expected = row ? row->dlpack.bits / 8u : 1;
  if (width != expected || type == ONNX_TENSOR_ELEMENT_DATA_TYPE_STRING) {
    throw std::runtime_error("the array has elements of " + std::to_string(width) + " bytes, expected " + std::to_string(expected) +
                             " for elements of type " + element_name(type));
  }
  if (const ElementRow* held = row_named(nb::cast<std::string>(array.attr("dtype").attr("name"))); !held || !held->native) {
    value.keep_alive = value.keep_alive.attr("view")(width == 2 ? "uint16" : "uint8");
  }
  value.value = tensor_over_array(value.keep_alive, type);
  return value;
}

/// Another object over the same memory, where that is a tensor's of numbers; else the object.
nb::object shallow_copy(nb::handle self) {
  const PyValue& value = nb::cast<const PyValue&>(self);
  if (!value.value || !value.value.HasValue() || !value.value.IsTensor()) return nb::borrow(self);
  if (value.value.GetTensorTypeAndShapeInfo().GetElementType() == ONNX_TENSOR_ELEMENT_DATA_TYPE_STRING) return nb::borrow(self);
  return nb::cast(PyValue{tensor_over(value), nb::borrow(self)});
}

void bind_making(nb::class_<PyValue>& type) {
  type.def(
          "__init__",
          [](PyValue* self, nb::handle_t<PyValue> other, nb::object, nb::object) {
            new (self) PyValue{tensor_over(nb::cast<PyValue&>(other)), nb::borrow(other)};
          },
          nb::arg("ortvalue"), nb::arg("numpy_obj") = nb::none(), nb::arg("session") = nb::none())
      .def_static("ortvalue_from_numpy", &from_numpy, nb::arg("numpy_obj"), nb::arg("device_type") = "cpu", nb::arg("device_id") = 0,
                  nb::arg("vendor_id") = -1)
      .def_static("ortvalue_from_numpy_with_onnx_type", &from_numpy_with_type, nb::arg("data"), nb::arg("onnx_element_type"))
      .def_static("ortvalue_from_shape_and_type", &from_shape, nb::arg("shape"), nb::arg("element_type"), nb::arg("device_type") = "cpu",
                  nb::arg("device_id") = 0, nb::arg("vendor_id") = -1, nb::arg("memory_info") = nb::none())
      .def_static(
          "ort_value_from_sparse_tensor", [](nb::handle tensor) { return nb::object(tensor.attr("_value")); }, nb::arg("sparse_tensor"))
      .def_static(
          "ortvalue_from_shape_and_onnx_type",
          [](const std::vector<int64_t>& shape, int type, nb::handle device) {
            return from_shape(shape, nb::int_(type), device, 0, -1, nb::none());
          },
          nb::arg("shape"), nb::arg("element_type"), nb::arg("device"))
      .def_static("ortvalue_from_shape_and_type_for_memory_info", &from_memory, nb::arg("shape"), nb::arg("element_type"),
                  nb::arg("memory_info"))
      .def_static("ortvalue_from_shape_and_onnx_type_for_memory_info", &from_memory, nb::arg("shape"), nb::arg("element_type"),
                  nb::arg("memory_info"))
      .def_prop_ro("_ortvalue", [](nb::handle self) { return nb::borrow(self); })
      .def_prop_ro("_numpy_obj", &borrowed_array)
      .def_prop_ro("_session", [](const PyValue&) { return nb::none(); })
      .def("__copy__", &shallow_copy)
      .def("_get_c_value", [](nb::handle self) { return nb::borrow(self); });
}

}  // namespace

void bind_ort_value(nb::module_& module) {
  nb::class_<PyValue> type(module, "OrtValue",
                           "A value of a run: a tensor, sequence, map or optional, in memory of the host or of a device.",
                           nb::dynamic_attr(), nb::is_weak_referenceable());
  bind_making(type);
  bind_dlpack(type);
  bind_dlpack_questions(module);
  type.def("data_ptr", [](const PyValue& v) { return reinterpret_cast<uintptr_t>(v.value.GetTensorRawData()); })
      .def("device_name", [](const PyValue& v) { return device_name(place_of(v.value)); })
      .def("shape", [](const PyValue& v) { return v.value.GetTensorTypeAndShapeInfo().GetShape(); })
      .def("element_type", [](const PyValue& v) { return onnx_number(v.value.GetTensorTypeAndShapeInfo().GetElementType()); })
      .def("data_type", [](const PyValue& v) { return type_text(v.value.GetTypeInfo()); })
      .def("tensor_size_in_bytes",
           [](const PyValue& v) {
             numeric_type(v.value);
             return bytes_in(v.value);
           })
      .def("has_value", [](const PyValue& v) { return v.value && v.value.HasValue(); })
      .def("is_tensor", [](const PyValue& v) { return v.value.IsTensor(); })
      .def("is_sparse_tensor", [](const PyValue& v) { return is_sparse(v.value); })
      .def("as_sparse_tensor", [](nb::handle self) { return sparse_tensor_over(self); })
      .def("is_tensor_sequence", [](const PyValue& v) { return v.value.GetTypeInfo().GetONNXType() == ONNX_TYPE_SEQUENCE; })
      .def("numpy", &to_numpy)
      .def("__array__", &to_array, nb::arg("dtype") = nb::none(), nb::arg("copy") = nb::none())
      .def("update_inplace", &update_inplace, nb::arg("data"));
}

}  // namespace rh::python
