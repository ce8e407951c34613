#include "session/feeds.h"

namespace rh {

NameIndex::NameIndex(std::vector<std::string> names) : names_(std::move(names)) {
  for (size_t i = 0; i < names_.size(); ++i) positions_.emplace(names_[i], static_cast<int>(i));
}

int NameIndex::find(std::string_view name) const {
  const auto at = positions_.find(name);
  return at == positions_.end() ? -1 : at->second;
}

std::string NameIndex::list() const {
  std::string text;
  for (const std::string& name : names_) text += (text.empty() ? "'" : ", '") + name + "'";
  return text.empty() ? "none" : text;
}

namespace {

std::string kind_of(const Value& value) {
  if (value.is_tensor()) return "tensor(" + std::string(to_string(value.tensor().dtype())) + ")";
  if (value.is_sparse()) return "sparse_tensor(" + std::string(to_string(value.sparse().dtype)) + ")";
  if (value.is_map()) {
    return fmt::format("map({},tensor({}))", to_string(value.map().keys.dtype()), to_string(value.map().values.dtype()));
  }
  if (value.is_none()) return "an empty optional";
  if (!value.is_sequence()) return "nothing";
  const Sequence& sequence = value.sequence();
  if (!sequence.elements.empty()) return "seq(" + kind_of(sequence.elements.front()) + ")";
  return fmt::format("seq(tensor({}))", to_string(sequence.element_dtype));
}

bool fits(const ValueType& type, const Value& value) {
  switch (type.kind()) {
    case ValueType::Kind::tensor:
      return value.is_tensor() && (type.tensor().dtype == DType::undefined || value.tensor().dtype() == type.tensor().dtype);
    case ValueType::Kind::sparse_tensor: return value.is_sparse() && value.sparse().dtype == type.tensor().dtype;
    case ValueType::Kind::optional: return value.is_none() || fits(type.element(), value);
    case ValueType::Kind::map: return value.is_map() && value.map().keys.dtype() == type.key();
    case ValueType::Kind::sequence: {
      if (!value.is_sequence()) return false;
      const Sequence& sequence = value.sequence();
      if (sequence.elements.empty()) {
        return !type.element().is_tensor() || sequence.element_dtype == DType::undefined ||
               sequence.element_dtype == type.element().tensor().dtype;
      }
      return fits(type.element(), sequence.elements.front());
    }
    default: return true;
  }
}

}  // namespace

Status check_input(const ValueInfo& info, const Value& value) {
  if (!fits(info.type, value)) {
    return error_status(ErrorCode::invalid_argument, "input '{}' is {}, expected {}", info.name, kind_of(value),
                        onnx_type_string(info.type));
  }
  if (!value.is_tensor() || !info.type.is_tensor() || !info.type.tensor().has_rank()) return {};
  const Shape& shape = value.tensor().shape();
  const SymbolicShape& dims = *info.type.tensor().dims;
  if (shape.rank() != static_cast<int>(dims.size())) {
    return error_status(ErrorCode::invalid_argument, "input '{}' has shape {} of rank {}, expected {} of rank {}", info.name,
                        shape.to_string(), shape.rank(), to_string(dims), dims.size());
  }
  for (size_t i = 0; i < dims.size(); ++i) {
    if (dims[i].is_constant() && dims[i].value() != shape[i]) {
      return error_status(ErrorCode::invalid_argument, "input '{}' has shape {}, expected {}: dimension {} is {}, expected {}", info.name,
                          shape.to_string(), to_string(dims), i, shape[i], dims[i].value());
    }
  }
  return {};
}

}  // namespace rh
