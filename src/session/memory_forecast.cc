#include "session/memory_forecast.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace rh {

namespace {

using SymbolValues = std::map<std::string, int64_t, std::less<>>;

const ValueType& type_of_input(const Plan& plan, size_t input) {
  return plan.graph->value(plan.slots[static_cast<size_t>(plan.inputs[input])].value).type;
}

std::string_view symbol_of(const Plan& plan, const SymbolSource& source) {
  const ValueType& type = type_of_input(plan, static_cast<size_t>(source.input));
  return (*type.tensor().dims)[static_cast<size_t>(source.axis)].symbol_name();
}

void take_shape(const Plan& plan, const InputShape& given, SymbolValues& values) {
  const auto named = [&](int32_t slot) { return plan.name_of(slot) == given.name; };
  const auto end = plan.inputs.begin() + plan.graph_inputs;
  const auto at = std::find_if(plan.inputs.begin(), end, named);
  if (at == end) fail(ErrorCode::invalid_argument, "the model has no input '{}' whose shape could be given", given.name);
  const ValueType& type = type_of_input(plan, static_cast<size_t>(at - plan.inputs.begin()));
  if (!type.is_tensor() || !type.tensor().has_rank()) return;
  const SymbolicShape& dims = *type.tensor().dims;
  bool fits = given.shape.size() == dims.size();
  for (size_t i = 0; fits && i < dims.size(); ++i) {
    fits = given.shape[i] >= 0 && (!dims[i].is_constant() || dims[i].value() == given.shape[i]);
    if (!fits || dims[i].symbol_name().empty()) continue;
    int64_t& value = values.emplace(std::string(dims[i].symbol_name()), 0).first->second;
    value = std::max(value, given.shape[i]);
  }
  if (!fits) {
    fail(ErrorCode::invalid_argument, "input '{}' is to have the shape {}, expected {}", given.name, given.shape.to_string(),
         to_string(dims));
  }
}

void take_symbols(const Plan& plan, std::span<const std::pair<std::string, int64_t>> given, SymbolValues& values) {
  for (const auto& [name, value] : given) {
    if (plan.sizes.find_symbol(name) == SizeProgram::kNone) {
      fail(ErrorCode::invalid_argument, "no input of the model has a dimension '{}'", name);
    }
    if (value < 0) fail(ErrorCode::invalid_argument, "dimension '{}' is to be {}, expected 0 or more", name, value);
    values.emplace(name, value);
  }
}

// The values by number; false where one has none.
bool resolve(const Plan& plan, const SymbolValues& known, std::vector<int64_t>& values) {
  values.assign(static_cast<size_t>(plan.sizes.symbols()), 0);
  for (const SymbolSource& source : plan.symbol_sources) {
    const auto at = known.find(symbol_of(plan, source));
    if (at == known.end()) return false;
    values[static_cast<size_t>(source.symbol)] = at->second;
  }
  return true;
}

size_t saturating_sum(size_t a, size_t b) { return a > SIZE_MAX / 2 - std::min(b, SIZE_MAX / 2) ? SIZE_MAX / 2 : a + b; }

// Subgraphs whose symbols are the enclosing graph's are told like it; of others, what they have taken so far.
size_t subplan_arenas(const Plan& plan, const SymbolValues& known) {
  size_t bytes = 0;
  for (const auto& subplan : plan.subplans) {
    std::vector<int64_t> values;
    const int64_t arena =
        resolve(*subplan, known, values) ? subplan->bindings.preview(values)->arena_bytes : subplan->bindings.peak_bytes();
    bytes = saturating_sum(saturating_sum(bytes, static_cast<size_t>(arena)), subplan_arenas(*subplan, known));
  }
  return bytes;
}

int64_t late_tensors(const Plan& plan) {
  int64_t count = 0;
  for (size_t s = 0; s < plan.slots.size(); ++s) {
    count += plan.slots[s].kind == Slot::Kind::late && plan.slots[s].root == static_cast<int32_t>(s);
  }
  for (const BufferSize& size : plan.output_sizes) count += size.constant < 0;
  for (const auto& subplan : plan.subplans) count += late_tensors(*subplan);
  return count;
}

size_t known_output_bytes(const Plan& plan, std::span<const int64_t> symbols) {
  std::vector<int64_t> registers(static_cast<size_t>(plan.sizes.registers()));
  std::copy(symbols.begin(), symbols.end(), registers.begin());
  plan.sizes.evaluate(registers);
  size_t bytes = 0;
  for (const BufferSize& size : plan.output_sizes) {
    const int64_t elements = size.elements == SizeProgram::kNone ? size.constant : registers[static_cast<size_t>(size.elements)];
    bytes = saturating_sum(bytes, static_cast<size_t>(std::max<int64_t>(0, size.bytes(elements))));
  }
  return bytes;
}

std::string producer_of(const Plan& plan, ValueId value) {
  const Node* node = plan.graph->producer(value);
  return node ? node->display_name() : std::string();
}

void describe_peak(const Plan& plan, const Binding& binding, MemoryForecast& forecast) {
  const MemoryPlanner::Peak peak = binding.planner->peak(binding.bytes);
  forecast.live_bytes = static_cast<size_t>(peak.bytes);
  if (peak.step >= 0) forecast.peak_node = plan.steps[static_cast<size_t>(peak.step)].node->display_name();
  forecast.at_peak = tensors_of(plan, binding, peak.buffers);
}

void collect_weights(const Plan& plan, std::vector<TensorMemory>& weights) {
  for (size_t s = 0; s < plan.slots.size(); ++s) {
    const Value* value = plan.defaults[s];
    if (value && value->is_tensor()) weights.push_back({plan.name_of(static_cast<int32_t>(s)), {}, value->tensor().bytes()});
  }
  for (const Step& step : plan.steps) {
    const size_t bytes = step.kernel->packed_bytes();
    if (bytes == 0) continue;
    std::string names;
    for (size_t i = 0; i < step.node->inputs.size(); ++i) {
      if (!step.kernel->owns_constant(static_cast<int>(i)) || step.node->inputs[i] == kNoValue) continue;
      names += (names.empty() ? "" : "+") + plan.graph->value(step.node->inputs[i]).name;
    }
    weights.push_back({names, step.node->display_name(), bytes});
  }
  for (const auto& subplan : plan.subplans) collect_weights(*subplan, weights);
}

size_t total_of(const Plan& plan, size_t (Plan::*of)() const) {
  size_t bytes = (plan.*of)();
  for (const auto& subplan : plan.subplans) bytes += total_of(*subplan, of);
  return bytes;
}

}  // namespace

void sort_by_size(std::vector<TensorMemory>& tensors) {
  std::stable_sort(tensors.begin(), tensors.end(), [](const TensorMemory& a, const TensorMemory& b) { return a.bytes > b.bytes; });
}

std::vector<TensorMemory> tensors_of(const Plan& plan, const Binding& binding, std::span<const int32_t> buffers) {
  std::vector<int32_t> slot_of(plan.buffers.size(), kNoSlot);
  for (size_t s = 0; s < plan.slots.size(); ++s) {
    const Slot& slot = plan.slots[s];
    if (slot.buffer >= 0) slot_of[static_cast<size_t>(slot.buffer)] = static_cast<int32_t>(s);
  }
  std::vector<TensorMemory> tensors;
  for (int32_t buffer : buffers) {
    const int32_t slot = slot_of[static_cast<size_t>(buffer)];
    tensors.push_back({plan.name_of(slot), producer_of(plan, plan.slots[static_cast<size_t>(slot)].value),
                       static_cast<size_t>(binding.bytes[static_cast<size_t>(buffer)])});
  }
  sort_by_size(tensors);
  return tensors;
}

std::vector<TensorMemory> weights_of(const Plan& plan) {
  std::vector<TensorMemory> weights;
  collect_weights(plan, weights);
  sort_by_size(weights);
  return weights;
}

MemoryForecast forecast_memory(const Plan& plan, std::span<const InputShape> shapes,
                               std::span<const std::pair<std::string, int64_t>> symbols) {
  MemoryForecast forecast;
  SymbolValues values;
  for (const InputShape& shape : shapes) take_shape(plan, shape, values);
  take_symbols(plan, symbols, values);
  for (const SymbolSource& source : plan.symbol_sources) {
    const auto [at, added] = values.emplace(std::string(symbol_of(plan, source)), 1);
    if (added) forecast.assumed.push_back(at->first);
  }
  forecast.symbols.assign(values.begin(), values.end());

  std::vector<int64_t> numbers;
  resolve(plan, values, numbers);
  const auto binding = plan.bindings.preview(numbers);
  forecast.arena_bytes = saturating_sum(static_cast<size_t>(binding->arena_bytes), subplan_arenas(plan, values));
  forecast.output_bytes = known_output_bytes(plan, numbers);
  forecast.late_tensors = late_tensors(plan);
  describe_peak(plan, *binding, forecast);
  forecast.weights = weights_of(plan);
  forecast.weight_bytes = total_of(plan, &Plan::constant_bytes);
  forecast.packed_bytes = total_of(plan, &Plan::packed_bytes);
  return forecast;
}

std::string bytes_text(size_t bytes) {
  if (bytes < 1024) return fmt::format("{} bytes", bytes);
  if (bytes < (size_t{1} << 20)) return fmt::format("{:.1f} KiB", static_cast<double>(bytes) / 1024);
  return fmt::format("{:.1f} MiB", static_cast<double>(bytes) / (1 << 20));
}

std::string list_largest(std::span<const TensorMemory> tensors, size_t count) {
  std::string text;
  size_t rest = 0;
  for (size_t i = 0; i < tensors.size(); ++i) {
    const TensorMemory& entry = tensors[i];
    if (i >= count) {
      rest += entry.bytes;
      continue;
    }
    text += fmt::format("{}'{}' {}", text.empty() ? "" : ", ", entry.tensor, bytes_text(entry.bytes));
    if (!entry.node.empty()) text += fmt::format(" (node {})", entry.node);
  }
  if (tensors.size() > count) text += fmt::format(" and {} more of {}", tensors.size() - count, bytes_text(rest));
  return text.empty() ? "nothing" : text;
}

}  // namespace rh
