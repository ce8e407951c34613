#include "maps.h"

#include <roundhouse/roundhouse_c_api.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <memory>
#include <utility>

#include "values.h"

namespace rh::python {

namespace {

/// What all keys, or all values, of a dict are so far.
enum class Kind : uint8_t { none, integers, floats, text, other };

/// Keys or values of a dict while they are gathered.
class Column {
 public:
  explicit Column(size_t count) { items_.reserve(count); }

  Kind kind() const { return kind_; }

  /// False where it does not go with those before.
  bool add(PyObject* item) {
    const Kind kind = PyFloat_Check(item)       ? Kind::floats
                      : PyLong_CheckExact(item) ? Kind::integers
                      : PyUnicode_Check(item)   ? Kind::text
                                                : Kind::other;
    if (kind == Kind::other || ((kind == Kind::text) != (kind_ == Kind::text) && kind_ != Kind::none)) return false;
    if (kind_ != Kind::floats) kind_ = kind;
    items_.push_back(item);
    return true;
  }

  /// False where an integer is too large.
  bool to_integers(std::vector<int64_t>& to) const {
    to.reserve(items_.size());
    for (PyObject* item : items_) {
      int overflow = 0;
      to.push_back(PyLong_AsLongLongAndOverflow(item, &overflow));
      if (overflow != 0) return false;
    }
    return true;
  }

  bool to_doubles(std::vector<double>& to) const {
    to.reserve(items_.size());
    for (PyObject* item : items_) {
      to.push_back(PyFloat_Check(item) ? PyFloat_AsDouble(item) : PyLong_AsDouble(item));
      if (to.back() == -1.0 && PyErr_Occurred()) {
        PyErr_Clear();
        return false;
      }
    }
    return true;
  }

  /// False where one is no valid Unicode.
  bool to_texts(Ort::Value& to) const {
    Ort::AllocatorWithDefaultOptions allocator;
    const int64_t count = static_cast<int64_t>(items_.size());
    to = Ort::Value::CreateTensor(allocator, &count, 1, ONNX_TENSOR_ELEMENT_DATA_TYPE_STRING);
    for (size_t i = 0; i < items_.size(); ++i) {
      Py_ssize_t size = 0;
      const char* text = PyUnicode_AsUTF8AndSize(items_[i], &size);
      if (!text) {
        PyErr_Clear();
        return false;
      }
      char* buffer = nullptr;
      Ort::ThrowOnError(Ort::GetApi().GetResizedStringTensorElementBuffer(to, i, static_cast<size_t>(size), &buffer));
      if (size != 0) std::memcpy(buffer, text, static_cast<size_t>(size));
    }
    return true;
  }

 private:
  Kind kind_ = Kind::none;
  std::vector<PyObject*> items_;  // the dict's
};

template <typename T>
Ort::Value over(std::vector<T>& elements, ONNXTensorElementDataType type) {
  return tensor_over_memory(elements.data(), elements.size() * sizeof(T), {static_cast<int64_t>(elements.size())}, type);
}

/// Objects of texts met a while ago: labels come again and again. What is looked at must be followed by kRead bytes that may be read.
class RecentTexts {
 public:
  static constexpr size_t kRead = sizeof(uint64_t);

  /// For `count` texts.
  explicit RecentTexts(size_t count) : entries_(count < kFew ? 0 : std::bit_ceil(std::min(count / 4, kMostEntries))) {}

  /// A new reference.
  PyObject* object_of(const char* text, size_t size) {
    if (entries_.empty() || (asked_ >= kTrial && found_ * 2 < asked_)) return decoded(text, size);
    const uint64_t first = first_bytes(text, size);
    Entry& entry = entries_[(first ^ size) * 0x9e3779b97f4a7c15u >> 48 & (entries_.size() - 1)];
    ++asked_;
    const bool is_same = entry.object && entry.first == first && entry.size == size &&
                         (size <= kRead || std::memcmp(entry.text + kRead, text + kRead, size - kRead) == 0);
    if (is_same) {
      ++found_;
      Py_INCREF(entry.object);
      return entry.object;
    }
    entry = {first, size, text, decoded(text, size)};
    return entry.object;
  }

 private:
  /// Text and object are borrowed: both last as long as the tensor is being converted.
  struct Entry {
    uint64_t first = 0;
    size_t size = 0;
    const char* text = nullptr;
    PyObject* object = nullptr;
  };

  static constexpr size_t kFew = 64, kTrial = 1024, kMostEntries = 1024;

  static uint64_t first_bytes(const char* text, size_t size) {
    uint64_t bytes = 0;
    std::memcpy(&bytes, text, kRead);
    if (size >= kRead) return bytes;
    const uint64_t kept = (uint64_t{1} << 8 * size) - 1;
    return bytes & (std::endian::native == std::endian::little ? kept : ~(~uint64_t{0} >> 8 * size));
  }

  static PyObject* decoded(const char* text, size_t size) {
    PyObject* object = PyUnicode_DecodeUTF8(text, static_cast<Py_ssize_t>(size), "surrogateescape");
    if (!object) throw nb::python_error();
    return object;
  }

  std::vector<Entry> entries_;
  size_t asked_ = 0, found_ = 0;
};

/// Calls take(i, object), which takes the reference over, for each text of a tensor of strings.
template <typename Take>
void for_each_text(const Ort::Value& strings, size_t count, Take&& take) {
  if (count == 0) return;
  const size_t bytes = strings.GetStringTensorDataLength();
  const std::unique_ptr<char[]> texts(new char[bytes + RecentTexts::kRead]);
  std::memset(texts.get() + bytes, 0, RecentTexts::kRead);
  std::vector<size_t> offsets(count + 1, bytes);
  strings.GetStringTensorContent(texts.get(), bytes, offsets.data(), count);
  RecentTexts recent(count);
  for (size_t i = 0; i < count; ++i) take(i, recent.object_of(texts.get() + offsets[i], offsets[i + 1] - offsets[i]));
}

/// The elements of a vector as Python objects; empty for types that maps do not have.
std::vector<nb::object> objects_of(const Ort::Value& vector, size_t count, ONNXTensorElementDataType type) {
  std::vector<nb::object> objects(count);
  const auto fill = [&]<typename T>(const T* data, auto&& convert) {
    for (size_t i = 0; i < count; ++i) {
      objects[i] = nb::steal(convert(data[i]));
      if (!objects[i]) throw nb::python_error();
    }
  };
  switch (type) {
    case ONNX_TENSOR_ELEMENT_DATA_TYPE_INT64:
      fill(vector.GetTensorData<int64_t>(), [](int64_t x) { return PyLong_FromLongLong(x); });
      break;
    case ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT:
      fill(vector.GetTensorData<float>(), [](float x) { return PyFloat_FromDouble(static_cast<double>(x)); });
      break;
    case ONNX_TENSOR_ELEMENT_DATA_TYPE_DOUBLE: fill(vector.GetTensorData<double>(), [](double x) { return PyFloat_FromDouble(x); }); break;
    case ONNX_TENSOR_ELEMENT_DATA_TYPE_STRING:
      for_each_text(vector, count, [&](size_t i, PyObject* text) { objects[i] = nb::steal(text); });
      break;
    default: objects.clear();
  }
  return objects;
}

}  // namespace

std::optional<Ort::Value> map_from_plain_dict(const nb::dict& dict, ONNXTensorElementDataType declared) {
  Column keys(nb::len(dict)), values(nb::len(dict));
  PyObject *key = nullptr, *value = nullptr;
  for (Py_ssize_t at = 0; PyDict_Next(dict.ptr(), &at, &key, &value);) {
    if (!keys.add(key) || !values.add(value)) return std::nullopt;
  }
  if (keys.kind() == Kind::none || keys.kind() == Kind::floats) return std::nullopt;
  std::vector<int64_t> key_integers, value_integers;
  std::vector<double> doubles;
  std::vector<float> floats;
  Ort::Value k{nullptr}, v{nullptr};  // over the vectors: the map gets copies
  if (keys.kind() == Kind::text) {
    if (!keys.to_texts(k)) return std::nullopt;
  } else {
    if (!keys.to_integers(key_integers)) return std::nullopt;
    k = over(key_integers, ONNX_TENSOR_ELEMENT_DATA_TYPE_INT64);
  }
  const bool is_double = declared == ONNX_TENSOR_ELEMENT_DATA_TYPE_DOUBLE, is_float = declared == ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT;
  if (values.kind() == Kind::text) {
    if (!values.to_texts(v)) return std::nullopt;
  } else if (values.kind() == Kind::integers) {
    if (!values.to_integers(value_integers)) return std::nullopt;
    if (is_double) {
      doubles.assign(value_integers.begin(), value_integers.end());
    } else if (is_float) {
      floats.assign(value_integers.begin(), value_integers.end());
    }
  } else {
    if (!values.to_doubles(doubles)) return std::nullopt;
    if (!is_double) {
      floats.reserve(doubles.size());
      for (double number : doubles) floats.push_back(static_cast<float>(number));
    }
  }
  if (!v) {
    v = !floats.empty()    ? over(floats, ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT)
        : !doubles.empty() ? over(doubles, ONNX_TENSOR_ELEMENT_DATA_TYPE_DOUBLE)
                           : over(value_integers, ONNX_TENSOR_ELEMENT_DATA_TYPE_INT64);
  }
  return Ort::Value::CreateMap(k, v);
}

nb::dict DictMaker::make(const Ort::Value& map) {
  Ort::AllocatorWithDefaultOptions allocator;
  const Ort::Value keys = map.GetValue(0, allocator), values = map.GetValue(1, allocator);
  const auto key_info = keys.GetTensorTypeAndShapeInfo(), value_info = values.GetTensorTypeAndShapeInfo();
  const size_t count = key_info.GetElementCount();
  const bool repeats = has_keys_of(keys, count);
  if (!repeats) {
    keys_ = objects_of(keys, count, key_info.GetElementType());
    data_ = keys.GetTensorRawData();
    count_ = count;
  }
  const std::vector<nb::object> items = objects_of(values, count, value_info.GetElementType());
  if (keys_.size() != count || items.size() != count) throw std::runtime_error("the map's keys or values have no Python type");
  // A copy has its table already; it lacks but the values.
  nb::dict dict = repeats ? nb::steal<nb::dict>(PyDict_Copy(last_.ptr())) : nb::dict();
  if (!dict) throw nb::python_error();
  for (size_t i = 0; i < count; ++i) {
    if (PyDict_SetItem(dict.ptr(), keys_[i].ptr(), items[i].ptr()) != 0) throw nb::python_error();
  }
  last_ = dict;
  return dict;
}

std::optional<nb::list> dicts_of_rows(const Ort::Value& sequence) {
  OrtValue* shared = nullptr;
  const float* values = nullptr;
  Ort::ThrowOnError(RhGetMapsOfSequence(sequence, &shared, &values));
  if (!shared) return std::nullopt;
  const Ort::Value key_tensor{shared};
  const auto info = key_tensor.GetTensorTypeAndShapeInfo();
  const size_t labels = info.GetElementCount(), count = sequence.GetCount();
  const std::vector<nb::object> keys = objects_of(key_tensor, labels, info.GetElementType());
  if (keys.size() != labels) return std::nullopt;
  nb::list list = nb::steal<nb::list>(PyList_New(static_cast<Py_ssize_t>(count)));
  if (!list) throw nb::python_error();
  nb::dict dict;
  for (size_t i = 0; i < count; ++i, values += labels) {
    // A copy has its table already; it lacks but the values.
    if (i > 0) dict = nb::steal<nb::dict>(PyDict_Copy(dict.ptr()));
    if (!dict) throw nb::python_error();
    for (size_t k = 0; k < labels; ++k) {
      const nb::object number = nb::steal(PyFloat_FromDouble(static_cast<double>(values[k])));
      if (!number || PyDict_SetItem(dict.ptr(), keys[k].ptr(), number.ptr()) != 0) throw nb::python_error();
    }
    PyList_SetItem(list.ptr(), static_cast<Py_ssize_t>(i), nb::object(dict).release().ptr());
  }
  return list;
}

void texts_to_objects(const Ort::Value& strings, PyObject** items, size_t count) {
  for_each_text(strings, count, [&](size_t i, PyObject* text) { Py_XDECREF(std::exchange(items[i], text)); });
}

}  // namespace rh::python
