#pragma once

#include <memory>
#include <optional>
#include <string>

#include "graph/dim.h"
#include "tensor/dtype.h"
#include "tensor/shape.h"

namespace rh {

/// Element type and, as far as known, shape of a dense or sparse tensor.
struct TensorType {
  DType dtype = DType::undefined;
  std::optional<SymbolicShape> dims;  ///< nothing: even the rank is unknown

  bool has_rank() const { return dims.has_value(); }
  int rank() const { return static_cast<int>(dims->size()); }
  bool is_static() const;         ///< all dimensions are numbers
  Shape shape() const;            ///< the numbers; only where is_static()
  Dim elements() const;           ///< unknown where the rank is
  std::string to_string() const;  ///< "float[1, seq]"
};

/// The type of a graph value.
class ValueType {
 public:
  enum class Kind : uint8_t { unknown, tensor, sparse_tensor, sequence, optional, map, opaque };

  ValueType() = default;
  ValueType(TensorType tensor) : kind_(Kind::tensor), tensor_(std::move(tensor)) {}
  static ValueType tensor(DType dtype, std::optional<SymbolicShape> dims = {}) { return TensorType{dtype, std::move(dims)}; }
  static ValueType sparse(TensorType type);
  static ValueType sequence_of(ValueType element);
  static ValueType optional_of(ValueType element);
  static ValueType map_of(DType key, ValueType value);
  static ValueType opaque(std::string domain, std::string name);

  Kind kind() const { return kind_; }
  bool is_unknown() const { return kind_ == Kind::unknown; }
  bool is_tensor() const { return kind_ == Kind::tensor; }
  /// Of tensors and sparse tensors.
  const TensorType& tensor() const { return tensor_; }
  TensorType& tensor() { return tensor_; }
  /// Of sequences and optionals; the value type of maps.
  const ValueType& element() const { return *element_; }
  DType key() const { return tensor_.dtype; }               ///< of maps
  const std::string& opaque_name() const { return name_; }  ///< "domain::name"

  std::string to_string() const;  ///< "tensor(float)[1, seq]", "seq(tensor(int64))"

 private:
  Kind kind_ = Kind::unknown;
  TensorType tensor_;
  std::shared_ptr<const ValueType> element_;
  std::string name_;
};

/// Of values that have none.
inline const TensorType kUnknownTensorType;
inline const ValueType kUnknownType;

/// The type string of the ONNX standard, without shapes: "tensor(float)", "seq(map(int64,tensor(float)))".
std::string onnx_type_string(const ValueType& type);

/// The kind and element types alone.
ValueType without_shapes(const ValueType& type);

/// The sizes of a tensor of this type, 0 for those that it does not tell; no sizes where it does not tell their number.
Shape shape_or_zeros(const ValueType& type);

/// A tensor type whose unknown rank and sizes are those of a hint of the same kind, where the ranks agree.
ValueType with_hint(ValueType type, const ValueType& hint);

/// What both types say: known beats unknown, numbers beat symbols. Throws Error{fail} naming `what` where they contradict.
ValueType merge(const ValueType& declared, const ValueType& inferred, const std::string& what);

}  // namespace rh
