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
/// a dimension that is a number.
Status check_input(const ValueInfo& info, const Value& value);

}  // namespace rh
