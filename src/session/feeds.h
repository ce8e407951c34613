#pragma once

#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/error.h"
#include "session/session.h"

namespace rh {

/// Names of a session's inputs or outputs to their positions.
class NameIndex {
 public:
  NameIndex() = default;
  explicit NameIndex(std::vector<std::string> names);
  NameIndex(NameIndex&&) = default;
  NameIndex& operator=(NameIndex&&) = default;
  /// -1 where there is none.
  int find(std::string_view name) const;
  std::string list() const;

 private:
  std::vector<std::string> names_;
  std::unordered_map<std::string_view, int> positions_;  ///< looks into names_
};

/// Error{invalid_argument} that says what the value is and what the input takes, where the two do not agree in kind, element type, rank or
/// a dimension that is a number. One element of any rank is taken for a scalar.
Status check_input(const ValueInfo& info, const Value& value);

struct CompiledModel;
struct RunState;

/// What a session's callers may give and ask for, by name.
class CallSignature {
 public:
  CallSignature() = default;
  explicit CallSignature(const CompiledModel& compiled);

  /// Puts what the caller gives to its places in `state`; of a name that stands twice the last value counts, as in ONNX Runtime.
  /// Error{invalid_argument} where a name is unknown, a value does not fit, or one is missing.
  Status feed(RunState& state, std::span<const char* const> names, std::span<const Value* const> values) const;
  /// The same of the outputs that the caller asks for, with the values given for them; one may stand twice.
  Status ask(RunState& state, std::span<const char* const> names, std::span<const Value> values) const;
  /// After the run: outputs that are asked for again share the value, or have it copied into the caller's tensor.
  static Status repeat(const RunState& state, std::span<Value> results);

 private:
  std::vector<ValueInfo> infos_;  ///< by input of the plan, overridable initializers among them
  NameIndex inputs_, outputs_;
};

}  // namespace rh
