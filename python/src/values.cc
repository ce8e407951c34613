#include "values.h"

#include <nanobind/ndarray.h>

#include <array>
#include <cstring>

namespace rh::python {

namespace {

struct ElementRow {
  const char* numpy_name;  ///< of numpy, or of ml_dtypes where numpy has no such type
  ONNXTensorElementDataType type;
  nb::dlpack::dtype dlpack;  ///< of the type, or of the unsigned integer as wide where numpy has no such type
  bool native;               ///< numpy has it
};

constexpr auto code(nb::dlpack::dtype_code c) { return static_cast<uint8_t>(c); }

const std::array kElements = {
    ElementRow{"float32", ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT, {code(nb::dlpack::dtype_code::Float), 32, 1}, true},
    ElementRow{"uint8", ONNX_TENSOR_ELEMENT_DATA_TYPE_UINT8, {code(nb::dlpack::dtype_code::UInt), 8, 1}, true},
    ElementRow{"int8", ONNX_TENSOR_ELEMENT_DATA_TYPE_INT8, {code(nb::dlpack::dtype_code::Int), 8, 1}, true},
    ElementRow{"uint16", ONNX_TENSOR_ELEMENT_DATA_TYPE_UINT16, {code(nb::dlpack::dtype_code::UInt), 16, 1}, true},
    ElementRow{"int16", ONNX_TENSOR_ELEMENT_DATA_TYPE_INT16, {code(nb::dlpack::dtype_code::Int), 16, 1}, true},
    ElementRow{"int32", ONNX_TENSOR_ELEMENT_DATA_TYPE_INT32, {code(nb::dlpack::dtype_code::Int), 32, 1}, true},
    ElementRow{"int64", ONNX_TENSOR_ELEMENT_DATA_TYPE_INT64, {code(nb::dlpack::dtype_code::Int), 64, 1}, true},
    ElementRow{"bool", ONNX_TENSOR_ELEMENT_DATA_TYPE_BOOL, {code(nb::dlpack::dtype_code::Bool), 8, 1}, true},
    ElementRow{"float16", ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT16, {code(nb::dlpack::dtype_code::Float), 16, 1}, true},
    ElementRow{"float64", ONNX_TENSOR_ELEMENT_DATA_TYPE_DOUBLE, {code(nb::dlpack::dtype_code::Float), 64, 1}, true},
    ElementRow{"uint32", ONNX_TENSOR_ELEMENT_DATA_TYPE_UINT32, {code(nb::dlpack::dtype_code::UInt), 32, 1}, true},
    ElementRow{"uint64", ONNX_TENSOR_ELEMENT_DATA_TYPE_UINT64, {code(nb::dlpack::dtype_code::UInt), 64, 1}, true},
    ElementRow{"complex64", ONNX_TENSOR_ELEMENT_DATA_TYPE_COMPLEX64, {code(nb::dlpack::dtype_code::Complex), 64, 1}, true},
    ElementRow{"complex128", ONNX_TENSOR_ELEMENT_DATA_TYPE_COMPLEX128, {code(nb::dlpack::dtype_code::Complex), 128, 1}, true},
    ElementRow{"bfloat16", ONNX_TENSOR_ELEMENT_DATA_TYPE_BFLOAT16, {code(nb::dlpack::dtype_code::UInt), 16, 1}, false},
    ElementRow{"float8_e4m3fn", ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT8E4M3FN, {code(nb::dlpack::dtype_code::UInt), 8, 1}, false},
    ElementRow{"float8_e4m3fnuz", ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT8E4M3FNUZ, {code(nb::dlpack::dtype_code::UInt), 8, 1}, false},
    ElementRow{"float8_e5m2", ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT8E5M2, {code(nb::dlpack::dtype_code::UInt), 8, 1}, false},
    ElementRow{"float8_e5m2fnuz", ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT8E5M2FNUZ, {code(nb::dlpack::dtype_code::UInt), 8, 1}, false},
    ElementRow{"float8_e8m0fnu", ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT8E8M0, {code(nb::dlpack::dtype_code::UInt), 8, 1}, false},
};

const ElementRow* row_named(const std::string& name) {
  for (const ElementRow& row : kElements) {
    if (name == row.numpy_name) return &row;
  }
  return nullptr;
}

const ElementRow* row_of(ONNXTensorElementDataType type) {
  for (const ElementRow& row : kElements) {
    if (row.type == type) return &row;
  }
  return nullptr;
}

// Kept for the life of the process: module objects must not be released while the interpreter shuts down.
nb::handle numpy() {
  static PyObject* module = nb::module_::import_("numpy").release().ptr();
  return module;
}

const Ort::MemoryInfo& host_memory() {
  static const auto* info = new Ort::MemoryInfo(Ort::MemoryInfo::CreateCpu(OrtDeviceAllocator, OrtMemTypeDefault));
  return *info;
}

std::vector<int64_t> shape_of(nb::handle array) { return nb::cast<std::vector<int64_t>>(nb::list(array.attr("shape"))); }

Ort::Value strings_from_array(nb::handle array) {
  const std::vector<int64_t> shape = shape_of(array);
  Ort::AllocatorWithDefaultOptions allocator;
  OrtValue* raw = nullptr;
  Ort::ThrowOnError(
      Ort::GetApi().CreateTensorAsOrtValue(allocator, shape.data(), shape.size(), ONNX_TENSOR_ELEMENT_DATA_TYPE_STRING, &raw));
  Ort::Value value(raw);
  std::vector<std::string> texts;
  for (nb::handle item : nb::cast<nb::list>(array.attr("ravel")().attr("tolist")())) {
    if (nb::isinstance<nb::bytes>(item)) {
      const nb::bytes bytes = nb::cast<nb::bytes>(item);
      texts.emplace_back(bytes.c_str(), bytes.size());
    } else if (nb::isinstance<nb::str>(item)) {
      texts.push_back(nb::cast<std::string>(item));
    } else {
      throw nb::type_error("an array of objects holds something that is not a string; expected strings");
    }
  }
  std::vector<const char*> pointers;
  for (const std::string& text : texts) pointers.push_back(text.c_str());
  Ort::ThrowOnError(Ort::GetApi().FillStringTensor(value, pointers.data(), pointers.size()));
  return value;
}

// A tensor over the memory of a contiguous array whose elements have the given width.
Ort::Value over_memory(nb::handle array, ONNXTensorElementDataType type) {
  const auto view = nb::cast<nb::ndarray<nb::c_contig, nb::device::cpu>>(array);
  std::vector<int64_t> shape;
  for (size_t i = 0; i < view.ndim(); ++i) shape.push_back(static_cast<int64_t>(view.shape(i)));
  OrtValue* raw = nullptr;
  Ort::ThrowOnError(
      Ort::GetApi().CreateTensorWithDataAsOrtValue(host_memory(), view.data(), view.nbytes(), shape.data(), shape.size(), type, &raw));
  return Ort::Value(raw);
}

Ort::Value tensor_from_array(nb::handle object, nb::object& holder) {
  nb::object array = numpy().attr("asarray")(object);
  const std::string kind = nb::cast<std::string>(array.attr("dtype").attr("kind"));
  if (kind == "O" || kind == "U" || kind == "S" || kind == "T") return strings_from_array(array);
  const std::string name = nb::cast<std::string>(array.attr("dtype").attr("name"));
  const ElementRow* row = row_named(name);
  if (!row) throw nb::type_error(("arrays of dtype " + name + " have no ONNX element type").c_str());
  const bool swapped = nb::cast<std::string>(array.attr("dtype").attr("byteorder")) == ">";
  if (swapped) array = array.attr("astype")(array.attr("dtype").attr("newbyteorder")("="));
  if (!nb::cast<bool>(array.attr("flags")["C_CONTIGUOUS"])) array = array.attr("copy")("C");
  // The buffer protocol refuses read-only memory to be written and types that numpy does not have.
  if (!row->native) array = array.attr("view")(row->dlpack.bits == 16 ? "uint16" : "uint8");
  if (!nb::cast<bool>(array.attr("flags")["WRITEABLE"])) array = array.attr("copy")();
  holder = array;
  return over_memory(array, row->type);
}

Ort::Value sequence_from_list(nb::handle list, nb::object& holder) {
  nb::list holders;
  std::vector<Ort::Value> elements;
  for (nb::handle item : list) {
    nb::object one = nb::none();
    elements.push_back(value_from_object(item, one));
    holders.append(one);
  }
  holder = holders;
  return Ort::Value::CreateSequence(elements);
}

Ort::Value map_from_dict(const nb::dict& dict, nb::object& holder) {
  nb::object keys_holder, values_holder;
  const nb::object keys = numpy().attr("array")(nb::list(dict.keys())), values = numpy().attr("array")(nb::list(dict.values()));
  const bool floats = nb::cast<std::string>(values.attr("dtype").attr("kind")) == "f";
  const Ort::Value k = tensor_from_array(keys, keys_holder);
  const Ort::Value v = tensor_from_array(floats ? nb::object(values.attr("astype")("float32")) : values, values_holder);
  holder = nb::make_tuple(keys_holder, values_holder);
  return Ort::Value::CreateMap(k, v);
}

nb::object strings_to_array(const Ort::Value& value, const std::vector<int64_t>& shape) {
  const size_t count = value.GetTensorTypeAndShapeInfo().GetElementCount();
  nb::object array = numpy().attr("empty")(count, "object");
  for (size_t i = 0; i < count; ++i) {
    const std::string text = value.GetStringTensorElement(i);
    array[nb::int_(i)] = nb::steal(PyUnicode_DecodeUTF8(text.data(), static_cast<Py_ssize_t>(text.size()), "surrogateescape"));
  }
  return array.attr("reshape")(nb::cast(shape));
}

size_t packed_bits(ONNXTensorElementDataType type) {
  return type == ONNX_TENSOR_ELEMENT_DATA_TYPE_INT2 || type == ONNX_TENSOR_ELEMENT_DATA_TYPE_UINT2 ? 2 : 4;
}

// Elements narrower than a byte, one a byte: signed ones as int8, others as uint8.
nb::object packed_to_array(const Ort::Value& value, ONNXTensorElementDataType type, const std::vector<int64_t>& shape) {
  const size_t bits = packed_bits(type);
  const bool is_signed = type == ONNX_TENSOR_ELEMENT_DATA_TYPE_INT4 || type == ONNX_TENSOR_ELEMENT_DATA_TYPE_INT2;
  const size_t count = value.GetTensorTypeAndShapeInfo().GetElementCount();
  const auto* bytes = static_cast<const uint8_t*>(value.GetTensorRawData());
  std::string unpacked(count, '\0');
  for (size_t i = 0; i < count; ++i) {
    unsigned element = 0;
    for (size_t b = 0; b < bits; ++b) {
      const size_t bit = i * bits + b;
      element |= static_cast<unsigned>((bytes[bit / 8] >> (bit % 8)) & 1) << b;
    }
    if (is_signed && element >> (bits - 1)) element |= ~0u << bits;
    unpacked[i] = static_cast<char>(element);
  }
  const nb::object array = numpy().attr("frombuffer")(nb::bytes(unpacked.data(), unpacked.size()), is_signed ? "int8" : "uint8");
  return array.attr("copy")().attr("reshape")(nb::cast(shape));
}

nb::object tensor_to_array(Ort::Value value) {
  const Ort::TensorTypeAndShapeInfo info = value.GetTensorTypeAndShapeInfo();
  const ONNXTensorElementDataType type = info.GetElementType();
  const std::vector<int64_t> shape = info.GetShape();
  if (type == ONNX_TENSOR_ELEMENT_DATA_TYPE_STRING) return strings_to_array(value, shape);
  const ElementRow* row = row_of(type);
  if (!row) return packed_to_array(value, type, shape);
  auto* owned = new Ort::Value(std::move(value));
  const nb::capsule owner(owned, [](void* p) noexcept { delete static_cast<Ort::Value*>(p); });
  const std::vector<size_t> dims(shape.begin(), shape.end());
  const nb::ndarray<nb::numpy> array(owned->GetTensorMutableRawData(), dims.size(), dims.data(), owner, nullptr, row->dlpack);
  nb::object result = nb::cast(array);
  if (row->native) return result;
  try {
    return result.attr("view")(nb::module_::import_("ml_dtypes").attr(row->numpy_name));
  } catch (nb::python_error&) {
    return result;  // without ml_dtypes: the bits
  }
}

nb::object map_to_dict(const Ort::Value& value) {
  Ort::AllocatorWithDefaultOptions allocator;
  const nb::object keys = value_to_object(value.GetValue(0, allocator)), values = value_to_object(value.GetValue(1, allocator));
  return nb::module_::import_("builtins")
      .attr("dict")(nb::module_::import_("builtins").attr("zip")(keys.attr("tolist")(), values.attr("tolist")()));
}

}  // namespace

namespace {

struct TypeNumber {
  ONNXTensorElementDataType type;
  int onnx;  ///< TensorProto.DataType
  const char* name;
};

// The numbers of the C ABI and of the ONNX standard part ways after 23.
constexpr TypeNumber kTypeNumbers[] = {
    {ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT, 1, "float"},
    {ONNX_TENSOR_ELEMENT_DATA_TYPE_UINT8, 2, "uint8"},
    {ONNX_TENSOR_ELEMENT_DATA_TYPE_INT8, 3, "int8"},
    {ONNX_TENSOR_ELEMENT_DATA_TYPE_UINT16, 4, "uint16"},
    {ONNX_TENSOR_ELEMENT_DATA_TYPE_INT16, 5, "int16"},
    {ONNX_TENSOR_ELEMENT_DATA_TYPE_INT32, 6, "int32"},
    {ONNX_TENSOR_ELEMENT_DATA_TYPE_INT64, 7, "int64"},
    {ONNX_TENSOR_ELEMENT_DATA_TYPE_STRING, 8, "string"},
    {ONNX_TENSOR_ELEMENT_DATA_TYPE_BOOL, 9, "bool"},
    {ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT16, 10, "float16"},
    {ONNX_TENSOR_ELEMENT_DATA_TYPE_DOUBLE, 11, "double"},
    {ONNX_TENSOR_ELEMENT_DATA_TYPE_UINT32, 12, "uint32"},
    {ONNX_TENSOR_ELEMENT_DATA_TYPE_UINT64, 13, "uint64"},
    {ONNX_TENSOR_ELEMENT_DATA_TYPE_COMPLEX64, 14, "complex64"},
    {ONNX_TENSOR_ELEMENT_DATA_TYPE_COMPLEX128, 15, "complex128"},
    {ONNX_TENSOR_ELEMENT_DATA_TYPE_BFLOAT16, 16, "bfloat16"},
    {ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT8E4M3FN, 17, "float8e4m3fn"},
    {ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT8E4M3FNUZ, 18, "float8e4m3fnuz"},
    {ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT8E5M2, 19, "float8e5m2"},
    {ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT8E5M2FNUZ, 20, "float8e5m2fnuz"},
    {ONNX_TENSOR_ELEMENT_DATA_TYPE_UINT4, 21, "uint4"},
    {ONNX_TENSOR_ELEMENT_DATA_TYPE_INT4, 22, "int4"},
    {ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT4E2M1, 23, "float4e2m1"},
    {ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT8E8M0, 24, "float8e8m0"},
    {ONNX_TENSOR_ELEMENT_DATA_TYPE_UINT2, 25, "uint2"},
    {ONNX_TENSOR_ELEMENT_DATA_TYPE_INT2, 26, "int2"},
};

const TypeNumber* number_row(ONNXTensorElementDataType type) {
  for (const TypeNumber& row : kTypeNumbers) {
    if (row.type == type) return &row;
  }
  return nullptr;
}

}  // namespace

const char* element_name(ONNXTensorElementDataType type) {
  const TypeNumber* row = number_row(type);
  return row ? row->name : "undefined";
}

int onnx_number(ONNXTensorElementDataType type) {
  const TypeNumber* row = number_row(type);
  return row ? row->onnx : 0;
}

ONNXTensorElementDataType element_type_of_number(int number) {
  for (const TypeNumber& row : kTypeNumbers) {
    if (row.onnx == number) return row.type;
  }
  throw nb::value_error(("element type number " + std::to_string(number) + " is not known, expected one of TensorProto.DataType").c_str());
}

size_t bytes_of(ONNXTensorElementDataType type, const std::vector<int64_t>& shape) {
  size_t count = 1;
  for (int64_t dim : shape) {
    if (dim < 0) throw nb::value_error("a dimension is negative");
    count *= static_cast<size_t>(dim);
  }
  if (const ElementRow* row = row_of(type)) return count * row->dlpack.bits / 8;
  return (count * packed_bits(type) + 7) / 8;
}

ONNXTensorElementDataType element_type_of(nb::handle type) {
  if (nb::isinstance<nb::int_>(type)) return element_type_of_number(nb::cast<int>(type));
  const nb::object dtype = numpy().attr("dtype")(type);
  const std::string name = nb::cast<std::string>(dtype.attr("name"));
  if (const ElementRow* row = row_named(name)) return row->type;
  const std::string kind = nb::cast<std::string>(dtype.attr("kind"));
  if (kind == "O" || kind == "U" || kind == "S") return ONNX_TENSOR_ELEMENT_DATA_TYPE_STRING;
  throw nb::type_error(("dtype " + name + " has no ONNX element type").c_str());
}

Ort::Value value_from_object(nb::handle object, nb::object& holder) {
  if (nb::isinstance<nb::list>(object)) return sequence_from_list(object, holder);
  if (nb::isinstance<nb::dict>(object)) return map_from_dict(nb::cast<nb::dict>(object), holder);
  if (object.is_none()) throw nb::type_error("None is no value for an input; leave optional inputs out of the feed");
  return tensor_from_array(object, holder);
}

nb::object value_to_object(Ort::Value value) {
  if (!value || !value.HasValue()) return nb::none();
  switch (value.GetTypeInfo().GetONNXType()) {
    case ONNX_TYPE_SEQUENCE: {
      Ort::AllocatorWithDefaultOptions allocator;
      nb::list list;
      for (size_t i = 0, count = value.GetCount(); i < count; ++i)
        list.append(value_to_object(value.GetValue(static_cast<int>(i), allocator)));
      return list;
    }
    case ONNX_TYPE_MAP: return map_to_dict(value);
    default: return tensor_to_array(std::move(value));
  }
}

namespace {

PyValue value_from_shape(const std::vector<int64_t>& shape, nb::handle type, const std::string& device) {
  if (device != "cpu") throw nb::value_error(("device type '" + device + "' is not available, expected cpu").c_str());
  Ort::AllocatorWithDefaultOptions allocator;
  const ONNXTensorElementDataType element = element_type_of(type);
  if (element == ONNX_TENSOR_ELEMENT_DATA_TYPE_STRING)
    throw nb::type_error("a tensor of strings cannot be made from a shape; use ortvalue_from_numpy");
  OrtValue* raw = nullptr;
  Ort::ThrowOnError(Ort::GetApi().CreateTensorAsOrtValue(allocator, shape.data(), shape.size(), element, &raw));
  return {Ort::Value(raw), nb::none()};
}

// Another handle to the same content.
Ort::Value tensor_over(const PyValue& value) {
  const auto info = value.value.GetTensorTypeAndShapeInfo();
  const std::vector<int64_t> shape = info.GetShape();
  size_t bytes = 0;
  Ort::ThrowOnError(Ort::GetApi().GetTensorSizeInBytes(value.value, &bytes));
  OrtValue* raw = nullptr;
  Ort::ThrowOnError(Ort::GetApi().CreateTensorWithDataAsOrtValue(host_memory(), const_cast<void*>(value.value.GetTensorRawData()), bytes,
                                                                 shape.data(), shape.size(), info.GetElementType(), &raw));
  return Ort::Value(raw);
}

nb::object to_numpy(const PyValue& value) {
  if (!value.value.HasValue()) return nb::none();
  if (!value.value.IsTensor()) throw std::runtime_error("only dense tensors become arrays");
  if (value.value.GetTensorTypeAndShapeInfo().GetElementType() == ONNX_TENSOR_ELEMENT_DATA_TYPE_STRING) {
    return strings_to_array(value.value, value.value.GetTensorTypeAndShapeInfo().GetShape());
  }
  return value_to_object(tensor_over(value)).attr("copy")();
}

void update_inplace(PyValue& value, nb::handle data) {
  nb::object holder;
  const bool wrapped = nb::isinstance<PyValue>(data);
  const Ort::Value from = wrapped ? tensor_over(nb::cast<PyValue&>(data)) : value_from_object(data, holder);
  size_t bytes = 0, capacity = 0;
  Ort::ThrowOnError(Ort::GetApi().GetTensorSizeInBytes(from, &bytes));
  Ort::ThrowOnError(Ort::GetApi().GetTensorSizeInBytes(value.value, &capacity));
  if (bytes != capacity) {
    throw std::runtime_error("the new data has " + std::to_string(bytes) + " bytes, expected " + std::to_string(capacity));
  }
  std::memcpy(value.value.GetTensorMutableRawData(), from.GetTensorRawData(), bytes);
}

std::string type_text(const PyValue& value);

}  // namespace

void bind_values(nb::module_& module) {
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
      .def_static("ortvalue_from_numpy_with_onnx_type",
                  [](nb::object array, int type) {
                    PyValue value;
                    value.keep_alive = numpy().attr("ascontiguousarray")(array);
                    if (const ElementRow* row = row_named(nb::cast<std::string>(value.keep_alive.attr("dtype").attr("name")));
                        row && !row->native) {
                      value.keep_alive = value.keep_alive.attr("view")(row->dlpack.bits == 16 ? "uint16" : "uint8");
                    }
                    value.value = over_memory(value.keep_alive, element_type_of_number(type));
                    return value;
                  })
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
      .def("data_type", &type_text)
      .def("tensor_size_in_bytes",
           [](const PyValue& v) {
             size_t bytes = 0;
             Ort::ThrowOnError(Ort::GetApi().GetTensorSizeInBytes(v.value, &bytes));
             return bytes;
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
      .def("update_inplace", &update_inplace);
}

namespace {

std::string type_text(const PyValue& value) {
  const auto info = value.value.GetTypeInfo();
  if (info.GetONNXType() != ONNX_TYPE_TENSOR) return info.GetONNXType() == ONNX_TYPE_SEQUENCE ? "seq" : "value";
  return std::string("tensor(") + element_name(info.GetTensorTypeAndShapeInfo().GetElementType()) + ")";
}

}  // namespace

}  // namespace rh::python
