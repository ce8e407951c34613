#pragma once

#include <protozero/pbf_writer.hpp>
#include <string>
#include <string_view>

#include "base/file.h"
#include "tensor/value.h"

namespace rh::onnx {

using WireWriter = protozero::pbf_writer;

/// Messages are shorter than 2 GiB: protobuf's limit.
inline constexpr size_t kMessageLimit = 0x7fffffff;

/// Where large tensors go instead of into the message.
struct ExternalSink {
  OutputFile& file;
  std::string location;  ///< as the model refers to it
  size_t threshold = 0;  ///< bytes
};

/// The fields of a TensorProto. `sink` may be null.
void write_tensor_fields(WireWriter& message, const Tensor& tensor, std::string_view name, ExternalSink* sink);
/// The fields of a SparseTensorProto.
void write_sparse_fields(WireWriter& message, const SparseTensor& sparse, std::string_view name, ExternalSink* sink);

}  // namespace rh::onnx
