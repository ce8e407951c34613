#pragma once

#include <map>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "tensor/tensor.h"

namespace rh {

class Value;

/// Elements of one type, in order.
struct Sequence {
  DType element_dtype = DType::undefined;  ///< of tensor elements; undefined for sequences of maps or sequences
  std::vector<Value> elements;
};

/// A map from int64 or string keys: keys and values are 1-D tensors of equal length.
struct Map {
  Tensor keys;
  Tensor values;
};

/// COO: indices [nnz] (linear) or [nnz, rank]; CSR: inner [nnz] and outer [rows + 1]; block sparse: indices [2, blocks].
struct SparseTensor {
  enum class Format : uint8_t { undefined, coo, csr, block } format = Format::undefined;
  DType dtype = DType::undefined;
  Shape dense_shape;
  Tensor values;
  Tensor indices;        ///< COO indices, CSR inner indices or block indices
  Tensor outer_indices;  ///< CSR only
};

/// An optional without content.
struct NoneValue {
  DType element_dtype = DType::undefined;
};

/// Anything that travels between nodes or to and from the caller at run time. Copying shares the content.
class Value {
 public:
  Value() = default;
  Value(Tensor tensor) : content_(std::move(tensor)) {}
  Value(Sequence sequence) : content_(std::make_shared<Sequence>(std::move(sequence))) {}
  Value(Map map) : content_(std::make_shared<Map>(std::move(map))) {}
  Value(SparseTensor sparse) : content_(std::make_shared<SparseTensor>(std::move(sparse))) {}
  Value(NoneValue none) : content_(none) {}

  bool empty() const { return std::holds_alternative<std::monostate>(content_); }
  bool is_tensor() const { return std::holds_alternative<Tensor>(content_); }
  bool is_sequence() const { return std::holds_alternative<std::shared_ptr<Sequence>>(content_); }
  bool is_map() const { return std::holds_alternative<std::shared_ptr<Map>>(content_); }
  bool is_sparse() const { return std::holds_alternative<std::shared_ptr<SparseTensor>>(content_); }
  bool is_none() const { return std::holds_alternative<NoneValue>(content_); }

  Tensor& tensor() { return std::get<Tensor>(content_); }
  const Tensor& tensor() const { return std::get<Tensor>(content_); }
  Sequence& sequence() { return *std::get<std::shared_ptr<Sequence>>(content_); }
  const Sequence& sequence() const { return *std::get<std::shared_ptr<Sequence>>(content_); }
  Map& map() { return *std::get<std::shared_ptr<Map>>(content_); }
  const Map& map() const { return *std::get<std::shared_ptr<Map>>(content_); }
  SparseTensor& sparse() { return *std::get<std::shared_ptr<SparseTensor>>(content_); }
  const SparseTensor& sparse() const { return *std::get<std::shared_ptr<SparseTensor>>(content_); }
  const NoneValue& none() const { return std::get<NoneValue>(content_); }

 private:
  std::variant<std::monostate, Tensor, std::shared_ptr<Sequence>, std::shared_ptr<Map>, std::shared_ptr<SparseTensor>, NoneValue> content_;
};

}  // namespace rh
