// OrtValues through DLPack: without copies, in and out, on the host and on devices.
#include <algorithm>

#include "dlpack_capsule.h"
#include "places.h"

namespace rh::python {

namespace {

constexpr int kBFloat = 4;  // DLDataTypeCode

ONNXTensorElementDataType element_of(const nb::dlpack::dtype& type) {
  if (type.code == kBFloat && type.bits == 16) return ONNX_TENSOR_ELEMENT_DATA_TYPE_BFLOAT16;
  if (type.lanes == 1) {
    if (const ElementRow* row = row_of_dlpack(type)) return row->type;
  }
  throw std::runtime_error("DLPack elements of code " + std::to_string(type.code) + ", " + std::to_string(type.bits) + " bits, " +
                           std::to_string(type.lanes) + " lanes have no ONNX type");
}

void check_contiguous(const ForeignTensor& tensor) {
  if (tensor.strides.empty() || std::find(tensor.shape.begin(), tensor.shape.end(), 0) != tensor.shape.end()) return;
  int64_t expected = 1;
  for (size_t i = tensor.shape.size(); i-- > 0;) {
    if (tensor.shape[i] != 1 && tensor.strides[i] != expected) {
      throw std::runtime_error("the DLPack tensor is not contiguous; copy it in its library first");
    }
    expected *= tensor.shape[i];
  }
}

/// Of a capsule, or of an object that gives one or a buffer.
ForeignTensor foreign_tensor(const nb::object& data) {
  if (std::optional<ForeignTensor> taken = take_capsule(data)) return std::move(*taken);
  nb::ndarray<nb::ro> array;
  if (!nb::try_cast(data, array) || !array.is_valid()) {
    throw nb::type_error("from_dlpack takes an object with __dlpack__, or a capsule named 'dltensor'");
  }
  ForeignTensor tensor{const_cast<void*>(array.data()), {array.device_type(), array.device_id()}, array.dtype(), {}, {}, {}};
  tensor.shape.assign(array.shape_ptr(), array.shape_ptr() + array.ndim());
  tensor.strides.assign(array.stride_ptr(), array.stride_ptr() + array.ndim());
  tensor.owner = nb::capsule(new nb::ndarray<nb::ro>(array), [](void* p) noexcept { delete static_cast<nb::ndarray<nb::ro>*>(p); });
  return tensor;
}

PyValue value_over(const nb::object& data) {
  ForeignTensor tensor = foreign_tensor(data);
  const PyPlace place = place_of_dlpack(tensor.device.device_type, tensor.device.device_id);
  check_contiguous(tensor);
  const ONNXTensorElementDataType type = element_of(tensor.dtype);
  PyValue value;
  value.value = tensor_over_memory(tensor.data, bytes_of(type, tensor.shape), tensor.shape, type, memory_at(place));
  value.keep_alive = std::move(tensor.owner);
  return value;
}

bool is_on_host(const nb::object& data) {
  if (!nb::hasattr(data, "__dlpack_device__")) return true;
  const int kind = nb::cast<int>(nb::object(data.attr("__dlpack_device__")()[nb::int_(0)]));
  return kind == 1;
}

PyValue shared(const nb::object& data) {
  if (nb::isinstance<PyValue>(data) || !nb::hasattr(data, "__dlpack__") || !is_on_host(data)) {
    return value_over(nb::hasattr(data, "__dlpack__") ? nb::object(data.attr("__dlpack__")()) : data);
  }
  PyValue value;
  value.keep_alive = numpy().attr("from_dlpack")(data);
  value.value = value_from_object(value.keep_alive, value.keep_alive);
  return value;
}

// Bytes that stand for truth values become such.
PyValue from_dlpack(const nb::object& data, bool is_bool) {
  PyValue made = shared(data);
  const auto info = made.value.GetTensorTypeAndShapeInfo();
  if (!is_bool || info.GetElementType() != ONNX_TENSOR_ELEMENT_DATA_TYPE_UINT8) return made;
  made.value = tensor_over_memory(const_cast<void*>(made.value.GetTensorRawData()), made.value.GetTensorSizeInBytes(), info.GetShape(),
                                  ONNX_TENSOR_ELEMENT_DATA_TYPE_BOOL, made.value.GetTensorMemoryInfo());
  return made;
}

bool is_uint8_capsule(nb::handle capsule) {
  const auto* tensor = static_cast<const nb::dlpack::dltensor*>(PyCapsule_GetPointer(capsule.ptr(), "dltensor"));
  if (!tensor) throw nb::python_error();
  return tensor->dtype == nb::dtype<uint8_t>();
}

const ElementRow& shareable(const Ort::Value& value) {
  const ONNXTensorElementDataType type = numeric_type(value);
  const ElementRow* row = row_of(type);
  if (!row) throw std::runtime_error("elements narrower than a byte cannot be shared through DLPack; use numpy()");
  return *row;
}

nb::object to_dlpack(nb::handle self) {
  const Ort::Value& value = nb::cast<PyValue&>(self).value;
  const PyPlace place = place_of(value);
  const ElementRow& row = shareable(value);
  const nb::dlpack::dtype type = row.type == ONNX_TENSOR_ELEMENT_DATA_TYPE_BFLOAT16 ? nb::dlpack::dtype{kBFloat, 16, 1} : row.dlpack;
  const nb::dlpack::device device{dlpack_kind(place), dlpack_kind(place) == 1 ? 0 : place.id};
  return capsule_over(
      {const_cast<void*>(value.GetTensorRawData()), device, type, value.GetTensorTypeAndShapeInfo().GetShape(), {}, nb::borrow(self)});
}

// What asks for a version of the protocol, or for a copy, gets what numpy gives it.
nb::object dlpack(nb::handle self, const nb::kwargs& wishes) {
  const Ort::Value& value = nb::cast<PyValue&>(self).value;
  const bool plain = wishes.size() == 0 || (wishes.size() == 1 && wishes.contains("stream"));
  if (plain || !shareable(value).native || dlpack_kind(place_of(value)) != 1) return to_dlpack(self);
  return array_over(self).attr("__dlpack__")(**wishes);
}

}  // namespace

nb::object array_over(nb::handle object) {
  const PyValue& value = nb::cast<PyValue&>(object);
  const PyPlace place = place_of(value.value);
  if (dlpack_kind(place) != 1) return value_to_object(copy_on_host(value.value));
  const ElementRow* row = row_of(numeric_type(value.value));
  const std::vector<int64_t> shape = value.value.GetTensorTypeAndShapeInfo().GetShape();
  if (!row) return value_to_object(copy_on_host(value.value));
  nb::object array = array_over_memory(const_cast<void*>(value.value.GetTensorRawData()), shape, object, *row);
  if (is_read_only(value)) array.attr("flags").attr("writeable") = false;
  return array;
}

void bind_dlpack(nb::class_<PyValue>& type) {
  type.def("__dlpack__", [](nb::handle self, nb::kwargs wishes) { return dlpack(self, wishes); })
      .def("to_dlpack", [](nb::handle self) { return to_dlpack(self); })
      .def("__dlpack_device__",
           [](const PyValue& v) {
             numeric_type(v.value);
             const PyPlace place = place_of(v.value);
             const int kind = dlpack_kind(place);
             return nb::make_tuple(kind, kind == 1 ? 0 : place.id);
           })
      .def_static("from_dlpack", &from_dlpack, nb::arg("data"), nb::arg("is_bool_tensor") = false);
}

void bind_dlpack_questions(nb::module_& module) { module.def("is_dlpack_uint8_tensor", &is_uint8_capsule, nb::arg("dlpack_tensor")); }

}  // namespace rh::python
