#include "onnx/tensor_writer.h"

#include <filesystem>

#include "base/error.h"
#include "base/paths.h"
#include "onnx/proto.h"
#include "onnx/writer.h"

namespace rh::onnx {

namespace {

constexpr uint64_t kExternalAlignment = 4096;

void write_entry(WireWriter& tensor, std::string_view key, const std::string& value) {
  WireWriter entry(tensor, field::tensor::external_data);
  entry.add_bytes(field::entry::key, key.data(), key.size());
  entry.add_bytes(field::entry::value, value);
}

void write_reference(WireWriter& message, const ExternalLocation& location) {
  write_entry(message, "location", location.file);
  write_entry(message, "offset", std::to_string(location.offset));
  write_entry(message, "length", std::to_string(location.bytes));
  message.add_enum(field::tensor::data_location, 1);
}

}  // namespace

std::optional<ExternalLocation> FileSink::place(const Tensor& tensor, std::string_view) {
  static constexpr char kZeros[kExternalAlignment] = {};
  if (tensor.bytes() < threshold_) return std::nullopt;
  is_used_ = true;
  file_.write(kZeros, static_cast<size_t>((kExternalAlignment - file_.size() % kExternalAlignment) % kExternalAlignment));
  const ExternalLocation location{location_, static_cast<int64_t>(file_.size()), tensor.bytes()};
  file_.write(tensor.raw(), tensor.bytes());
  return location;
}

void FileSink::commit() {
  std::error_code ignored;
  if (is_used_) {
    file_.commit();
  } else {
    std::filesystem::remove(as_path(path_), ignored);
  }
}

void write_tensor_fields(WireWriter& message, const Tensor& tensor, std::string_view name, ExternalSink* sink) {
  if (!tensor.device().is_host())
    fail(ErrorCode::invalid_argument, "tensor '{}' is in device memory, expected host memory: copy it first", name);
  for (int64_t dim : tensor.shape()) message.add_int64(field::tensor::dims, dim);
  message.add_int32(field::tensor::data_type, static_cast<int32_t>(tensor.dtype()));
  if (tensor.dtype() == DType::string) {
    for (const std::string& text : tensor.span<std::string>()) message.add_bytes(field::tensor::string_data, text);
  }
  if (!name.empty()) message.add_bytes(field::tensor::name, name.data(), name.size());
  if (tensor.dtype() == DType::string) return;
  if (sink) {
    if (const auto location = sink->place(tensor, name)) return write_reference(message, *location);
  }
  if (tensor.bytes() > kMessageLimit) {
    fail(ErrorCode::fail, "tensor '{}' has {} bytes, a message holds less than 2 GiB: write the weights as external data", name,
         tensor.bytes());
  }
  message.add_bytes(field::tensor::raw_data, static_cast<const char*>(tensor.raw()), tensor.bytes());
}

void write_sparse_fields(WireWriter& message, const SparseTensor& sparse, std::string_view name, ExternalSink* sink) {
  if (sparse.format != SparseTensor::Format::coo)
    fail(ErrorCode::not_implemented, "sparse tensor '{}' is not in coordinate format, the only one of ONNX", name);
  {
    WireWriter values(message, field::sparse_tensor::values);
    write_tensor_fields(values, sparse.values, name, sink);
  }
  {
    WireWriter indices(message, field::sparse_tensor::indices);
    write_tensor_fields(indices, sparse.indices, {}, sink);
  }
  for (int64_t dim : sparse.dense_shape) message.add_int64(field::sparse_tensor::dims, dim);
}

std::string write_tensor(const Tensor& tensor, std::string_view name) {
  std::string bytes;
  bytes.reserve(tensor.dtype() == DType::string ? 0 : tensor.bytes() + name.size() + 128);
  WireWriter message(bytes);
  write_tensor_fields(message, tensor, name, nullptr);
  return bytes;
}

}  // namespace rh::onnx
