#pragma once

#include <protozero/pbf_writer.hpp>
#include <string>
#include <string_view>

#include "base/file.h"
#include "onnx/writer.h"
#include "tensor/value.h"

namespace rh::onnx {

using WireWriter = protozero::pbf_writer;

/// Messages are shorter than 2 GiB: protobuf's limit.
inline constexpr size_t kMessageLimit = 0x7fffffff;

/// Appends tensors of at least `threshold` bytes to a new file, each at a multiple of 4096 bytes.
class FileSink final : public ExternalSink {
 public:
  /// `location` is what models call the file.
  FileSink(const std::string& path, std::string location, size_t threshold)
      : path_(path), file_(path), location_(std::move(location)), threshold_(threshold) {}

  std::optional<ExternalLocation> place(const Tensor& tensor, std::string_view name) override;
  /// Without a tensor in it there is no file, nor the one that stood there before.
  void commit();

 private:
  std::string path_;
  OutputFile file_;
  std::string location_;
  size_t threshold_;
  bool is_used_ = false;
};

/// The fields of a TensorProto. `sink` may be null.
void write_tensor_fields(WireWriter& message, const Tensor& tensor, std::string_view name, ExternalSink* sink);
/// The fields of a SparseTensorProto.
void write_sparse_fields(WireWriter& message, const SparseTensor& sparse, std::string_view name, ExternalSink* sink);

}  // namespace rh::onnx
