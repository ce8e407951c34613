#include "graph/type.h"

#include <algorithm>

#include "base/error.h"

namespace rh {

bool TensorType::is_static() const {
  return dims && std::all_of(dims->begin(), dims->end(), [](const Dim& d) { return d.is_constant(); });
}

Shape TensorType::shape() const {
  Shape shape;
  for (const Dim& d : *dims) shape.push_back(d.value());
  return shape;
}

Dim TensorType::elements() const { return dims ? product(*dims, 0, dims->size()) : Dim(); }

std::string TensorType::to_string() const { return std::string(rh::to_string(dtype)) + (dims ? rh::to_string(*dims) : "[...]"); }

ValueType ValueType::sparse(TensorType type) {
  ValueType result(std::move(type));
  result.kind_ = Kind::sparse_tensor;
  return result;
}

ValueType ValueType::sequence_of(ValueType element) {
  ValueType result;
  result.kind_ = Kind::sequence;
  result.element_ = std::make_shared<const ValueType>(std::move(element));
  return result;
}

ValueType ValueType::optional_of(ValueType element) {
  ValueType result = sequence_of(std::move(element));
  result.kind_ = Kind::optional;
  return result;
}

ValueType ValueType::map_of(DType key, ValueType value) {
  ValueType result = sequence_of(std::move(value));
  result.kind_ = Kind::map;
  result.tensor_.dtype = key;
  return result;
}

ValueType ValueType::opaque(std::string domain, std::string name) {
  ValueType result;
  result.kind_ = Kind::opaque;
  result.name_ = domain + "::" + name;
  return result;
}

std::string onnx_type_string(const ValueType& type) {
  const auto dtype = [&] { return std::string(to_string(type.tensor().dtype)); };
  switch (type.kind()) {
    case ValueType::Kind::unknown: return "unknown";
    case ValueType::Kind::tensor: return "tensor(" + dtype() + ")";
    case ValueType::Kind::sparse_tensor: return "sparse_tensor(" + dtype() + ")";
    case ValueType::Kind::sequence: return "seq(" + onnx_type_string(type.element()) + ")";
    case ValueType::Kind::optional: return "optional(" + onnx_type_string(type.element()) + ")";
    case ValueType::Kind::map: return "map(" + std::string(to_string(type.key())) + "," + onnx_type_string(type.element()) + ")";
    case ValueType::Kind::opaque: return "opaque(" + type.opaque_name() + ")";
  }
  return "unknown";
}

std::string ValueType::to_string() const {
  const std::string name = onnx_type_string(*this);
  if (kind_ != Kind::tensor && kind_ != Kind::sparse_tensor) return name;
  return name + (tensor_.dims ? rh::to_string(*tensor_.dims) : "");
}

ValueType without_shapes(const ValueType& type) {
  switch (type.kind()) {
    case ValueType::Kind::tensor: return ValueType::tensor(type.tensor().dtype);
    case ValueType::Kind::sparse_tensor: return ValueType::sparse({type.tensor().dtype, {}});
    case ValueType::Kind::sequence: return ValueType::sequence_of(without_shapes(type.element()));
    case ValueType::Kind::optional: return ValueType::optional_of(without_shapes(type.element()));
    case ValueType::Kind::map: return ValueType::map_of(type.key(), without_shapes(type.element()));
    default: return type;
  }
}

Shape shape_or_zeros(const ValueType& type) {
  Shape shape;
  if (!type.is_tensor() || !type.tensor().has_rank()) return shape;
  for (const Dim& dim : *type.tensor().dims) shape.push_back(dim.is_constant() ? dim.value() : 0);
  return shape;
}

ValueType with_hint(ValueType type, const ValueType& hint) {
  if (type.is_unknown()) return hint;
  const bool is_tensor = type.is_tensor() || type.kind() == ValueType::Kind::sparse_tensor;
  if (!is_tensor || hint.kind() != type.kind() || !hint.tensor().has_rank()) return type;
  TensorType& tensor = type.tensor();
  if (!tensor.has_rank()) tensor.dims.emplace(hint.tensor().dims->size());
  if (tensor.dims->size() != hint.tensor().dims->size()) return type;
  for (size_t i = 0; i < tensor.dims->size(); ++i) {
    Dim& dim = (*tensor.dims)[i];
    if (dim.is_unknown()) dim = (*hint.tensor().dims)[i];
  }
  return type;
}

namespace {

Dim merge_dim(const Dim& declared, const Dim& inferred, const std::string& what, size_t axis) {
  if (declared.is_unknown()) return inferred;
  if (inferred.is_unknown()) return declared;
  if (declared.is_constant() && inferred.is_constant() && declared.value() != inferred.value()) {
    fail(ErrorCode::fail, "dimension {} of {} is declared as {} but its operator gives {}", axis, what, declared.value(), inferred.value());
  }
  return declared.is_constant() ? declared : inferred;
}

}  // namespace

ValueType merge(const ValueType& declared, const ValueType& inferred, const std::string& what) {
  if (declared.is_unknown()) return inferred;
  if (inferred.is_unknown()) return declared;
  if (declared.kind() != inferred.kind()) {
    fail(ErrorCode::fail, "{} is declared as {} but its operator gives {}", what, declared.to_string(), inferred.to_string());
  }
  switch (declared.kind()) {
    case ValueType::Kind::sequence: return ValueType::sequence_of(merge(declared.element(), inferred.element(), "element of " + what));
    case ValueType::Kind::optional: return ValueType::optional_of(merge(declared.element(), inferred.element(), "content of " + what));
    case ValueType::Kind::map: return declared;
    case ValueType::Kind::opaque: return declared;
    default: break;
  }
  const TensorType &a = declared.tensor(), &b = inferred.tensor();
  if (a.dtype != DType::undefined && b.dtype != DType::undefined && a.dtype != b.dtype) {
    fail(ErrorCode::fail, "{} is declared with element type {} but its operator gives {}", what, to_string(a.dtype), to_string(b.dtype));
  }
  TensorType result = b;
  if (result.dtype == DType::undefined) result.dtype = a.dtype;
  if (!result.dims) {
    result.dims = a.dims;
  } else if (a.dims) {
    if (a.dims->size() != b.dims->size()) {
      fail(ErrorCode::fail, "{} is declared with rank {} ({}) but its operator gives rank {} ({})", what, a.dims->size(),
           to_string(*a.dims), b.dims->size(), to_string(*b.dims));
    }
    for (size_t i = 0; i < a.dims->size(); ++i) (*result.dims)[i] = merge_dim((*a.dims)[i], (*b.dims)[i], what, i);
  }
  return declared.is_tensor() ? ValueType(std::move(result)) : ValueType::sparse(std::move(result));
}

}  // namespace rh
