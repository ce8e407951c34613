#include "session/value_types.h"

#include <algorithm>

#include "ops/infer_node.h"
#include "session/plan.h"

namespace rh {

std::string kind_of(const Value& value) {
  if (value.is_tensor()) return "tensor(" + std::string(to_string(value.tensor().dtype())) + ")";
  if (value.is_sparse()) return "sparse_tensor(" + std::string(to_string(value.sparse().dtype)) + ")";
  if (value.is_map()) {
    return fmt::format("map({},tensor({}))", to_string(value.map().keys.dtype()), to_string(value.map().values.dtype()));
  }
  if (value.is_none()) return "an empty optional";
  if (!value.is_sequence()) return "nothing";
  const Sequence& sequence = value.sequence();
  if (!sequence.elements.empty()) return "seq(" + kind_of(sequence.elements.front()) + ")";
  return fmt::format("seq(tensor({}))", to_string(sequence.element_dtype));
}

bool fits(const ValueType& type, const Value& value) {
  switch (type.kind()) {
    case ValueType::Kind::tensor:
      return value.is_tensor() && (type.tensor().dtype == DType::undefined || value.tensor().dtype() == type.tensor().dtype);
    case ValueType::Kind::sparse_tensor: return value.is_sparse() && value.sparse().dtype == type.tensor().dtype;
    case ValueType::Kind::optional: return value.is_none() || fits(type.element(), value);
    case ValueType::Kind::map: return value.is_map() && value.map().keys.dtype() == type.key();
    case ValueType::Kind::sequence: {
      if (!value.is_sequence()) return false;
      const Sequence& sequence = value.sequence();
      if (sequence.elements.empty()) {
        return !type.element().is_tensor() || sequence.element_dtype == DType::undefined ||
               sequence.element_dtype == type.element().tensor().dtype;
      }
      return std::ranges::all_of(sequence.elements, [&](const Value& element) { return fits(type.element(), element); });
    }
    default: return true;
  }
}

bool is_known(const ValueType& type) {
  switch (type.kind()) {
    case ValueType::Kind::unknown: return false;
    case ValueType::Kind::tensor:
    case ValueType::Kind::sparse_tensor: return type.tensor().dtype != DType::undefined;
    case ValueType::Kind::sequence:
    case ValueType::Kind::optional: return is_known(type.element());
    default: return true;
  }
}

namespace {

// Without shapes: kernels hold those against each other.
ValueType type_of(const Value& value) {
  if (value.is_tensor()) return ValueType::tensor(value.tensor().dtype());
  if (value.is_sparse()) return ValueType::sparse({value.sparse().dtype, {}});
  if (value.is_map()) return ValueType::map_of(value.map().keys.dtype(), ValueType::tensor(value.map().values.dtype()));
  if (!value.is_sequence()) return {};
  const Sequence& sequence = value.sequence();
  return ValueType::sequence_of(sequence.elements.empty() ? ValueType::tensor(sequence.element_dtype) : type_of(sequence.elements.front()));
}

// Equal for values that type_of gives one type.
int64_t code_of(const Value* value) {
  if (!value || value->empty() || value->is_none()) return -1;
  if (value->is_tensor()) return static_cast<int64_t>(value->tensor().dtype());
  constexpr int64_t kKind = 1 << 16, kKey = 1 << 8;
  if (value->is_sparse()) return kKind + static_cast<int64_t>(value->sparse().dtype);
  if (value->is_map()) {
    return 2 * kKind + kKey * static_cast<int64_t>(value->map().keys.dtype()) + static_cast<int64_t>(value->map().values.dtype());
  }
  const Sequence& sequence = value->sequence();
  if (sequence.elements.empty()) return 3 * kKind + static_cast<int64_t>(sequence.element_dtype);
  return 4 * kKind * (1 + code_of(&sequence.elements.front()));
}

}  // namespace

std::span<const DType> LateTypes::outputs(const Plan& plan, const Step& step, std::span<const Value* const> inputs) {
  codes_.resize(inputs.size() + 1);
  bool changed = codes_.back() == 0;
  for (size_t i = 0; i < inputs.size(); ++i) {
    const int64_t code = code_of(inputs[i]);
    changed |= codes_[i] != code;
    codes_[i] = code;
  }
  if (!changed) return outputs_;
  codes_.back() = 0;  // until the types are found to agree
  std::vector<ValueType> given;
  for (size_t i = 0; i < inputs.size(); ++i) {
    const ValueId id = step.node->inputs[i];
    const bool packed = !inputs[i] && id != kNoValue;
    given.push_back(packed ? plan.graph->value(id).type : inputs[i] ? type_of(*inputs[i]) : ValueType());
  }
  const auto inferred = infer_node(*plan.graph, *step.node, given);
  outputs_.clear();
  for (size_t o = 0; o < inferred.size(); ++o) {
    const DType known = plan.output_dtypes[static_cast<size_t>(step.first_output) + o];
    const DType found = inferred[o].is_tensor() ? inferred[o].tensor().dtype : DType::undefined;
    outputs_.push_back(found == DType::undefined ? known : found);
    if (known != DType::undefined) check_output_dtype(plan, step, static_cast<int>(o), outputs_.back());
  }
  codes_.back() = 1;
  return outputs_;
}

void check_output_dtype(const Plan& plan, const Step& step, int output, DType found) {
  const size_t flat = static_cast<size_t>(step.first_output + output);
  const DType known = plan.output_dtypes[flat];
  if (known == found || known == DType::undefined) return;
  const int32_t slot = plan.step_outputs[flat];
  fail(ErrorCode::invalid_graph, "output {} '{}' is of {}, but the model says {}: correct the type that the model gives to it", output,
       slot == kNoSlot ? std::string_view() : std::string_view(plan.name_of(slot)), to_string(found), to_string(known));
}

}  // namespace rh
