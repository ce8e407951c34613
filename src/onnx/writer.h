#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "graph/graph.h"

namespace rh::onnx {

struct WriteOptions {
  bool value_info = true;                 ///< write what is known of the types of values between nodes
  bool declared_value_info_only = false;  ///< of those alone that the file of the model told of
};

/// Takes tensors that go elsewhere than into the message.
class ExternalSink {
 public:
  virtual ~ExternalSink() = default;
  /// Where the data of the tensor lies; nothing: in the message. Strings are not asked about; `name` is empty for attributes.
  virtual std::optional<ExternalLocation> place(const Tensor& tensor, std::string_view name) = 0;
};

/// Whether a message holds the graph with all of its weights.
bool fits_in_a_message(const Graph& graph);

/// A ModelProto; equal models give equal bytes. Nodes stand in topological order, initializers that nothing uses are left out. Throws
/// Error{invalid_graph} where a node's opset differs in meaning from the one that its graph imports, Error{fail} from 2 GiB on: then
/// write_model_file can put weights into a file of their own.
std::string write_model(const ModelInfo& model, const Graph& graph, const WriteOptions& options = {}, ExternalSink* sink = nullptr);
inline std::string write_model(const Model& model, const WriteOptions& options = {}, ExternalSink* sink = nullptr) {
  return write_model(model, *model.graph, options, sink);
}

/// Writes the model to `path`. Tensors of at least `external_bytes` go to the file `path` + ".data" beside it, each at a multiple of 4096
/// bytes.
void write_model_file(const Model& model, const std::string& path, size_t external_bytes = static_cast<size_t>(-1),
                      const WriteOptions& options = {});

/// A TensorProto with raw data (string data for strings).
std::string write_tensor(const Tensor& tensor, std::string_view name = {});
/// The message that read_value reads; an optional type wraps it in an OptionalProto.
std::string write_value(const Value& value, const ValueType& type = {});

}  // namespace rh::onnx
