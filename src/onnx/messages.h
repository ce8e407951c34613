#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "onnx/proto.h"

/// The messages of a model, split into fields that look into the buffer; nested ones are split when they are needed.
namespace rh::onnx {

using Entries = std::vector<std::pair<std::string, std::string>>;
/// Versions by domain; "ai.onnx" is "".
using Imports = std::vector<std::pair<std::string_view, int>>;

struct NamedMessage {
  std::string_view name;
  std::string_view message;
};

struct NodeFields {
  std::vector<std::string_view> inputs, outputs;
  std::string_view name, op_type, domain, overload;  ///< "ai.onnx" is ""
  std::vector<NamedMessage> attributes;

  static NodeFields parse(std::string_view message);
};

struct GraphFields {
  std::string_view name, doc_string;
  std::vector<NodeFields> nodes;
  std::vector<NamedMessage> inputs, outputs, value_infos;  ///< ValueInfoProtos
  std::vector<std::string_view> initializers, sparse_initializers;

  static GraphFields parse(std::string_view message);
  /// Of a message that stands in several parts, as protobuf has it: the fields of all.
  static GraphFields parse(std::span<const std::string_view> parts);
};

struct FunctionFields {
  std::string_view name, domain, overload;
  std::vector<std::string_view> inputs, outputs, attributes;
  std::vector<NamedMessage> defaults;  ///< attributes that have one
  std::vector<NodeFields> nodes;
  Imports imports;

  static FunctionFields parse(std::string_view message);
};

struct ModelFields {
  std::optional<int64_t> ir_version;
  std::optional<int64_t> model_version;
  std::string_view producer_name, producer_version, domain, doc_string;
  std::vector<std::string_view> graph;  ///< its parts: one, but for files that were joined
  Imports imports;
  Entries metadata;
  std::vector<FunctionFields> functions;

  static ModelFields parse(std::string_view message);
};

/// The type of a ValueInfoProto as a message; empty where it has none.
std::string_view type_of_value_info(std::string_view message);
/// "ai.onnx" is "".
std::string_view normal_domain(std::string_view domain);
/// Of a domain that is imported twice, the last version stays. Throws Error{invalid_graph} for numbers that are no version.
void add_import(Imports& imports, std::string_view domain, int64_t version);
/// The version that `imports` has for the domain; 0 where it has none.
int imported_version(const Imports& imports, std::string_view domain);

}  // namespace rh::onnx
