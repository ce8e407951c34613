// Values that are sequences, maps or opaque.
#include <algorithm>
#include <functional>
#include <numeric>

#include "abi/element_type.h"
#include "abi/value.h"
#include "capi/guard.h"
#include "capi/table.h"
#include "roundhouse/roundhouse_c_api.h"

namespace rh::capi {

namespace {

Value make_sequence(const OrtValue* const* in, size_t count) {
  if (count == 0) fail(ErrorCode::fail, "a sequence is made from at least one value");
  Sequence sequence;
  const bool tensors = checked(in[0], "in[0]").value.is_tensor();
  if (!tensors && !in[0]->value.is_map()) fail(ErrorCode::fail, "a sequence holds tensors or maps");
  if (tensors) sequence.element_dtype = in[0]->value.tensor().dtype();
  for (size_t i = 0; i < count; ++i) {
    const Value& element = checked(in[i], "in[i]").value;
    if (element.is_tensor() != tensors || element.is_map() == tensors) fail(ErrorCode::fail, "sequence: value {} is of another kind", i);
    if (tensors && element.tensor().dtype() != sequence.element_dtype) {
      fail(ErrorCode::fail, "sequence: tensor {} has elements of type {}, the first of {}", i, to_string(element.tensor().dtype()),
           to_string(sequence.element_dtype));
    }
    sequence.elements.push_back(element);
  }
  return sequence;
}

/// The elements at `order`.
template <typename T>
Tensor pick(const Tensor& tensor, const std::vector<int64_t>& order) {
  Tensor out(tensor.dtype(), Shape{static_cast<int64_t>(order.size())});
  for (size_t i = 0; i < order.size(); ++i) out.data<T>()[i] = tensor.data<T>()[order[i]];
  return out;
}

Tensor pick(const Tensor& tensor, const std::vector<int64_t>& order, const char* what) {
  switch (tensor.dtype()) {
    case DType::int64: return pick<int64_t>(tensor, order);
    case DType::float32: return pick<float>(tensor, order);
    case DType::float64: return pick<double>(tensor, order);
    case DType::string: return pick<std::string>(tensor, order);
    default: fail(ErrorCode::fail, "map: {} of type {} are not supported", what, to_string(tensor.dtype()));
  }
}

/// Positions of the keys in ascending order; of equal keys the first.
template <typename T>
std::vector<int64_t> sorted_positions(const Tensor& keys) {
  const T* data = keys.data<T>();
  std::vector<int64_t> order(static_cast<size_t>(keys.elements()));
  std::iota(order.begin(), order.end(), 0);
  if (std::adjacent_find(data, data + order.size(), std::greater_equal()) == data + order.size()) return order;
  std::ranges::stable_sort(order, [&](int64_t a, int64_t b) { return data[a] < data[b]; });
  const auto repeated = std::ranges::unique(order, [&](int64_t a, int64_t b) { return data[a] == data[b]; });
  order.erase(repeated.begin(), repeated.end());
  return order;
}

Value make_map(const OrtValue* const* in, size_t count) {
  if (count != 2) fail(ErrorCode::fail, "a map is made from two values, the keys and the values; {} were given", count);
  const Value& keys = checked(in[0], "in[0]").value;
  const Value& values = checked(in[1], "in[1]").value;
  if (!keys.is_tensor() || !values.is_tensor()) fail(ErrorCode::fail, "map: keys and values must be tensors");
  if (keys.tensor().shape().rank() > 1 || values.tensor().shape().rank() > 1) {
    fail(ErrorCode::fail, "map: keys and values must have one dimension");
  }
  if (keys.tensor().elements() != values.tensor().elements()) {
    fail(ErrorCode::fail, "map: {} keys but {} values", keys.tensor().elements(), values.tensor().elements());
  }
  const DType key = keys.tensor().dtype();
  if (key != DType::int64 && key != DType::string) fail(ErrorCode::fail, "map: keys of type {} are not supported", to_string(key));
  const auto order = key == DType::int64 ? sorted_positions<int64_t>(keys.tensor()) : sorted_positions<std::string>(keys.tensor());
  return Map{pick(keys.tensor(), order, "keys"), pick(values.tensor(), order, "values")};
}

/// Whether the maps share the memory of their keys and have floats that lie one map after the other.
bool are_rows(const std::vector<Value>& maps) {
  if (maps.empty() || !maps.front().is_map()) return false;
  const Map& first = maps.front().map();
  const int64_t labels = first.keys.elements();
  if (labels == 0 || first.values.dtype() != DType::float32) return false;
  const void* keys = first.keys.raw();
  const float* expected = first.values.data<float>();
  return std::ranges::all_of(maps, [&](const Value& element) {
    if (!element.is_map()) return false;
    const Map& map = element.map();
    const bool follows = map.keys.raw() == keys && map.keys.elements() == labels && map.values.dtype() == DType::float32 &&
                         map.values.elements() == labels && map.values.data<float>() == expected;
    expected += labels;
    return follows;
  });
}

/// In the caller's memory; where the tensor is on a device, itself.
Value copy_of(const Tensor& tensor, OrtAllocator& allocator) {
  if (!tensor.device().is_host()) return tensor;
  Tensor copy = abi::allocate_tensor(allocator, tensor.dtype(), tensor.shape());
  if (!copy.device().is_host())
    fail(ErrorCode::invalid_argument, "the allocator is of {}, expected one of the host", copy.device().to_string());
  copy_elements(tensor.view(), copy.mutable_view());
  return copy;
}

}  // namespace

OrtStatus* ORT_API_CALL CreateValue(const OrtValue* const* in, size_t count, ONNXType kind, OrtValue** out) {
  return guard([&] {
    OrtValue*& result = checked(out, "out");
    checked_array(in, count, "in");
    switch (kind) {
      case ONNX_TYPE_SEQUENCE: result = new OrtValue(make_sequence(in, count)); return;
      case ONNX_TYPE_MAP: result = new OrtValue(make_map(in, count)); return;
      default: fail(ErrorCode::fail, "CreateValue makes sequences and maps, not values of ONNXType {}", static_cast<int>(kind));
    }
  });
}

OrtStatus* ORT_API_CALL GetValueCount(const OrtValue* value, size_t* out) {
  return guard([&] {
    const Value& content = checked(value, "value").value;
    if (content.is_sequence()) {
      checked(out, "out") = content.sequence().elements.size();
    } else if (content.is_map()) {
      checked(out, "out") = 2;
    } else {
      fail(ErrorCode::fail, "the value is neither a sequence nor a map");
    }
  });
}

OrtStatus* ORT_API_CALL GetValue(const OrtValue* value, int index, OrtAllocator* allocator, OrtValue** out) {
  return guard([&] {
    const Value& content = checked(value, "value").value;
    OrtValue*& result = checked(out, "out");
    checked(allocator, "allocator");
    if (content.is_map()) {
      if (index != 0 && index != 1) fail(ErrorCode::fail, "map: value {} was asked for; 0 gives the keys, 1 the values", index);
      result = new OrtValue(copy_of(index == 0 ? content.map().keys : content.map().values, *allocator));
    } else if (content.is_sequence()) {
      const std::vector<Value>& elements = content.sequence().elements;
      if (index < 0 || static_cast<size_t>(index) >= elements.size()) {
        const bool are_maps = !elements.empty() && elements[0].is_map();
        fail(are_maps ? ErrorCode::runtime_exception : ErrorCode::fail, "sequence: element {} was asked for of {}", index, elements.size());
      }
      const Value& element = elements[static_cast<size_t>(index)];
      result = new OrtValue(element.is_tensor() ? copy_of(element.tensor(), *allocator) : element);
    } else {
      fail(ErrorCode::fail, "the value is neither a sequence nor a map");
    }
  });
}

}  // namespace rh::capi

OrtStatus* ORT_API_CALL RhCreateEmptySequence(ONNXTensorElementDataType type, OrtValue** value) {
  using namespace rh;
  return capi::guard([&] {
    OrtValue*& result = capi::checked(value, "value");
    Sequence sequence;
    sequence.element_dtype = abi::to_dtype(type);
    result = new OrtValue(Value(std::move(sequence)));
  });
}

OrtStatus* ORT_API_CALL RhGetMapsOfSequence(const OrtValue* sequence, OrtValue** keys, const float** values) {
  using namespace rh;
  return capi::guard([&] {
    const Value& content = capi::checked(sequence, "sequence").value;
    if (!content.is_sequence()) fail(ErrorCode::invalid_argument, "the value is no sequence");
    OrtValue*& result = capi::checked(keys, "keys");
    const float*& floats = capi::checked(values, "values");
    result = nullptr;
    floats = nullptr;
    const std::vector<Value>& elements = content.sequence().elements;
    if (!capi::are_rows(elements)) return;
    const Map& first = elements.front().map();
    result = new OrtValue(first.keys);
    floats = first.values.data<float>();
  });
}
