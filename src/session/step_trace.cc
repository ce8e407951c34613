#include "session/step_trace.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/process.h"
#include "session/profiler.h"

namespace rh {

namespace {

size_t bytes_of(const Value& value) {
  if (value.is_tensor()) return value.tensor().defined() ? value.tensor().bytes() : 0;
  if (!value.is_sequence()) return 0;
  size_t bytes = 0;
  for (const Value& element : value.sequence().elements) bytes += bytes_of(element);
  return bytes;
}

// Of a weight that its kernel has packed, whose value is gone.
size_t packed_bytes(const Plan& plan, ValueId id) {
  const ValueType& type = plan.graph->value(id).type;
  if (!type.is_tensor() || !type.tensor().is_static()) return 0;
  return rh::bytes_of(type.tensor().dtype, type.tensor().shape().elements());
}

}  // namespace

std::string inputs_in_trace(const Frame& frame, const Step& step) {
  const Plan& plan = frame.plan();
  const std::span<const Value* const> inputs = frame.inputs_of(step);
  size_t parameters = 0, activations = 0;
  for (size_t i = 0; i < inputs.size(); ++i) {
    const int32_t slot = plan.step_inputs[static_cast<size_t>(step.first_input) + i];
    if (!inputs[i]) {
      const ValueId id = i < step.node->inputs.size() ? step.node->inputs[i] : kNoValue;
      if (id != kNoValue) parameters += packed_bytes(plan, id);
    } else if (slot != kNoSlot && plan.slots[static_cast<size_t>(slot)].kind == Slot::Kind::constant) {
      parameters += bytes_of(*inputs[i]);
    } else {
      activations += bytes_of(*inputs[i]);
    }
  }
  return fmt::format(R"("parameter_size" : "{}","activation_size" : "{}","input_type_shape" : {})", parameters, activations,
                     type_shapes(inputs));
}

std::string outputs_in_trace(const Frame& frame, const Step& step) {
  std::vector<const Value*> made;
  size_t bytes = 0;
  for (int32_t o = 0; o < step.output_count; ++o) {
    const int32_t slot = frame.plan().step_outputs[static_cast<size_t>(step.first_output + o)];
    const Value* value = slot == kNoSlot ? nullptr : frame.find(slot);
    if (!value) continue;
    made.push_back(value);
    bytes += bytes_of(*value);
  }
  return fmt::format(R"("output_size" : "{}","output_type_shape" : {},"thread_scheduling_stats" : {{"main_thread": {{"thread_id": "{}",)"
                     R"( "core": {}}}, "sub_threads": {{}}}})",
                     bytes, type_shapes(made), thread_number(), this_processor());
}

MemoryInTrace memory_now(const Frame& frame) {
  const MemoryAccount& account = *frame.account();
  const auto held = static_cast<int64_t>(account.used());
  return {held, held - static_cast<int64_t>(account.used(MemoryUse::weights))};
}

std::string memory_in_trace(const MemoryInTrace& before, const MemoryInTrace& after) {
  return fmt::format(R"("mem_arena_held" : "{}","mem_arena_held_delta" : "{}","mem_bytes_in_use" : "{}","mem_in_use_delta" : "{}",)"
                     R"("mem_in_use_peak" : "{}","mem_bytes_requested_in_use" : "{}","mem_requested_in_use_delta" : "{}")",
                     after.held, after.held - before.held, after.used, after.used - before.used, std::max(before.used, after.used),
                     after.used, after.used - before.used);
}

}  // namespace rh
