#include "session/feeds.h"

#include <algorithm>

#include "base/known_words.h"
#include "session/compile/compile.h"
#include "session/run_state.h"
#include "session/value_types.h"
#include "tensor/extent.h"

namespace rh {

NameIndex::NameIndex(std::vector<std::string> names) : names_(std::move(names)) {
  for (size_t i = 0; i < names_.size(); ++i) positions_.emplace(names_[i], static_cast<int>(i));
}

int NameIndex::find(std::string_view name) const {
  const auto at = positions_.find(name);
  return at == positions_.end() ? -1 : at->second;
}

std::string NameIndex::list() const {
  std::string text;
  for (const std::string& name : names_) text += (text.empty() ? "'" : ", '") + name + "'";
  return text.empty() ? "none" : text;
}

Status check_input(const ValueInfo& info, const Value& value) {
  if (!fits(info.type, value)) {
    const std::string expected = onnx_type_string(info.type), found = kind_of(value);
    return error_status(ErrorCode::invalid_argument, "{}: input '{}' is {}, expected {}", fmt::format(words::kInputType, found, expected),
                        info.name, found, expected);
  }
  if (!value.is_tensor() || !info.type.is_tensor()) return {};
  const Shape& shape = value.tensor().shape();
  if (extent(shape) > kMostElements) {
    return error_status(ErrorCode::invalid_argument, "input '{}' has shape {}, whose number of elements overflows", info.name,
                        shape.to_string());
  }
  if (!info.type.tensor().has_rank()) return {};
  const SymbolicShape& dims = *info.type.tensor().dims;
  if (dims.empty() && shape.elements() == 1) return {};
  if (shape.rank() != static_cast<int>(dims.size())) {
    return error_status(ErrorCode::invalid_argument, "Invalid rank for input: input '{}' has shape {} of rank {}, expected {} of rank {}",
                        info.name, shape.to_string(), shape.rank(), to_string(dims), dims.size());
  }
  for (size_t i = 0; i < dims.size(); ++i) {
    if (dims[i].is_constant() && dims[i].value() != shape[i]) {
      return error_status(ErrorCode::invalid_argument,
                          "Got invalid dimensions for input: input '{}' has shape {}, expected {}: dimension {} is {}, expected {}",
                          info.name, shape.to_string(), to_string(dims), i, shape[i], dims[i].value());
    }
  }
  return {};
}

namespace {

const Value kNone{NoneValue{}};

std::vector<std::string> names_of(const Graph& graph, const std::vector<ValueId>& values) {
  std::vector<std::string> names;
  for (ValueId id : values) names.push_back(graph.value(id).name);
  return names;
}

/// Programs give [1] where a scalar is declared.
bool is_scalar_in_dims(const ValueInfo& info, const Value& value) {
  return info.type.is_tensor() && info.type.tensor().has_rank() && info.type.tensor().dims->empty() && value.tensor().shape().rank() > 0;
}

const Value* as_scalar(RunState& state, size_t position, const Value& value) {
  state.scalars.resize(state.inputs.size());
  state.scalars[position] = value.tensor().reshaped(Shape());
  return &state.scalars[position];
}

}  // namespace

CallSignature::CallSignature(const CompiledModel& compiled)
    : infos_(compiled.model.graph->inputs().size()),
      inputs_(names_of(*compiled.model.graph, compiled.model.graph->inputs())),
      outputs_(names_of(*compiled.model.graph, compiled.model.graph->outputs())) {
  const auto place = [&](const ValueInfo& info) { infos_[static_cast<size_t>(inputs_.find(info.name))] = info; };
  std::ranges::for_each(compiled.signature.inputs, place);
  std::ranges::for_each(compiled.signature.overridable_initializers, place);
}

Status CallSignature::feed(RunState& state, std::span<const char* const> names, std::span<const Value* const> values) const {
  std::fill(state.inputs.begin(), state.inputs.end(), nullptr);
  for (size_t i = 0; i < names.size(); ++i) {
    if (!names[i] || !values[i]) return error_status(ErrorCode::invalid_argument, "input {} is null", i);
    const int at = inputs_.find(names[i]);
    if (at < 0) {
      return error_status(ErrorCode::invalid_argument, "the model has no input '{}', expected: {}", names[i], inputs_.list());
    }
    const size_t position = static_cast<size_t>(at);
    RH_RETURN_IF_ERROR(check_input(infos_[position], *values[i]));
    state.inputs[position] = is_scalar_in_dims(infos_[position], *values[i]) ? as_scalar(state, position, *values[i]) : values[i];
  }
  const Plan& plan = state.frame.plan();
  for (size_t i = 0; i < state.inputs.size(); ++i) {
    if (state.inputs[i] || plan.defaults[static_cast<size_t>(plan.inputs[i])]) continue;
    if (infos_[i].type.kind() == ValueType::Kind::optional) {
      state.inputs[i] = &kNone;
      continue;
    }
    return error_status(ErrorCode::invalid_argument, "input '{}' is missing, expected {}", infos_[i].name, infos_[i].type.to_string());
  }
  return {};
}

Status CallSignature::ask(RunState& state, std::span<const char* const> names, std::span<const Value> values) const {
  std::fill(state.given.begin(), state.given.end(), -1);
  state.repeated.clear();
  for (size_t i = 0; i < names.size(); ++i) {
    const int at = names[i] ? outputs_.find(names[i]) : -1;
    if (at < 0) {
      return error_status(ErrorCode::invalid_argument, "the model has no output '{}', expected: {}", names[i] ? names[i] : "(null)",
                          outputs_.list());
    }
    const size_t position = static_cast<size_t>(at);
    if (state.given[position] >= 0) {
      state.repeated.emplace_back(static_cast<size_t>(state.given[position]), i);
      continue;
    }
    state.given[position] = static_cast<int32_t>(i);
    state.outputs[position] = values[i];
  }
  return {};
}

Status CallSignature::repeat(const RunState& state, std::span<Value> results) {
  for (const auto& [first, again] : state.repeated) {
    const Value& from = results[first];
    Value& to = results[again];
    if (!to.is_tensor()) {
      to = from;
      continue;
    }
    const bool fits = from.is_tensor() && from.tensor().dtype() == to.tensor().dtype() && from.tensor().shape() == to.tensor().shape();
    if (!fits || !from.tensor().device().is_host() || !to.tensor().device().is_host()) {
      return error_status(ErrorCode::invalid_argument, "output {} is asked for again with a {}, expected a {} on the host", first,
                          kind_of(to), kind_of(from));
    }
    copy_elements(from.tensor().view(), to.tensor().mutable_view());
  }
  return {};
}

}  // namespace rh
