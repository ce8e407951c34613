#include "ops/ml/label_encoder.h"

#include <string>
#include <utility>
#include <vector>

#include "ops/registry.h"

namespace rh::ops {

namespace {

template <typename T>
Tensor list(const std::vector<T>& elements) {
  return Tensor::from<T>({static_cast<int64_t>(elements.size())}, elements);
}

/// The one of the attributes with this prefix that is there.
Tensor read_list(const NodeView& node, const std::string& prefix) {
  Tensor found;
  int count = 0;
  const auto take = [&](const std::string& suffix, auto&& make) {
    if (!node.has(prefix + suffix)) return;
    ++count;
    found = make(prefix + suffix);
  };
  take("_tensor", [&](const std::string& name) { return *node.tensor(name); });
  take("_strings", [&](const std::string& name) { return list(node.strings_or(name)); });
  take("_int64s", [&](const std::string& name) { return list(node.ints_or(name)); });
  take("_floats", [&](const std::string& name) { return list(node.floats_or(name)); });
  if (count != 1) node.fail("has {} attributes '{}_...', expected one of _tensor, _strings, _int64s, _floats", count, prefix);
  if (found.shape().rank() > 1) node.fail("attribute '{}_tensor' has shape {}, expected one dimension", prefix, found.shape().to_string());
  return found;
}

Tensor read_fallback(const NodeView& node, DType dtype) {
  if (const Tensor* given = node.tensor("default_tensor")) {
    if (given->dtype() != dtype || given->elements() != 1) {
      node.fail("attribute 'default_tensor' is {}{}, expected one element of the values' type {}", to_string(given->dtype()),
                given->shape().to_string(), to_string(dtype));
    }
    return given->reshaped({});
  }
  switch (dtype) {
    case DType::string: return Tensor::scalar(node.string_or("default_string", "_Unused"));
    case DType::float32: return Tensor::scalar(node.float_or("default_float", -0.0f));
    case DType::float64: return Tensor::scalar<double>(node.float_or("default_float", -0.0f));
    case DType::int64: return Tensor::scalar(node.int_or("default_int64", -1));
    case DType::int32: return Tensor::scalar(static_cast<int32_t>(node.int_or("default_int64", -1)));
    case DType::int16: return Tensor::scalar(static_cast<int16_t>(node.int_or("default_int64", -1)));
    default: node.fail("values are of type {}, expected string, float, double, int64, int32 or int16", to_string(dtype));
  }
}

/// Version 1 has names for the numbers from 0 on, and encodes in the direction that the input's type asks for.
LabelEncoder read_first(const NodeView& node) {
  const std::vector<std::string> names = node.strings_or("classes_strings");
  std::vector<int64_t> numbers(names.size());
  for (size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<int64_t>(i);
  LabelEncoder op{list(names), list(numbers), {}};
  const ValueType& x = node.input_type(0);
  if (x.is_tensor() && x.tensor().dtype == DType::int64) std::swap(op.keys, op.values);
  op.fallback = read_fallback(node, op.values.dtype());
  return op;
}

}  // namespace

LabelEncoder LabelEncoder::read(const NodeView& node) {
  if (node.opset() < 2) return read_first(node);
  LabelEncoder op{read_list(node, "keys"), read_list(node, "values"), {}};
  if (op.keys.elements() != op.values.elements()) {
    node.fail("has {} keys and {} values, expected equally many", op.keys.elements(), op.values.elements());
  }
  op.fallback = read_fallback(node, op.values.dtype());
  return op;
}

void infer(const LabelEncoder& op, InferenceContext& context) {
  const TensorType& x = context.input_tensor(0);
  if (x.dtype != DType::undefined && x.dtype != op.keys.dtype()) {
    context.node().fail("the input is of type {}, the keys are {}, expected the same", to_string(x.dtype), to_string(op.keys.dtype()));
  }
  context.set_output(0, op.values.dtype(), x.dims);
}

}  // namespace rh::ops

RH_DEFINE_OP(LabelEncoder)
