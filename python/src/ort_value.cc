#include <cstring>

#include "values.h"

namespace rh::python {

namespace {

PyValue value_from_shape(const std::vector<int64_t>& shape, nb::handle type, const std::string& device) {
  if (device != "cpu") throw nb::value_error(("device type '" + device + "' is not available, expected cpu").c_str());
  Ort::AllocatorWithDefaultOptions allocator;
  const ONNXTensorElementDataType element = element_type_of(type);
  if (element == ONNX_TENSOR_ELEMENT_DATA_TYPE_STRING)
    throw std::runtime_error("a tensor of strings cannot be made from a shape; use ortvalue_from_numpy");
  return {Ort::Value::CreateTensor(allocator, shape.data(), shape.size(), element), nb::none()};
}

size_t bytes_in(const Ort::Value& value) {
  size_t bytes = 0;
  Ort::ThrowOnError(Ort::GetApi().GetTensorSizeInBytes(value, &bytes));
  return bytes;
}

// Another handle to the same content.
Ort::Value tensor_over(const PyValue& value) {
  const auto info = value.value.GetTensorTypeAndShapeInfo();
  return tensor_over_memory(const_cast<void*>(value.value.GetTensorRawData()), bytes_in(value.value), info.GetShape(),
                            info.GetElementType());
}

nb::object to_numpy(const PyValue& value) {
  if (!value.value.HasValue()) return nb::none();
  if (!value.value.IsTensor()) throw std::runtime_error("only dense tensors become arrays");
  if (value.value.GetTensorTypeAndShapeInfo().GetElementType() == ONNX_TENSOR_ELEMENT_DATA_TYPE_STRING) {
    return strings_to_array(value.value, value.value.GetTensorTypeAndShapeInfo().GetShape());
  }
  return value_to_object(tensor_over(value)).attr("copy")();
}

ONNXTensorElementDataType numeric_type(const Ort::Value& value) {
  if (!value || !value.IsTensor()) throw std::runtime_error("the OrtValue is no tensor");
  const ONNXTensorElementDataType type = value.GetTensorTypeAndShapeInfo().GetElementType();
  if (type == ONNX_TENSOR_ELEMENT_DATA_TYPE_STRING) throw std::runtime_error("the OrtValue holds strings, expected numbers");
  return type;
}

void update_inplace(PyValue& value, nb::handle data) {
  nb::object holder;
  const Ort::Value from = nb::isinstance<PyValue>(data) ? tensor_over(nb::cast<PyValue&>(data)) : value_from_object(data, holder);
  if (numeric_type(value.value) != numeric_type(from)) {
    throw std::runtime_error(std::string("the new data has elements of type ") + element_name(numeric_type(from)) + ", expected " +
                             element_name(numeric_type(value.value)));
  }
  if (bytes_in(from) != bytes_in(value.value)) {
    throw std::runtime_error("the new data has " + std::to_string(bytes_in(from)) + " bytes, expected " +
                             std::to_string(bytes_in(value.value)));
  }
  if (nb::hasattr(value.keep_alive, "flags") && !nb::cast<bool>(value.keep_alive.attr("flags")["WRITEABLE"])) {
    throw std::runtime_error("the OrtValue borrows a read-only array; make it from a copy to update it");
  }
  std::memmove(value.value.GetTensorMutableRawData(), from.GetTensorRawData(), bytes_in(from));
}

// An ndarray over the tensor's memory that keeps `object`, the OrtValue, alive.
nb::object shared_array(nb::handle object) {
  const PyValue& value = nb::cast<PyValue&>(object);
  const ElementRow* row = row_of(numeric_type(value.value));
  if (!row) throw std::runtime_error("elements narrower than a byte cannot be shared through DLPack; use numpy()");
  std::vector<size_t> dims;
  for (int64_t dim : value.value.GetTensorTypeAndShapeInfo().GetShape()) dims.push_back(static_cast<size_t>(dim));
  return nb::cast(
      nb::ndarray<nb::numpy>(const_cast<void*>(value.value.GetTensorRawData()), dims.size(), dims.data(), object, nullptr, row->dlpack));
}

// From an object with __dlpack__, or a capsule that one gave.
PyValue from_dlpack(nb::object data) {
  PyValue value;
  if (nb::hasattr(data, "__dlpack__")) {
    value.keep_alive = numpy().attr("from_dlpack")(data);
  } else {
    value.keep_alive = nb::cast(nb::ndarray<nb::numpy>(nb::cast<nb::ndarray<>>(data)));
  }
  value.value = value_from_object(value.keep_alive, value.keep_alive);
  return value;
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

}  // namespace

void bind_ort_value(nb::module_& module) {
  nb::class_<PyValue>(module, "OrtValue")
      .def_static(
          "ortvalue_from_numpy",
          [](nb::handle array, const std::string& device, int, int) {
            if (device != "cpu") throw nb::value_error(("device type '" + device + "' is not available, expected cpu").c_str());
            PyValue value;
            value.value = value_from_object(array, value.keep_alive);
            return value;
          },
          nb::arg("numpy_obj"), nb::arg("device_type") = "cpu", nb::arg("device_id") = 0, nb::arg("vendor_id") = -1)
      .def_static("ortvalue_from_numpy_with_onnx_type", &from_numpy_with_type, nb::arg("data"), nb::arg("onnx_element_type"))
      .def_static(
          "ortvalue_from_shape_and_type",
          [](const std::vector<int64_t>& shape, nb::handle type, const std::string& device, int, int) {
            return value_from_shape(shape, type, device);
          },
          nb::arg("shape"), nb::arg("element_type"), nb::arg("device_type") = "cpu", nb::arg("device_id") = 0, nb::arg("vendor_id") = -1)
      .def("data_ptr", [](const PyValue& v) { return reinterpret_cast<uintptr_t>(v.value.GetTensorRawData()); })
      .def("device_name", [](const PyValue&) { return "cpu"; })
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
      .def("is_sparse_tensor", [](const PyValue& v) { return v.value.GetTypeInfo().GetONNXType() == ONNX_TYPE_SPARSETENSOR; })
      .def("is_tensor_sequence", [](const PyValue& v) { return v.value.GetTypeInfo().GetONNXType() == ONNX_TYPE_SEQUENCE; })
      .def("numpy",
           [](const PyValue& v) {
             if (v.value && v.value.HasValue() && v.value.GetTypeInfo().GetONNXType() == ONNX_TYPE_SEQUENCE) {
               Ort::AllocatorWithDefaultOptions allocator;
               nb::list list;
               for (size_t i = 0; i < v.value.GetCount(); ++i)
                 list.append(value_to_object(v.value.GetValue(static_cast<int>(i), allocator)));
               return nb::object(list);
             }
             return to_numpy(v);
           })
      .def(
          "__array__",
          [](const PyValue& v, nb::object dtype, nb::object) {
            const nb::object array = to_numpy(v);
            return dtype.is_none() ? array : nb::object(array.attr("astype")(dtype));
          },
          nb::arg("dtype") = nb::none(), nb::arg("copy") = nb::none())
      .def("__dlpack__", [](nb::handle self, nb::args, nb::kwargs) { return shared_array(self).attr("__dlpack__")(); })
      .def("__dlpack_device__", [](const PyValue&) { return nb::make_tuple(1, 0); })
      .def_static("from_dlpack", &from_dlpack, nb::arg("data"))
      .def("update_inplace", &update_inplace, nb::arg("data"));
}

}  // namespace rh::python
