#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "graph/type.h"
#include "tensor/value.h"

namespace rh {

struct Plan;
struct Step;

/// "tensor(float)", "seq(tensor(int64))", "nothing".
std::string kind_of(const Value& value);

/// Whether a value is of the kind and element type that a type tells, as far as it tells them.
bool fits(const ValueType& type, const Value& value);

/// Whether the type tells everything but shapes.
bool is_known(const ValueType& type);

/// Throws Error{invalid_graph} where output `output` of a step is of another element type than is known at load: memory and what reads it
/// were planned for that.
void check_output_dtype(const Plan& plan, const Step& step, int output, DType found);

/// The element types of the outputs of a step whose input types only a run tells. Inferred again when the types change.
class LateTypes {
 public:
  /// Throws Error{invalid_graph} where the inputs do not go with the operator or with each other, or give another type than is known at
  /// load. Valid until the next call.
  std::span<const DType> outputs(const Plan& plan, const Step& step, std::span<const Value* const> inputs);

 private:
  std::vector<int64_t> codes_;  // of the types by input, then whether they agree
  std::vector<DType> outputs_;
};

}  // namespace rh
