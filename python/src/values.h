#pragma once

#include "module.h"
#include "types.h"

namespace rh::python {

/// An OrtValue as Python holds it, with the array whose memory it borrows.
struct PyValue {
  Ort::Value value{nullptr};
  nb::object keep_alive;
};

/// A value from an ndarray (numbers share the array's memory, made contiguous where it is not; strings and elements narrower than a byte
/// are copied), a list (a sequence, or a tensor where one is declared), a dict (a map) or a number. `holder` keeps what the value borrows.
Ort::Value value_from_object(nb::handle object, nb::object& holder, const DeclaredType* declared = nullptr);

/// An ndarray that owns the value (numbers) or a copy (strings); lists for sequences, dicts for maps, None for an empty optional.
nb::object value_to_object(Ort::Value value);
nb::object strings_to_array(const Ort::Value& value, const std::vector<int64_t>& shape);

/// An ndarray of elements of this row over memory that `owner` keeps. Throws RuntimeError for more dimensions than numpy has.
nb::object array_over_memory(void* data, const std::vector<int64_t>& shape, nb::handle owner, const ElementRow& row);
/// Throws RuntimeError for more dimensions than numpy has.
void check_rank(size_t rank);

/// The bits of an array as the type of ml_dtypes, or as they are where that package is missing.
nb::object as_ml_dtype(const nb::object& bits, const char* name);

/// Tensors over memory of the caller's: that of a contiguous array, read-only or not, whose elements are as wide as the type's; any other,
/// which is the host's where `memory` is null.
Ort::Value tensor_over_array(nb::handle array, ONNXTensorElementDataType type);
Ort::Value tensor_over_memory(void* data, size_t bytes, const std::vector<int64_t>& shape, ONNXTensorElementDataType type,
                              const OrtMemoryInfo* memory = nullptr);

/// The element type of a tensor of numbers. Throws RuntimeError for others.
ONNXTensorElementDataType numeric_type(const Ort::Value& value);
bool is_sparse(const Ort::Value& value);
/// A roundhouse.SparseTensor of the OrtValue `ort_value`.
nb::object sparse_tensor_over(nb::handle ort_value);
/// Whether the value borrows an array that must not be written.
bool is_read_only(const PyValue& value);

}  // namespace rh::python
