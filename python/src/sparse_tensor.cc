// What _sparse.py makes sparse tensors with and reads them by.
#include <nanobind/ndarray.h>

#include "places.h"

namespace rh::python {

namespace {

const OrtApi& api() { return Ort::GetApi(); }

std::vector<int64_t> longs(nb::handle object) {
  return nb::cast<std::vector<int64_t>>(numpy().attr("asarray")(object, "int64").attr("tolist")());
}

/// Indices that the value borrows.
struct Indices {
  explicit Indices(nb::handle object) : array(numpy().attr("ascontiguousarray")(object, "int64").attr("reshape")(-1)) {
    const auto view = nb::cast<nb::ndarray<nb::ro, int64_t, nb::c_contig, nb::device::cpu>>(array);
    data = const_cast<int64_t*>(view.data());
    count = view.size();
  }
  nb::object array;
  int64_t* data;
  size_t count;
};

PyValue with_values(nb::handle dense_shape, nb::handle values, size_t rank = 1) {
  PyValue made;
  made.keep_alive = nb::none();
  const nb::object flat = numpy().attr("asarray")(values);
  if (const size_t given = nb::cast<size_t>(flat.attr("ndim")); given != rank) {
    throw std::runtime_error("the values of a sparse tensor have " + std::to_string(given) + " dimensions, expected " +
                             std::to_string(rank));
  }
  const std::string kind = nb::cast<std::string>(flat.attr("dtype").attr("kind"));
  if (kind == "O" || kind == "U" || kind == "S" || kind == "T") throw std::runtime_error("sparse tensors hold numbers, found strings");
  Ort::Value dense = value_from_object(flat, made.keep_alive);
  const Ort::TensorTypeAndShapeInfo info = dense.GetTensorTypeAndShapeInfo();
  if (packed_row_of(info.GetElementType())) throw std::runtime_error("sparse tensors hold no elements narrower than a byte");
  const std::vector<int64_t> shape = longs(dense_shape), count = info.GetShape();
  const Ort::MemoryInfo memory = Ort::MemoryInfo::CreateCpu(OrtDeviceAllocator, OrtMemTypeDefault);
  OrtValue* raw = nullptr;
  Ort::ThrowOnError(api().CreateSparseTensorWithValuesAsOrtValue(memory, dense.GetTensorMutableRawData(), shape.data(), shape.size(),
                                                                 count.data(), count.size(), info.GetElementType(), &raw));
  made.value = Ort::Value(raw);
  return made;
}

PyValue coo(nb::handle dense_shape, nb::handle values, nb::handle indices) {
  PyValue made = with_values(dense_shape, values);
  const Indices places(indices);
  Ort::ThrowOnError(api().UseCooIndices(made.value, places.data, places.count));
  made.keep_alive = nb::make_tuple(made.keep_alive, places.array);
  return made;
}

PyValue csr(nb::handle dense_shape, nb::handle values, nb::handle inner, nb::handle outer) {
  PyValue made = with_values(dense_shape, values);
  const Indices columns(inner), rows(outer);
  Ort::ThrowOnError(api().UseCsrIndices(made.value, columns.data, columns.count, rows.data, rows.count));
  made.keep_alive = nb::make_tuple(made.keep_alive, columns.array, rows.array);
  return made;
}

/// Values of [rows of a block, columns of a block, blocks].
PyValue blocks(nb::handle dense_shape, nb::handle values, nb::handle indices) {
  PyValue made = with_values(dense_shape, values, 3);
  const nb::object places = numpy().attr("ascontiguousarray")(indices, "int32");
  const auto view = nb::cast<nb::ndarray<nb::ro, int32_t, nb::c_contig, nb::device::cpu>>(places);
  const std::vector<int64_t> shape(view.shape_ptr(), view.shape_ptr() + view.ndim());
  Ort::ThrowOnError(api().UseBlockSparseIndices(made.value, shape.data(), shape.size(), const_cast<int32_t*>(view.data())));
  made.keep_alive = nb::make_tuple(made.keep_alive, places);
  return made;
}

/// An array over memory of the value `owner`.
nb::object over(const void* data, OrtTensorTypeAndShapeInfo* raw, nb::handle owner) {
  const Ort::TensorTypeAndShapeInfo info(raw);
  const ElementRow* row = row_of(info.GetElementType());
  if (!row) throw std::runtime_error("the sparse tensor's element type has no numpy type");
  return array_over_memory(const_cast<void*>(data), info.GetShape(), owner, *row);
}

nb::object values_of(nb::handle owner) {
  const Ort::Value& value = nb::cast<PyValue&>(owner).value;
  const void* data = nullptr;
  OrtTensorTypeAndShapeInfo* info = nullptr;
  Ort::ThrowOnError(api().GetSparseTensorValues(value, &data));
  Ort::ThrowOnError(api().GetSparseTensorValuesTypeAndShape(value, &info));
  return over(data, info, owner);
}

nb::object indices_of(nb::handle owner, int kind) {
  const Ort::Value& value = nb::cast<PyValue&>(owner).value;
  const auto format = static_cast<OrtSparseIndicesFormat>(kind);
  const void* data = nullptr;
  size_t count = 0;
  OrtTensorTypeAndShapeInfo* info = nullptr;
  Ort::ThrowOnError(api().GetSparseTensorIndices(value, format, &count, &data));
  Ort::ThrowOnError(api().GetSparseTensorIndicesTypeShape(value, format, &info));
  return over(data, info, owner);
}

int format_of(const PyValue& value) {
  OrtSparseFormat format = ORT_SPARSE_UNDEFINED;
  Ort::ThrowOnError(api().GetSparseTensorFormat(value.value, &format));
  return static_cast<int>(format);
}

}  // namespace

bool is_sparse(const Ort::Value& value) { return value && value.GetTypeInfo().GetONNXType() == ONNX_TYPE_SPARSETENSOR; }

nb::object sparse_tensor_over(nb::handle ort_value) { return nb::module_::import_("roundhouse._sparse").attr("SparseTensor")(ort_value); }

void bind_sparse_tensor(nb::module_& module) {
  module.def("_sparse_coo", &coo);
  module.def("_sparse_csr", &csr);
  module.def("_sparse_blocks", &blocks);
  module.def("_sparse_values", &values_of);
  module.def("_sparse_indices", &indices_of);
  module.def("_sparse_format", &format_of);
}

}  // namespace rh::python
