#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "graph/graph.h"
#include "onnx/messages.h"

namespace rh::onnx {

using Provenance = std::vector<std::shared_ptr<const OriginalNode>>;

struct FunctionCall;

/// What names mean at one place: the body of a graph, or of a function inlined into a graph.
struct Scope {
  Graph& graph;
  const Imports& imports;
  Scope* outer = nullptr;  ///< of the enclosing graph, whose names are seen here; null in the main graph and in a function's own body
  const FunctionCall* call = nullptr;  ///< whose attributes are referred to here
  std::string prefix = {};             ///< of names declared here
  Provenance callers = {};
  int depth = 0;
  std::unordered_map<std::string_view, ValueId> names = {};
};

/// The version that nodes have of a caller's domain which the model does not import, as in ONNX Runtime.
inline constexpr int kNewestOfCallers = 1000;

/// Of a graph inside a node of the outer scope's one.
Scope subgraph_scope(Graph& graph, Scope& outer);

/// Declares an initializer. Throws Error{invalid_graph} where the name is empty or there is one of it.
ValueId add_initializer(std::string_view name, Value value, Scope& scope);
/// Declares an input, after the initializers. One that has an initializer may be overridden, before IR version 4 it is a constant. Throws
/// Error{invalid_graph} where the name is empty or another input's, or the initializer is of another type.
void add_input(std::string_view name, ValueType type, int64_t ir_version, Scope& scope);
/// The value of that name, which is captured where an enclosing graph has it; nothing where nobody has.
std::optional<ValueId> lookup(std::string_view name, Scope& scope);
/// Of a node's inputs or outputs; kNoValue for empty names. Throws Error{invalid_argument} where nothing has a name.
std::vector<ValueId> lookup_all(const std::vector<std::string_view>& names, const char* what, Scope& scope);
/// The value of that name becomes an output of the scope's graph.
void add_output(std::string_view name, Scope& scope);

/// Throws Error{invalid_graph} where two have one name.
void check_names(const std::vector<Attribute>& attributes);
/// Throws Error{fail} for a version of the format that is not known here.
void check_ir_version(int64_t version);
/// Throws Error{fail} for a version of a domain of the standard that is newer than the operators known here.
void check_import(std::string_view domain, int version);

/// The version, or the newest that is known of the domain where that is older.
int known_version(std::string_view domain, int version);

Where tensor_where(std::string_view name);
/// "Conv(17)", "com.microsoft::Gelu(1)"; without the version where it is 0.
std::string operator_text(std::string_view domain, std::string_view op_type, int opset);

}  // namespace rh::onnx
