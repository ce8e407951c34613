#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/file.h"
#include "graph/graph.h"

namespace rh::onnx {

/// What a file may ask for, beyond what its own size bounds.
struct ReadLimits {
  int depth = 64;                     ///< subgraphs and function calls inside each other
  int64_t inlined_nodes = 1'000'000;  ///< nodes that come from model-local functions; fewer where the model is small
  int64_t inlined_bytes = 1 << 30;    ///< of their attributes; by the size of the model
  bool counts_names = false;          ///< among these bytes
};

struct ReadOptions {
  enum class BufferUse : uint8_t {
    copy,    ///< the caller's buffer may go once read_model has returned
    borrow,  ///< tensors may look into the buffer; it lives as long as they do, by `owner` or by the caller's promise
  };
  BufferUse buffer_use = BufferUse::copy;
  std::shared_ptr<const void> owner;  ///< of a borrowed buffer
  std::string folder;                 ///< of external data; empty: that of the model's file, the working directory for a buffer
  /// External data files that are in memory, by the name that the model gives them; copied. They come before those of the folder.
  std::map<std::string, std::span<const std::byte>, std::less<>> files;
  /// What may stay at any address of the file or the borrowed buffer (graph/constant_addresses.h): tables of rows, and weights.
  bool tables_in_place = false, weights_in_place = false;
  /// Stand for initializers of these names that the model keeps in external files, which are then not read; null: none.
  const std::map<std::string, Value>* initializers = nullptr;
  /// Domains of operators that the caller brings: nodes of one that the model does not import are of its newest version.
  std::vector<std::string> domains;
  enum class Format : uint8_t { any, onnx, ort };
  Format format = Format::any;       ///< a model in another format is an error
  bool released_opsets_only = true;  ///< opsets of the standard that are newer than the operators known here are errors
  /// The most that model-local functions may expand to: nodes, and bytes of their names and attributes. 0: by the size of the model.
  int64_t most_function_nodes = 0, most_function_bytes = 0;
  ReadLimits limits;
};

/// Reads a model from its file, which is mapped: large weights stay in the mapping where their alignment allows. Model-local functions are
/// inlined, sparse initializers of bearable size become dense. Throws Error{no_such_file}, Error{invalid_protobuf}, and for what is
/// wrong inside the codes that ONNX Runtime's callers know (docs/bindings.md), naming file, node, operator and tensor. ONNX IR versions 1
/// to 14.
Model read_model(const std::string& path, const ReadOptions& options = {});
Model read_model(const InputFile& file, const ReadOptions& options = {});
InputFile open_model(const std::string& path);
Model read_model(std::span<const std::byte> bytes, const ReadOptions& options = {});

/// The metadata of a model, keys and values; nothing of one in the ORT format.
std::vector<std::pair<std::string, std::string>> read_metadata(std::span<const std::byte> bytes);

/// A TensorProto, as in the .pb files of test data; copied. `name`, where given, gets the tensor's name.
Tensor read_tensor(std::span<const std::byte> bytes, std::string* name = nullptr);
/// A message of the kind that `type` says: TensorProto, SparseTensorProto, SequenceProto, MapProto or OptionalProto; copied.
Value read_value(std::span<const std::byte> bytes, const ValueType& type);

}  // namespace rh::onnx
