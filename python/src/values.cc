#include "values.h"

#include <nanobind/ndarray.h>
#include <roundhouse/roundhouse_c_api.h>

#include <cstring>
#include <utility>

#include "maps.h"

namespace rh::python {

namespace {

std::vector<int64_t> shape_of(nb::handle array) { return nb::cast<std::vector<int64_t>>(nb::list(array.attr("shape"))); }

// Text as UTF-8, lone surrogates as the bytes that they stand for; other objects as their str().
std::string text_of(nb::handle item) {
  if (nb::isinstance<nb::bytes>(item)) {
    const nb::bytes bytes = nb::borrow<nb::bytes>(item);
    return std::string(bytes.c_str(), bytes.size());
  }
  const nb::str text(item);
  const nb::object utf8 = nb::steal(PyUnicode_AsEncodedString(text.ptr(), "utf-8", "surrogateescape"));
  if (!utf8) throw nb::python_error();
  const nb::bytes bytes = nb::borrow<nb::bytes>(utf8);
  return std::string(bytes.c_str(), bytes.size());
}

Ort::Value new_tensor(const std::vector<int64_t>& shape, ONNXTensorElementDataType type) {
  Ort::AllocatorWithDefaultOptions allocator;
  return Ort::Value::CreateTensor(allocator, shape.data(), shape.size(), type);
}

/// The elements of an array of objects in row-major order, where they lie; none where the array is of another kind.
class ObjectItems {
 public:
  explicit ObjectItems(nb::handle array) {
    held_ = PyObject_GetBuffer(array.ptr(), &view_, PyBUF_ND | PyBUF_FORMAT) == 0;
    if (!held_) PyErr_Clear();
  }
  ~ObjectItems() {
    if (held_) PyBuffer_Release(&view_);
  }
  ObjectItems(const ObjectItems&) = delete;
  ObjectItems& operator=(const ObjectItems&) = delete;

  bool there() const { return held_ && view_.format && std::strcmp(view_.format, "O") == 0 && view_.itemsize == sizeof(PyObject*); }
  size_t count() const { return static_cast<size_t>(view_.len) / sizeof(PyObject*); }
  std::vector<int64_t> shape() const { return {view_.shape, view_.shape + view_.ndim}; }
  PyObject*& operator[](size_t i) { return static_cast<PyObject**>(view_.buf)[i]; }

 private:
  Py_buffer view_;
  bool held_ = false;
};

Ort::Value strings_from_array(nb::handle array) {
  ObjectItems items(array);
  Ort::Value value = new_tensor(items.there() ? items.shape() : shape_of(array), ONNX_TENSOR_ELEMENT_DATA_TYPE_STRING);
  size_t at = 0;
  const auto store = [&](const char* text, size_t size) {
    char* buffer = nullptr;
    Ort::ThrowOnError(Ort::GetApi().GetResizedStringTensorElementBuffer(value, at++, size, &buffer));
    if (size != 0) std::memcpy(buffer, text, size);
  };
  const auto store_item = [&](nb::handle item) {
    Py_ssize_t size = 0;
    if (PyUnicode_Check(item.ptr())) {
      if (const char* text = PyUnicode_AsUTF8AndSize(item.ptr(), &size)) return store(text, static_cast<size_t>(size));
      PyErr_Clear();  // lone surrogates
    }
    const std::string text = text_of(item);
    store(text.data(), text.size());
  };
  if (items.there()) {
    // An element's own str() may run, which could put others into the array.
    for (size_t i = 0; i < items.count(); ++i) store_item(items[i] ? nb::borrow(items[i]) : nb::none());
  } else {
    for (nb::handle item : nb::cast<nb::list>(array.attr("ravel")().attr("tolist")())) store_item(item);
  }
  return value;
}

// The element type of a format of the buffer protocol, where it is one letter in the machine's own order.
ONNXTensorElementDataType type_of_format(const char* format, Py_ssize_t bytes) {
  if (!format || format[0] == '\0' || format[1] != '\0') return ONNX_TENSOR_ELEMENT_DATA_TYPE_UNDEFINED;
  const auto sized = [bytes](auto one, auto two, auto four, auto eight) {
    return bytes == 1 ? one : bytes == 2 ? two : bytes == 4 ? four : bytes == 8 ? eight : ONNX_TENSOR_ELEMENT_DATA_TYPE_UNDEFINED;
  };
  switch (format[0]) {
    case 'e': return ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT16;
    case 'f': return ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT;
    case 'd': return ONNX_TENSOR_ELEMENT_DATA_TYPE_DOUBLE;
    case '?': return ONNX_TENSOR_ELEMENT_DATA_TYPE_BOOL;
    case 'b':
    case 'h':
    case 'i':
    case 'l':
    case 'q':
      return sized(ONNX_TENSOR_ELEMENT_DATA_TYPE_INT8, ONNX_TENSOR_ELEMENT_DATA_TYPE_INT16, ONNX_TENSOR_ELEMENT_DATA_TYPE_INT32,
                   ONNX_TENSOR_ELEMENT_DATA_TYPE_INT64);
    case 'B':
    case 'H':
    case 'I':
    case 'L':
    case 'Q':
      return sized(ONNX_TENSOR_ELEMENT_DATA_TYPE_UINT8, ONNX_TENSOR_ELEMENT_DATA_TYPE_UINT16, ONNX_TENSOR_ELEMENT_DATA_TYPE_UINT32,
                   ONNX_TENSOR_ELEMENT_DATA_TYPE_UINT64);
    default: return ONNX_TENSOR_ELEMENT_DATA_TYPE_UNDEFINED;
  }
}

bool is_plain_array(nb::handle object) {
  static const PyObject* const ndarray = nb::object(numpy().attr("ndarray")).release().ptr();
  return reinterpret_cast<const PyObject*>(Py_TYPE(object.ptr())) == ndarray;
}

// A tensor over an array of the usual kind, by the buffer protocol alone; empty where it is of another kind.
Ort::Value tensor_over_usual_array(nb::handle array) {
  Py_buffer view;
  if (!is_plain_array(array)) return Ort::Value(nullptr);
  if (PyObject_GetBuffer(array.ptr(), &view, PyBUF_ND | PyBUF_FORMAT) != 0) {
    PyErr_Clear();
    return Ort::Value(nullptr);
  }
  const ONNXTensorElementDataType type = type_of_format(view.format, view.itemsize);
  const std::vector<int64_t> shape(view.shape, view.shape + view.ndim);
  void* const data = view.buf;
  const size_t bytes = static_cast<size_t>(view.len);
  PyBuffer_Release(&view);  // the array itself keeps its memory
  if (type == ONNX_TENSOR_ELEMENT_DATA_TYPE_UNDEFINED) return Ort::Value(nullptr);
  return tensor_over_memory(data, bytes, shape, type);
}

// Elements narrower than a byte, given one a byte, the first in the low bits.
Ort::Value pack(nb::handle array, const PackedRow& row) {
  Ort::Value value = new_tensor(shape_of(array), row.type);
  const nb::bytes bytes = nb::cast<nb::bytes>(array.attr("tobytes")());
  auto* out = static_cast<uint8_t*>(value.GetTensorMutableRawData());
  if (bytes.size()) std::memset(out, 0, (bytes.size() * row.bits + 7) / 8);
  for (size_t i = 0; i < bytes.size(); ++i) {
    const unsigned element = static_cast<uint8_t>(bytes.c_str()[i]) & ((1u << row.bits) - 1);
    out[i * row.bits / 8] = static_cast<uint8_t>(out[i * row.bits / 8] | element << (i * row.bits % 8));
  }
  return value;
}

Ort::Value tensor_from_array(nb::object array, nb::object& holder) {
  const nb::object dtype = array.attr("dtype");
  const std::string kind = nb::cast<std::string>(dtype.attr("kind")), name = nb::cast<std::string>(dtype.attr("name"));
  if (kind == "O" || kind == "U" || kind == "S" || kind == "T") return strings_from_array(array);
  if (const PackedRow* packed = packed_row_named(name)) return pack(array, *packed);
  const ElementRow* row = row_named(name);
  if (!row) throw std::runtime_error("arrays of dtype " + name + " have no ONNX element type; convert the array with astype");
  if (nb::cast<std::string>(dtype.attr("byteorder")) == ">") array = array.attr("astype")(dtype.attr("newbyteorder")("="));
  if (!nb::cast<bool>(array.attr("flags")["C_CONTIGUOUS"])) array = array.attr("copy")("C");
  // The buffer protocol does not know types that numpy does not have.
  if (!row->native) array = array.attr("view")(row->dlpack.bits == 16 ? "uint16" : "uint8");
  holder = array;
  return tensor_over_array(array, row->type);
}

// Whether numpy makes something of the object that is not an array of objects.
bool is_array_like(nb::handle object) {
  return nb::isinstance<nb::int_>(object) || nb::isinstance<nb::float_>(object) || nb::isinstance<nb::bool_>(object) ||
         nb::isinstance<nb::str>(object) || nb::isinstance<nb::bytes>(object) || nb::isinstance<nb::tuple>(object) ||
         nb::isinstance<nb::list>(object) || PyComplex_Check(object.ptr()) || nb::hasattr(object, "__array__");
}

// An array of what is one, or of what numpy makes one, then with elements of the declared type.
nb::object array_of(nb::handle object, const DeclaredType* declared) {
  if (nb::isinstance(object, numpy().attr("ndarray")) || nb::isinstance(object, numpy().attr("generic")))
    return numpy().attr("asarray")(object);
  if (!is_array_like(object)) {
    throw std::runtime_error("an input is of type " + nb::cast<std::string>(nb::str(object.type())) +
                             ", expected a numpy array, an OrtValue, a list or a dict");
  }
  const ONNXTensorElementDataType type = declared ? declared->element : ONNX_TENSOR_ELEMENT_DATA_TYPE_UNDEFINED;
  if (type == ONNX_TENSOR_ELEMENT_DATA_TYPE_STRING) return numpy().attr("asarray")(object, "object");
  const ElementRow* row = nb::hasattr(object, "__array__") ? nullptr : row_of(type);
  try {
    return row && row->native ? numpy().attr("asarray")(object, row->numpy_name) : numpy().attr("asarray")(object);
  } catch (nb::python_error& error) {
    if (!error.matches(PyExc_ValueError)) throw;
    throw std::runtime_error("no tensor can be made of an input: " + nb::cast<std::string>(nb::str(error.value())));
  }
}

Ort::Value sequence_from_list(nb::handle list, nb::object& holder, const DeclaredType* declared) {
  DeclaredType element{ONNX_TYPE_TENSOR, declared ? declared->element : ONNX_TENSOR_ELEMENT_DATA_TYPE_UNDEFINED, false};
  if (nb::len(list) == 0) {
    OrtValue* raw = nullptr;
    Ort::ThrowOnError(RhCreateEmptySequence(element.element, &raw));
    return Ort::Value(raw);
  }
  nb::list holders;
  std::vector<Ort::Value> elements;
  for (nb::handle item : list) {
    nb::object one = nb::none();
    elements.push_back(value_from_object(item, one, element.element == ONNX_TENSOR_ELEMENT_DATA_TYPE_UNDEFINED ? nullptr : &element));
    holders.append(one);
  }
  holder = holders;
  return Ort::Value::CreateSequence(elements);
}

// Numbers get the declared floating type, and float where none is declared.
Ort::Value map_from_dict(const nb::dict& dict, nb::object& holder, const DeclaredType* declared) {
  const ONNXTensorElementDataType element = declared ? declared->element : ONNX_TENSOR_ELEMENT_DATA_TYPE_UNDEFINED;
  if (auto map = map_from_plain_dict(dict, element)) return std::move(*map);
  nb::object keys_holder = nb::none(), values_holder = nb::none();
  const nb::object keys = numpy().attr("array")(nb::list(dict.keys())), values = numpy().attr("array")(nb::list(dict.values()));
  const std::string kind = nb::cast<std::string>(values.attr("dtype").attr("kind"));
  const bool is_floating = element == ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT || element == ONNX_TENSOR_ELEMENT_DATA_TYPE_DOUBLE;
  nb::object typed = values;
  if (is_floating && (kind == "f" || kind == "i"))
    typed = values.attr("astype")(row_of(element)->numpy_name);
  else if (kind == "f")
    typed = values.attr("astype")("float32");
  const Ort::Value k = tensor_from_array(keys, keys_holder);
  const Ort::Value v = tensor_from_array(typed, values_holder);
  holder = nb::make_tuple(keys_holder, values_holder);
  return Ort::Value::CreateMap(k, v);
}

// Elements narrower than a byte, one a byte: signed ones with their sign extended.
nb::object packed_to_array(const Ort::Value& value, const PackedRow& row, const std::vector<int64_t>& shape) {
  const size_t count = value.GetTensorTypeAndShapeInfo().GetElementCount();
  const auto* bytes = static_cast<const uint8_t*>(value.GetTensorRawData());
  std::string unpacked(count, '\0');
  for (size_t i = 0; i < count; ++i) {
    unsigned element = static_cast<unsigned>(bytes[i * row.bits / 8]) >> (i * row.bits % 8) & ((1u << row.bits) - 1);
    if (row.is_signed && element >> (row.bits - 1)) element |= ~0u << row.bits;
    unpacked[i] = static_cast<char>(element);
  }
  check_rank(shape.size());
  const nb::object array = numpy().attr("frombuffer")(nb::bytes(unpacked.data(), unpacked.size()), row.is_signed ? "int8" : "uint8");
  return as_ml_dtype(array.attr("copy")().attr("reshape")(nb::cast(shape)), row.numpy_name);
}

nb::object tensor_to_array(Ort::Value value) {
  const Ort::TensorTypeAndShapeInfo info = value.GetTensorTypeAndShapeInfo();
  const ONNXTensorElementDataType type = info.GetElementType();
  const std::vector<int64_t> shape = info.GetShape();
  if (type == ONNX_TENSOR_ELEMENT_DATA_TYPE_STRING) return strings_to_array(value, shape);
  if (const PackedRow* packed = packed_row_of(type)) return packed_to_array(value, *packed, shape);
  const ElementRow* row = row_of(type);
  if (!row) throw std::runtime_error("the value's element type has no numpy type");
  auto* owned = new Ort::Value(std::move(value));
  const nb::capsule owner(owned, [](void* p) noexcept { delete static_cast<Ort::Value*>(p); });
  return array_over_memory(owned->GetTensorMutableRawData(), shape, owner, *row);
}

ONNXType kind_of(const Ort::Value& value) {
  ONNXType kind = ONNX_TYPE_UNKNOWN;
  Ort::ThrowOnError(Ort::GetApi().GetValueType(value, &kind));
  return kind;
}

nb::list sequence_to_list(const Ort::Value& sequence) {
  if (std::optional<nb::list> rows = dicts_of_rows(sequence)) return std::move(*rows);
  Ort::AllocatorWithDefaultOptions allocator;
  DictMaker dicts;
  nb::list list;
  for (size_t i = 0, count = sequence.GetCount(); i < count; ++i) {
    Ort::Value element = sequence.GetValue(static_cast<int>(i), allocator);
    list.append(kind_of(element) == ONNX_TYPE_MAP ? nb::object(dicts.make(element)) : value_to_object(std::move(element)));
  }
  return list;
}

}  // namespace

void check_rank(size_t rank) {
  static const size_t most = nb::cast<std::string>(numpy().attr("__version__")).starts_with("1.") ? 32 : 64;
  if (rank <= most) return;
  throw std::runtime_error("a value has " + std::to_string(rank) + " dimensions, expected at most " + std::to_string(most) +
                           ", which arrays of numpy have: reshape it in the model, or read it through to_dlpack()");
}

nb::object array_over_memory(void* data, const std::vector<int64_t>& shape, nb::handle owner, const ElementRow& row) {
  check_rank(shape.size());
  const std::vector<size_t> dims(shape.begin(), shape.end());
  nb::object array = nb::cast(nb::ndarray<nb::numpy>(data, dims.size(), dims.data(), owner, nullptr, row.dlpack));
  return row.native ? array : as_ml_dtype(array, row.numpy_name);
}

nb::object as_ml_dtype(const nb::object& bits, const char* name) {
  try {
    return bits.attr("view")(nb::module_::import_("ml_dtypes").attr(name));
  } catch (nb::python_error&) {
    return bits;
  }
}

ONNXTensorElementDataType numeric_type(const Ort::Value& value) {
  if (!value || !value.IsTensor()) throw std::runtime_error("the OrtValue is no tensor");
  const ONNXTensorElementDataType type = value.GetTensorTypeAndShapeInfo().GetElementType();
  if (type == ONNX_TENSOR_ELEMENT_DATA_TYPE_STRING) throw std::runtime_error("the OrtValue holds strings, expected numbers");
  return type;
}

bool is_read_only(const PyValue& value) {
  return value.keep_alive.is_valid() && nb::hasattr(value.keep_alive, "flags") &&
         !nb::cast<bool>(value.keep_alive.attr("flags")["WRITEABLE"]);
}

nb::object strings_to_array(const Ort::Value& value, const std::vector<int64_t>& shape) {
  check_rank(shape.size());
  static const auto* empty = new nb::object(numpy().attr("empty"));
  nb::object array = (*empty)(nb::tuple(nb::cast(shape)), nb::handle(reinterpret_cast<PyObject*>(&PyBaseObject_Type)));
  ObjectItems items(array);
  if (items.count() != 0) texts_to_objects(value, &items[0], items.count());
  return array;
}

Ort::Value tensor_over_array(nb::handle array, ONNXTensorElementDataType type) {
  const auto view = nb::cast<nb::ndarray<nb::ro, nb::c_contig, nb::device::cpu>>(array);
  return tensor_over_memory(const_cast<void*>(view.data()), view.nbytes(), shape_of(array), type);
}

Ort::Value tensor_over_memory(void* data, size_t bytes, const std::vector<int64_t>& shape, ONNXTensorElementDataType type,
                              const OrtMemoryInfo* memory) {
  static const auto* host = new Ort::MemoryInfo(Ort::MemoryInfo::CreateCpu(OrtDeviceAllocator, OrtMemTypeDefault));
  OrtValue* raw = nullptr;
  Ort::ThrowOnError(Ort::GetApi().CreateTensorWithDataAsOrtValue(memory ? memory : static_cast<const OrtMemoryInfo*>(*host), data, bytes,
                                                                 shape.data(), shape.size(), type, &raw));
  return Ort::Value(raw);
}

Ort::Value value_from_object(nb::handle object, nb::object& holder, const DeclaredType* declared) {
  const bool tensor = declared && declared->kind == ONNX_TYPE_TENSOR;
  if (!tensor && nb::isinstance<nb::list>(object)) return sequence_from_list(object, holder, declared);
  if (nb::isinstance<nb::dict>(object)) return map_from_dict(nb::cast<nb::dict>(object), holder, declared);
  if (Ort::Value usual = tensor_over_usual_array(object)) {
    holder = nb::borrow(object);
    return usual;
  }
  if (is_plain_array(object) && ObjectItems(object).there()) return strings_from_array(object);
  return tensor_from_array(array_of(object, declared), holder);
}

nb::object value_to_object(Ort::Value value) {
  if (!value || !value.HasValue()) return nb::none();
  switch (kind_of(value)) {
    case ONNX_TYPE_SEQUENCE: return sequence_to_list(value);
    case ONNX_TYPE_MAP: return DictMaker().make(value);
    case ONNX_TYPE_SPARSETENSOR: return sparse_tensor_over(nb::cast(PyValue{std::move(value), nb::none()}));
    default: return tensor_to_array(std::move(value));
  }
}

}  // namespace rh::python
